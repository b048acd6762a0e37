"""What every method promises about sensitive columns and people: each privacy model holds in the rows that go out.

The rows are grouped and judged by the definitions in `tests/reference/privacy.py`.
"""

from collections import defaultdict
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.command_line import run
from tests.examples import EFFORT, examples, paired, some_of
from tests.methods import ANY_TABLE as METHODS
from tests.reference import privacy as reference

import incrowd
from incrowd.engines.registry import ENGINES
from incrowd.errors import InfeasibleError, NotAnonymousError, PolicyError
from incrowd.taxonomies.taxonomy import Taxonomy

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

TREE = {"infection": {"flu": None, "cold": None}, "tumour": {"lung": None, "skin": None}}
TAXONOMY = Taxonomy.from_tree({"*": {name: list(leaves) for name, leaves in TREE.items()}})
ILLS = ["flu", "cold", "lung", "skin"]
OPTIONS = {
    "genetic": {"population": 8, "patience": 10, "evaluations": 40},
    "optimal": {"suppress": 0},
}
EVERY = pytest.mark.parametrize("method", list(METHODS))

# the words of each promise, and whether a class of released rows keeps it, by its values, all values, and its people
PROMISES = {
    "unit": ({"k": 2, "unit": "person"}, lambda ills, all_ills, people: len(set(people)) >= 2),
    "l": ({"k": 2, "l": 2}, lambda ills, all_ills, people: reference.distinct_l(ills) >= 2),
    "l alone": ({"l": 3}, lambda ills, all_ills, people: reference.distinct_l(ills) >= 3),
    "entropy_l": (
        {"entropy_l": 1.8},
        lambda ills, all_ills, people: 2.718281828 ** reference.entropy(ills) >= 1.8 - 1e-6,
    ),
    "recursive_l": ({"recursive_l": (2, 2)}, lambda ills, all_ills, people: reference.is_recursive(ills, 2, 2)),
    "t": ({"k": 2, "t": 0.4}, lambda ills, all_ills, people: reference.moved_equal(ills, all_ills) <= Fraction(2, 5)),
    "t in a tree": (
        {"k": 2, "t": 0.3, "t_distance": "hierarchical", "taxonomies": {"ill": TAXONOMY}},
        lambda ills, all_ills, people: reference.moved_in_tree(ills, all_ills, TREE) <= Fraction(3, 10),
    ),
    "alpha": ({"k": 2, "alpha": 0.6}, lambda ills, all_ills, people: reference.largest_share(ills) <= Fraction(3, 5)),
    "harmless": (
        {"alpha": 0.5, "harmless": ["flu", "cold"]},
        lambda ills, all_ills, people: reference.largest_share(ills, ("flu", "cold")) <= 0.5,
    ),
    "beta_likeness": (
        {"beta_likeness": 1.0},
        lambda ills, all_ills, people: reference.largest_gain(ills, all_ills) <= 1,
    ),
    "enhanced_beta_likeness": (
        {"enhanced_beta_likeness": 1.0},
        lambda ills, all_ills, people: reference.is_enhanced_beta_like(ills, all_ills, 1.0),
    ),
    "delta_disclosure": (
        {"delta_disclosure": 1.5},
        lambda ills, all_ills, people: reference.largest_factor(ills, all_ills) < 1.5,
    ),
    "several": (
        {"k": 3, "l": 2, "t": 0.5},
        lambda ills, all_ills, people: (
            len(ills) >= 3 and reference.distinct_l(ills) >= 2 and reference.moved_equal(ills, all_ills) <= 0.5
        ),
    ),
}

ROWS = st.lists(
    st.tuples(st.integers(1, 5), st.sampled_from("fm"), st.sampled_from(ILLS), st.integers(1, 6)),
    min_size=4,
    max_size=24,
)


def released(rows, method, words):
    age, sex, ill, person = zip(*rows, strict=True)
    table = pa.table({"age": age, "sex": sex, "ill": ill, "person": person, "row": list(range(len(rows)))})
    sensitive = {} if set(words) == {"k", "unit"} else {"sensitive": ["ill"]}
    if "harmless" in words:  # those that nobody has are refused
        words = {**words, "harmless": [value for value in words["harmless"] if value in ill]}
    return incrowd.anonymize(
        table,
        quasi_identifiers=["age", "sex"],
        method=method,
        keep=["row"] if "unit" in words else ["row", "person"],
        **sensitive,
        **words,
        **OPTIONS.get(method, {}),
    ).data


@pytest.mark.parametrize(
    ("method", "promise"),
    [
        (method, promise)
        for place, method in enumerate(METHODS)
        for promise in some_of(list(PROMISES), 5 if EFFORT == "test" else len(PROMISES), place)
    ],
)
@examples(6)
@given(rows=ROWS)
def test_every_method_keeps_every_promise(method, promise, rows):
    words, keeps = PROMISES[promise]
    try:
        data = released(rows, method, words)
    except InfeasibleError:
        ills, people = [ill for _, _, ill, _ in rows], [person for *_, person in rows]
        assert not keeps(ills, ills, people)  # then not even one class of all records does
        return
    except PolicyError as error:
        told = str(error)
        if "more values than" not in told and "has a single value" not in told:
            raise
        return
    assert "person" not in data.column_names or "unit" not in words
    check(data, rows, keeps)


def check(data, rows, keeps):
    """Every class of the released rows keeps a promise, beside the released rows."""
    classes = defaultdict(list)
    for row in data.to_pylist():
        classes[row["age"], row["sex"]].append(rows[row["row"]])
    all_ills = [ill for found in classes.values() for _, _, ill, _ in found]
    for found in classes.values():
        assert keeps([ill for _, _, ill, _ in found], all_ills, [person for *_, person in found])


# argus releases every record: what it suppresses is cells
LEAVING_OUT = [name for name, method in METHODS.items() if "suppress" in method.options and name != "argus"]


@pytest.mark.parametrize(("method", "promise"), paired(LEAVING_OUT, list(PROMISES)))
@examples(8)
@given(rows=ROWS, share=st.sampled_from([0.1, 0.25, 0.5]), decoys=st.booleans())
def test_who_is_not_left_out_keeps_every_promise(method, promise, rows, share, decoys):
    words, keeps = PROMISES[promise]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPTIONS, method, {"suppress": share})
        if not decoys:  # without which small tables would leave out next to nobody
            patch.setattr("incrowd.search.leaving_out._reveals", lambda *words: False)
        try:
            data = released(rows, method, words)
        except (InfeasibleError, PolicyError) as error:
            refused = ("more values than", "has a single value", "the best possible level is")
            if not any(text in str(error) for text in refused):
                raise
            return
    assert len(rows) * (1 - share) <= len(data)
    check(data, rows, keeps)


@pytest.mark.parametrize("method", LEAVING_OUT)
def test_records_are_left_out_with_a_promise_that_compares(method):
    """One rare illness is in a crowd of its own; beside the 40 others that crowd is far from the whole."""
    rows = [(i % 4, "fm"[i % 2], ILLS[i // 4 % 2], i) for i in range(40)] + [
        (40, "f", "skin", 99),
        (40, "f", "skin", 98),
    ]
    words = {"k": 2, "t": 0.3}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPTIONS, method, {"suppress": 0.1})
        patch.setattr("incrowd.search.leaving_out._reveals", lambda *words: False)
        data = released(rows, method, words)
    assert len(data) == 40
    assert len(set(zip(data["age"].to_pylist(), data["sex"].to_pylist(), strict=True))) == 4


@EVERY
def test_several_words_for_missing_are_one_value(method, tmp_path):
    """Women have flu or nothing that is known, in four words: that is two values, however it is written."""
    unknown, known = ["NA", "-", "k.A.", ""], ["flu", "cold", "lung", "skin"]
    rows = [("f", ill) for ill in [*unknown * 2, *["flu"] * 4]] + [("m", ill) for ill in known * 3]
    table = pa.table({"sex": [sex for sex, _ in rows], "ill": [ill for _, ill in rows]})
    asked = {"quasi_identifiers": ["sex"], "k": 2, "sensitive": {"ill": {"l": 3}}}
    words = {**asked, **OPTIONS.get(method, {}), "method": method}
    release = incrowd.anonymize(table, **words, missing_values=["NA", "-", "k.A."])
    crowds = defaultdict(set)
    for row in release.data.to_pylist():
        crowds[row["sex"]].add(None if row["ill"] in unknown else row["ill"])
    assert min(map(len, crowds.values())) >= 3
    assert incrowd.check_certificate(release.certificate, release.data).holds
    release.write(tmp_path / "out.csv")
    assert incrowd.check_certificate(tmp_path / "out.certificate.json", tmp_path / "out.csv").holds
    assert not incrowd.verify(table, **asked, missing_values=["NA", "-", "k.A."]).holds
    assert incrowd.verify(table, **asked).holds  # who does not know these words takes them for illnesses


def test_numbers_stay_numbers_beside_a_word_for_missing():
    """Two crowds that differ by small steps are close, though some of their numbers are missing."""
    table = pa.table({"sex": ["f", "m"] * 40, "cost": [*map(str, range(100, 176)), *["NA"] * 4]})
    words = {"quasi_identifiers": ["sex"], "k": 2, "sensitive": {"cost": {"t": 0.1}}, "keep": ["cost"], "method": "tdr"}
    apart = [
        set(incrowd.anonymize(table, **words, **more).data.column("sex").to_pylist())
        for more in ({}, {"missing_values": ["NA"]})
    ]
    assert apart == [{"*"}, {"f", "m"}]


@pytest.mark.parametrize("engine", [name for name, entry in ENGINES.items() if name != "spark" and entry.installed])
def test_new_rows_are_counted_in_people(engine, tmp_path):
    """Next year one of two old people comes six times: a crowd of seven records, and of two people."""
    known = pa.table({"who": [f"p{n}" for n in range(12)], "age": ["30", "80"] * 6})
    release = incrowd.anonymize(known, quasi_identifiers=["age"], k=3, unit="who", method="tdr")
    release.write(tmp_path / "old.csv")
    people = [*((f"p{n}", "30") for n in range(3)), *[("p3", "80")] * 6, ("p4", "80")]
    lines = "\n".join(["who,age", *map(",".join, people)])
    (tmp_path / "new.csv").write_text(lines + "\n")
    for unit, held in ((None, True), ("who", False)):
        words = {"require": [incrowd.QuasiIdentifier(("age",), 3)], "unit": unit, "engine": engine}
        arguments = ["--qi", "age", "--k", 3, "--engine", engine, *(["--unit", unit] if unit else [])]
        made = run(
            "apply", tmp_path / "old.recoding.json", tmp_path / "new.csv", "-o", tmp_path / f"{unit}.csv", *arguments
        )
        assert (made.exit_code, (tmp_path / f"{unit}.csv").exists()) == ((0, True) if held else (3, False))
        if held:
            assert "who" not in incrowd.apply(release.recoding, tmp_path / "new.csv", **words).column_names
        else:
            with pytest.raises(NotAnonymousError, match="the worst reaches 2"):
                incrowd.apply(release.recoding, tmp_path / "new.csv", **words)
    enough = [incrowd.QuasiIdentifier(("age",), 2)]
    assert len(incrowd.apply(release.recoding, tmp_path / "new.csv", require=enough, unit="who")) == 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"unit": "who"}, "say which quasi-identifiers must hold"),
        ({"unit": "whom", "require": [incrowd.QuasiIdentifier(("age",), 3)]}, "did you mean 'who'"),
    ],
)
def test_a_unit_that_counts_nothing_new_is_refused(words, message):
    table = pa.table({"who": ["a", "b", "c"], "age": [1, 1, 1]})
    release = incrowd.anonymize(table, quasi_identifiers=["age"], k=3, unit="who")
    with pytest.raises(PolicyError, match=message):
        incrowd.apply(release.recoding, table, **words)
