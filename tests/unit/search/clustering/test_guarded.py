"""Local searches with any privacy model: every class is good by definition, and tuples stay whole."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference import privacy as reference
from tests.runs import seeded
from tests.unit.search.clustering.test_slices import SEARCHES, Cut

import incrowd
from incrowd.errors import CancelledError, TimeLimitError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure
from incrowd.privacy.model import Requirement
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.units import KUnits
from incrowd.run import Amount, Run
from incrowd.search.clustering.class_tally import ClassTally, Term
from incrowd.table.attributes import encode
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable

NAMES = ("age", "job", "zip")
MODELS = {
    "k": (KAnonymity(4), LDiversity("ill", 2)),
    "distinct": (LDiversity("ill", 3),),
    "harmless": (KAnonymity(3), LDiversity("ill", 3, ("a",))),
    "entropy": (KAnonymity(2), EntropyLDiversity("ill", 2.2)),
    "recursive": (RecursiveLDiversity("ill", 2, 2),),
    "t": (KAnonymity(3), TCloseness("ill", 0.3, "equal")),
    "alpha": (AlphaAnonymity("ill", 0.6),),
    "beta": (BetaLikeness("ill", 1.5),),
    "delta": (DeltaDisclosure("ill", 1.2),),
    "people": (KUnits("who", 4),),
    "several": (KUnits("who", 3), LDiversity("ill", 2), TCloseness("ill", 0.4, "equal")),
}
CASES = pytest.mark.parametrize("models", MODELS.values(), ids=list(MODELS))
EVERY = pytest.mark.parametrize("search", SEARCHES)


def table_of(seed, records=120, spread=9):
    """A table in which an illness depends on age, some people have several rows, and many tuples are single."""
    draws = np.random.default_rng(seed)
    trees = [incrowd.Intervals((3, 9)).build([str(i) for i in range(9)]) for _ in NAMES]
    columns = [draws.integers(0, spread, records) ** 2 // 9 for _ in NAMES]
    encoded = [
        encode(name, pa.array([str(i) for i in range(9)]), has_missing=False, taxonomy=tree)
        for name, tree in zip(NAMES, trees, strict=True)
    ]
    codes = [code_of[column] for (_, code_of), column in zip(encoded, columns, strict=True)]
    ill = (draws.integers(0, 4, records) * draws.integers(0, 2, records) + columns[0] // 4) % 4
    who = draws.integers(0, records // 2, records)
    protected = {"ill": (list("abcd"), ill), "who": ([str(i) for i in range(records)], who)}
    return CompressedTable.build(
        [attribute for attribute, _ in encoded], codes, np.ones(records, np.int64), protected=protected
    )


def needed(table, models):
    requirement = Requirement(NAMES, models).fitted(table.protected)
    everyone = table.class_counts(np.zeros(len(table.counts), np.int64), 1)
    assert requirement.good(everyone).all()
    return (requirement,)


def values_of(table, column, tuples):
    """The values of a protected column of some tuples, one per record."""
    histogram = table.protected[column]
    rows = zip(histogram.tuples.tolist(), histogram.codes.tolist(), histogram.counts.tolist(), strict=True)
    return [histogram.values[code] for number, code, n in rows if number in tuples for _ in range(n)]


def holds(model, records, values, everyone):
    """Whether a class is good, from the definitions."""
    match model:
        case KAnonymity():
            return records >= model.k
        case KUnits():
            return len(set(values)) >= model.k
        case LDiversity():
            return reference.distinct_l(values, model.harmless) >= model.l
        case EntropyLDiversity():
            return reference.entropy(values, ()) >= math.log(model.l) - 1e-9
        case RecursiveLDiversity():
            return reference.is_recursive(values, model.c, model.l, ())
        case TCloseness():
            return reference.moved_equal(values, everyone) <= Fraction(str(model.t))
        case AlphaAnonymity():
            return reference.largest_share(values, ()) <= Fraction(str(model.alpha))
        case BetaLikeness():
            own, whole = Counter(values), Counter(everyone)
            shares = [(Fraction(own[v], len(values)), Fraction(whole[v], len(everyone))) for v in whole]
            return all((p - q) / q <= Fraction(str(model.beta)) for p, q in shares)
        case DeltaDisclosure():
            own, whole = Counter(values), Counter(everyone)
            shares = [(own[v] / len(values), whole[v] / len(everyone)) for v in whole]
            return all(p > 0 and abs(math.log(p / q)) < model.delta for p, q in shares)
    raise AssertionError(model)


@EVERY
@CASES
@examples(6)
@given(st.integers(0, 10_000))
def test_every_class_is_good_by_definition_and_no_tuple_is_split(search, models, seed):
    table = table_of(seed)
    mapping = SEARCHES[search](table, needed(table, models), seeded(seed)).recoding.mapping
    assert mapping.part_tuples.tolist() == list(range(len(table.counts)))
    assert mapping.part_records.tolist() == table.counts.tolist()
    for number in range(len(mapping.classes)):
        tuples = set(np.flatnonzero(mapping.part_classes == number).tolist())
        records = int(table.counts[list(tuples)].sum())
        for model in models:
            column = model.column
            values = [] if column is None else values_of(table, column, tuples)
            everyone = [] if column is None else values_of(table, column, set(range(len(table.counts))))
            assert holds(model, records, values, everyone), (model, values)


@EVERY
@CASES
def test_how_the_work_is_cut_changes_nothing(search, models):
    table = table_of(7, 300)
    wanted = needed(table, models)
    whole = SEARCHES[search](table, wanted, Cut(2**60))
    for amount in (1, 1000):
        again = SEARCHES[search](table, wanted, Cut(amount))
        assert again.recoding == whole.recoding
        assert again.facts == whole.facts


@EVERY
def test_it_ends_where_it_is_cancelled_or_the_time_is_over_before_every_class_is_good(search):
    table = table_of(0)
    run = Run(lambda event: run.cancel())
    with pytest.raises(CancelledError):
        SEARCHES[search](table, needed(table, MODELS["several"]), run)
    late = Run(lambda event: late.stop())
    with pytest.raises(TimeLimitError):
        SEARCHES[search](table, needed(table, MODELS["several"]), late)


@EVERY
def test_progress_never_exceeds_the_total(search):
    events, table = [], table_of(1, 300)
    SEARCHES[search](table, needed(table, MODELS["several"]), Run(events.append))
    amounts = [event for event in events if isinstance(event, Amount) and event.total is not None]
    assert amounts
    assert all(0 <= amount.done <= amount.total for amount in amounts)


@examples(30)
@given(st.integers(0, 10_000), st.integers(1, 40), st.data())
def test_the_tally_counts_what_the_table_counts(seed, size, data):
    """Classes, with a tuple of each taken off or added, against counting those sets of tuples anew."""
    table = table_of(seed, 60)
    (requirement,) = needed(table, MODELS["several"])
    tuples = len(table.counts)
    groups = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=tuples, max_size=tuples)))
    groups = np.unique(groups, return_inverse=True)[1]
    size = int(groups.max()) + 1
    tally = ClassTally(table, requirement)
    classes = tally.classes(groups, size)
    assert tally.good_groups(np.arange(tuples), groups, size).tolist() == tally.good_classes(classes).tolist()
    moved, target = data.draw(st.integers(0, tuples - 1)), data.draw(st.integers(0, size - 1))
    if groups[moved] == target:
        return
    one = np.array([moved])
    after = groups.copy()
    after[moved] = target
    terms = [
        Term(classes, np.array([groups[moved], target]), np.array([0, 1])),
        Term(tally.tuples, one, np.array([0]), -1),
        Term(tally.tuples, one, np.array([1])),
    ]
    expected = [bool(requirement.good(_counts(table, after == group))[0]) for group in (groups[moved], target)]
    found = tally.good(terms, 2).tolist()
    assert found[1] == expected[1]
    assert found[0] == expected[0] or not (after == groups[moved]).any()  # nobody asks about an empty class


def _counts(table, chosen):
    if not chosen.any():
        return ClassCounts(np.zeros(1, np.int64), table.class_counts(np.zeros(len(chosen), np.int64), 1, chosen).values)
    return table.class_counts(np.zeros(len(chosen), np.int64), 1, chosen)
