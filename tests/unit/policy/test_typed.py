"""The words of a policy as they are typed on the command line."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import PolicyError
from incrowd.policy.typed import columns_of, given_words, quasi_identifiers
from incrowd.policy.words import make_policy


class TestGivenWords:
    def test_what_was_not_given_is_left_out(self):
        found = given_words(k=None, identifiers=None, quasi_identifiers=["a"], types=[])
        assert found == {"quasi_identifiers": [["a"]]}

    def test_a_column_may_have_a_colon(self):
        assert given_words(quasi_identifiers=["a:b,c"])["quasi_identifiers"] == [["a:b", "c"]]

    def test_single_taxonomies_win_over_the_folder(self, tmp_path):
        (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
        (tmp_path / "zip.csv").write_text("01;*\n")
        words = given_words(quasi_identifiers=["sex,zip"], k=2, taxonomies=tmp_path, taxonomy=["zip=prefix:3"])
        sex = incrowd.Taxonomy.flat(["F", "M"])
        assert make_policy(**words).taxonomies == {"sex": sex, "zip": incrowd.Prefix([3])}

    def test_a_range_of_dates(self):
        assert given_words(ranges=["born=1900-01-01:2020-12-31"])["ranges"] == {"born": ("1900-01-01", "2020-12-31")}

    @pytest.mark.parametrize(
        ("typed", "bounds"),
        [
            ("2020-01-01 08:00:2020-12-31 20:00", ("2020-01-01 08:00", "2020-12-31 20:00")),
            ("2020-01-01T08:00:00:2020-12-31T20:00:59.5", ("2020-01-01T08:00:00", "2020-12-31T20:00:59.5")),
        ],
    )
    def test_a_range_of_timestamps(self, typed, bounds):
        ranges = given_words(ranges=[f"seen={typed}"])["ranges"]
        assert ranges == {"seen": bounds}
        seen = pa.table({"seen": pa.array(["2020-02-01 10:00", "2020-03-01 10:00"] * 3).cast(pa.timestamp("ms"))})
        release = incrowd.anonymize(seen, quasi_identifiers=["seen"], k=3, ranges=ranges, method="tdr")
        assert min(release.data["seen"].to_pylist()).startswith("[2020-01-01 08:00")

    @pytest.mark.parametrize(
        "typed",
        [
            {"types": ["age"]},
            {"ranges": ["age=5"]},
            {"ranges": ["seen=2020-01-01:2020-12-31 20:00"]},
            {"ranges": ["=1:2"]},
            {"taxonomy": ["age="]},
        ],
    )
    def test_words_that_do_not_look_like_their_example(self, typed):
        with pytest.raises(PolicyError, match="option must look like"):
            given_words(**typed)


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("age, sex", ["age", "sex"]),
        ('age,"street, number"', ["age", "street, number"]),
        ('"ward, ""old""", age', ['ward, "old"', "age"]),
        ('5" pipe,age', ['5" pipe', "age"]),
        ("", []),
    ],
)
def test_names_with_commas_stand_in_quotes(typed, names):
    assert columns_of(typed) == names
    assert quasi_identifiers([f"{typed}:4"], None) == [{"attributes": names, "k": 4}]
