"""Crowds that show one number of a column: by hand, against the definition, and what is refused."""

import random
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from math import floor

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.errors import DataError, PolicyError
from incrowd.measures.information import squared_error
from incrowd.recodings.reading import read_recoding

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")
WARDS = pa.table({"ward": [*"aaa", *"bbbb"], "age": [20, 21, 25, 21, 21, 22, 27]})
TREE = {"ward": incrowd.Taxonomy.from_tree({"*": ["a", "b"]})}


def by_ward(form, table=WARDS, **words):
    words = {"quasi_identifiers": ["ward", "age"], "k": 3, "method": "cover", "taxonomies": TREE, **words}
    return incrowd.anonymize(table, form={"age": form}, **words)


@pytest.mark.parametrize(
    ("form", "first", "second"),
    [
        ("mean", "22", "23"),  # 66 / 3, and 91 / 4 = 22.75
        ("mean:0.5", "22", "23"),
        ("mean:0.25", "22", "22.75"),
        ("mean:5", "20", "25"),  # 22.75 is nearer to 25 than to 20
        ("median", "21", "21"),  # of 21, 21, 22, 27 the lower one in the middle
        ("mode", "20", "21"),  # all once: the lowest
        ("mode:10", "20", "20"),
    ],
)
def test_what_two_wards_show(form, first, second):
    shown = Counter(map(tuple, (map(str, row.values()) for row in by_ward(form).data.to_pylist())))
    assert shown == {("a", first): 3, ("b", second): 4}


def test_half_of_a_step_is_rounded_up():
    table = pa.table({"age": [1, 2, 1, 2], "x": [-1, -2, -1, -2]})
    release = incrowd.anonymize(table, quasi_identifiers=["age", "x"], k=4, form={"age": "mean", "x": "mean"})
    assert release.data.to_pylist() == [{"age": 2, "x": -1}] * 4  # 1.5 and -1.5


def test_classes_that_show_the_same_are_one():
    table = pa.table({"age": [20, 24, 21, 23] * 2, "sex": ["f"] * 8})
    release = incrowd.anonymize(
        table, quasi_identifiers=["age", "sex"], k=2, method="mondrian", form={"age": "median:50"}
    )
    assert release.measures.total.classes == 1
    assert release.certificate.verification["quasi_identifiers"][0]["anonymity"] == 8


def expected(values, form):
    """A form straight from its definition, as text; values are texts of numbers."""
    centre, _, step = form.partition(":")
    numbers = sorted(Fraction(value) for value in values)
    if centre == "mean":
        found = sum(numbers) / len(numbers)
    elif centre == "median":
        found = numbers[(len(numbers) - 1) // 2]
    else:
        found = max(numbers, key=lambda number: (numbers.count(number), -number))
    place = Fraction(step or Fraction(1, 4))
    return float(floor(found / place + Fraction(1, 2)) * place)


FORMS = st.sampled_from(["mean:0.25", "mean:1", "median", "mode", "mean:2.5", "median:2", "mode:3"])


@examples(12)
@given(st.data(), FORMS)
def test_what_crowds_show_follows_from_the_definition(data, form):
    """Strict boxes keep equal records together, so with exact bounds the ranges say who is in which one."""
    rows = data.draw(st.integers(6, 30))
    draw = random.Random(data.draw(st.integers(0, 99)))
    table = pa.table(
        {
            "x": [draw.choice([None, *(n / 4 for n in range(-20, 20))]) for _ in range(rows)],
            "job": [draw.choice("abc") for _ in range(rows)],
        }
    )
    words = {"quasi_identifiers": ["x", "job"], "k": 3, "method": "mondrian", "keep_order": True}
    plain = incrowd.anonymize(table, **words, bounds="exact").data.to_pylist()
    shown = incrowd.anonymize(table, **words, form={"x": form}).data.to_pylist()
    members = defaultdict(list)
    for original, released in zip(table["x"].to_pylist(), plain, strict=True):
        members[str(released)].append(original)
    for before, released in zip(plain, shown, strict=True):
        values = members[str(before)]
        assert released["job"] == before["job"]
        if None in values:
            assert str(released["x"]) == str(before["x"])
        else:
            assert float(released["x"]) == expected(map(str, map(Decimal, values)), form)
    assert min(Counter(map(str, shown)).values()) >= 3


@pytest.mark.parametrize("method", ["cover", "kaca", "mondrian", "tdr", "optimal"])
def test_every_method_can_show_means_and_the_order_of_rows_plays_no_part(method):
    draw = random.Random(3)
    people = [{"age": draw.randrange(20, 60), "ward": draw.choice("ab"), "sick": draw.choice("yn")} for _ in range(60)]
    key = incrowd.Key(bytes(32)) if hasattr(incrowd, "Key") else None
    words = {"quasi_identifiers": ["age", "ward"], "k": 4, "method": method, "taxonomies": TREE, "sensitive": ["sick"]}
    first = incrowd.anonymize(pa.Table.from_pylist(people), form={"age": "mean"}, key=key, **words)
    draw.shuffle(people)
    second = incrowd.anonymize(pa.Table.from_pylist(people), form={"age": "mean"}, key=key, **words)
    assert sorted(map(str, first.data.to_pylist())) == sorted(map(str, second.data.to_pylist()))
    assert min(Counter((row["age"], row["ward"]) for row in first.data.to_pylist()).values()) >= 4
    assert pa.types.is_integer(first.data.schema.field("age").type)
    assert not first.steps


def test_a_release_is_written_read_back_and_applied_to_new_rows(tmp_path):
    release = by_ward("mean:0.25")
    certificate = release.write(tmp_path / "r.csv", confidential=True)
    assert certificate.policy["form"] == {"age": "mean:0.25"}
    assert any("'age'" in warning and "mean" in warning for warning in certificate.warnings)
    assert incrowd.verify(tmp_path / "r.csv", quasi_identifiers=["ward", "age"], k=3).holds
    assert read_recoding(tmp_path / "r.confidential" / "recoding.json") == release.recoding
    public = read_recoding(tmp_path / "r.recoding.json")
    new = pa.table({"ward": ["a", "b", "b"], "age": ["99", "22.375", "22.376"]})
    shown = sorted(tuple(row.values()) for row in incrowd.apply(public, new).to_pylist())
    # 99 is nearest to 22.75, which only b shows; of two that are equally near the lower one counts
    assert shown == [("*", "22"), ("a", "*"), ("b", "22.75")]
    assert "27" not in (tmp_path / "r.recoding.json").read_text().replace("22.75", "")  # it has nobody's own value


def test_measures_of_means_are_those_of_their_definition():
    release = by_ward("mean:0.25")
    inside = (4 + 1 + 9) + 2 * 1.75**2 + 0.75**2 + 4.25**2
    mean = 157 / 7
    whole = sum((value - mean) ** 2 for value in WARDS["age"].to_pylist())
    assert squared_error(release.table, release.recoding) == pytest.approx(inside / whole)
    assert release.measures.total.ncp == pytest.approx((5 * 3 + 6 * 4) / 7 / 7 / 2)  # the width of each crowd


def test_attacks_that_would_misread_it_refuse():
    with pytest.raises(PolicyError, match="take a released number for the value itself"):
        by_ward("mean").attack()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"form": {"age": "average"}}, "mean, median or mode"),
        ({"form": {"age": "mean:0"}}, "mean, median or mode"),
        ({"form": {"ward": "mean"}, "taxonomies": {}}, "needs numbers or dates"),
        ({"form": {"ward": "mean"}}, "leave one out"),
        ({"form": {"income": "mean"}}, "income"),
        ({"form": {"age": "mean"}, "ledger": "ledger"}, "leave out form, or ledger"),
        ({"form": {"age": "mean"}, "quasi_identifiers": [["age"], ["ward"]]}, "single quasi-identifier"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(words, message):
    given = {"quasi_identifiers": ["ward", "age"], "k": 3, "taxonomies": TREE, **words}
    with pytest.raises((PolicyError, DataError), match=message) as refused:
        incrowd.anonymize(WARDS, **given)
    assert "\n" not in str(refused.value)
