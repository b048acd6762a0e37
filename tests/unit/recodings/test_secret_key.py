"""The key by which equal records are dealt to classes: drawn for each release, and bound to what is dealt."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import DataError, PolicyError
from incrowd.key import Key
from incrowd.run import Run

AGES = [20, 20, 20, 21, 21, 35, 35, 36, 50, 50, 51]
MINE = Key(bytes(range(32)))


def release(ages=AGES, jobs=None, key=MINE):
    table = pa.table({"age": ages, "job": jobs or ["a", "b"] * (len(ages) // 2) + ["a"] * (len(ages) % 2)})
    return incrowd.anonymize(table, quasi_identifiers=["age", "job"], k=3, method="kaca", key=key)


def dealing(*args, **words):
    return release(*args, **words).recoding.key


@pytest.mark.real_keys
def test_every_release_draws_its_own():
    assert len({dealing(key=None) for _ in range(5)}) == 5
    assert release(key=None).key != release(key=None).key
    assert Run().key != Run().key


def test_it_is_the_same_for_the_same_table_and_key():
    assert dealing() == dealing()


def test_it_depends_on_the_key_of_the_release():
    assert dealing() != dealing(key=Key(bytes(32)))


def test_it_depends_on_the_tuples_though_values_and_counts_are_the_same():
    """The same values in each column, and as many records of each tuple, but other tuples."""
    first, second = (["a", "a", "b", "b"] * 3, ["a", "b", "a", "b"] * 3)
    ages = [20, 20, 30, 30] * 3
    assert dealing(ages, jobs=first) != dealing([20, 20, 30, 30] * 3, jobs=["b", "b", "a", "a"] * 3)
    assert dealing(ages, jobs=first) != dealing(ages, jobs=second)


def test_it_depends_on_how_often_each_tuple_occurs():
    ages, jobs = [20, 20, 20, 30, 30, 30, 30, 30], ["a"] * 8
    assert dealing(ages, jobs=jobs) != dealing([20, 20, 20, 20, 20, 30, 30, 30], jobs=jobs)


class TestKeys:
    def test_different_purposes_and_places_draw_independently(self):
        drawn = {MINE.number(purpose, place) for purpose in ("restarts", "clustering") for place in range(50)}
        assert len(drawn) == 100
        assert all(0 <= number < 2**63 for number in drawn)

    def test_it_is_not_shown(self):
        assert repr(MINE) == "Key()"
        assert MINE.secret.hex() not in repr(release())

    @pytest.mark.real_keys
    def test_the_file_beside_a_release_makes_it_again(self, tmp_path):
        first = release(key=None)
        first.write(tmp_path / "one.csv")
        file = tmp_path / "one.confidential" / "key.json"
        assert file.stat().st_mode & 0o777 == 0o600
        assert Key.read(file) == first.key
        release(key=file).write(tmp_path / "two.csv")
        assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
        shown = b"".join(path.read_bytes() for path in tmp_path.glob("one.*") if path.is_file())
        assert first.key.secret.hex().encode() not in shown

    def test_what_is_none_is_refused(self, tmp_path):
        with pytest.raises(PolicyError, match="'key' parameter must be a key or the path"):
            release(key=3)
        with pytest.raises(DataError, match=r"give the key\.json in the confidential folder"):
            release(key=tmp_path / "nothing.json")
        (tmp_path / "x.json").write_text('{"incrowd": "key", "format": 1, "key": "00", "digest": ""}')
        with pytest.raises(DataError, match="is not a key written by incrowd"):
            release(key=tmp_path / "x.json")
