"""Mondrian that may leave out records: within the budget, only where it pays, and until nothing that pays is left."""

from collections import Counter, defaultdict

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.test_mondrian import requirements, united
from tests.recoded import released_by
from tests.strategies import problems
from tests.unit.search.top_down.test_privacy_models import level, protected, table_of

import incrowd
from incrowd.measures.measures import measure
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.leaving_out import budget_of
from incrowd.search.mondrian.mondrian import mondrian

SHARES = st.sampled_from([0.05, 0.1, 0.2, 0.4, 0.8])


def rows_of(problem, recoding):
    """The released rows."""
    return [tuple(row.values()) for row in released_by(recoding, pa.table(problem.batch())).to_pylist()]


@examples(150)
@given(problems(), SHARES, st.booleans())
def test_classes_are_good_the_budget_is_kept_and_the_loss_is_no_higher(problem, share, relaxed):
    table, required = problem.table(), requirements(problem)
    plain = mondrian(table, required, Run(), relaxed=relaxed)
    found = mondrian(table, required, Run(), relaxed=relaxed, suppress=share)
    rows = rows_of(problem, found.recoding)
    left_out = len(problem.rows) - len(rows)
    assert left_out == found.facts.get("suppressed_records", 0) <= budget_of(table, share)
    assert min(Counter(rows).values()) >= united(problem)[0].k
    before, after = (measure(table, one.recoding, required).total for one in (plain, found))
    assert after.ncp <= before.ncp + 1e-12
    assert (after.suppressed, after.anonymity) == (left_out, min(Counter(rows).values()))


@examples(150)
@given(problems(), SHARES)
def test_no_more_records_would_pay(problem, share):
    """Leaving out those with the lowest or highest value of a class, if it stays good and the budget allows."""
    table, required = problem.table(), requirements(problem)
    found = mondrian(table, required, Run(), suppress=share, bounds="exact")
    left, k = budget_of(table, share) - found.facts.get("suppressed_records", 0), united(problem)[0].k
    mapping, parts = found.recoding.mapping, found.recoding.parts(table)
    names = [attribute.name for attribute in table.attributes]
    members = defaultdict(list)
    for number, of in enumerate(mapping.part_classes.tolist()):
        if of < len(mapping.classes):
            members[of].append(number)
    if len(members) < found.facts["boxes"]:
        return  # two boxes are released alike
    for of, tuples in members.items():
        own = sum(parts.losses[n][node] for n, node in zip(names, mapping.classes[of], strict=True))
        size = int(table.counts[tuples].sum())
        for index in range(len(names)):
            codes = table.codes[index][tuples]
            for end in (codes.min(), codes.max()):
                stay = [number for number, code in zip(tuples, codes, strict=True) if code != end]
                kept = int(table.counts[stay].sum())
                if kept >= k and size - kept <= left:
                    assert own * size <= _lost(table, stay) * kept + (size - kept) * len(names) + 1e-9


def _lost(table, tuples):
    """What a record of a class of some tuples loses, in all attributes."""
    total = 0.0
    for attribute, column in zip(table.attributes, table.codes, strict=True):
        codes = column[tuples]
        low, high = int(codes.min()), int(codes.max())
        if low == high:
            continue
        if hasattr(attribute, "numbers"):
            first, last = attribute.extent
            if high == attribute.missing:
                total += 1
                continue
            bottom = first if low == 0 else attribute.numbers[low]
            top = last if high == len(attribute.numbers) - 1 else attribute.numbers[high]
            total += float(top - bottom) / float(last - first)
        elif hasattr(attribute, "taxonomy"):
            tree = attribute.taxonomy
            node = tree.lowest_common_ancestor(tree.leaves[low], tree.leaves[high])
            total += (tree.stop[node] - tree.start[node] - 1) / (attribute.size - 1)
        else:
            total += 1
    return total


@examples(100)
@given(protected(), SHARES)
def test_protected_columns_are_counted_among_those_who_stay(case, share):
    problem, illnesses, required = case
    models = required[0].models
    requirement = Requirement(tuple(column.name for column in problem.columns), models)
    recoding = mondrian(table_of(problem, illnesses), (requirement,), Run(), suppress=share).recoding
    with_ill = pa.table(problem.batch()).append_column("ill", pa.array(illnesses))
    classes = defaultdict(list)
    for row in released_by(recoding, with_ill).to_pylist():
        classes[tuple(value for name, value in row.items() if name != "ill")].append(row["ill"])
    everyone = [value for values in classes.values() for value in values]
    assert len(illnesses) - len(everyone) <= int(share * len(illnesses))
    for values in classes.values():
        assert all(level(model, values, everyone) >= model.threshold for model in models)


def test_an_outlier_is_left_out_and_told_by_number_only():
    table = pa.table({"age": [20] * 5 + [21] * 6 + [90], "sex": ["f"] * 11 + ["m"], "income": ["a", "b"] * 6})
    release = incrowd.anonymize(
        table, quasi_identifiers=["age", "sex"], k=7, method="mondrian", suppress=0.1, target="income"
    )
    assert release.measures.total.suppressed == 1
    assert release.found.facts["suppressed_records"] == 1
    assert set(release.data["sex"].to_pylist()) == {"f"}
    assert not {"m", "90"} & set(release.recoding.codebook().split())


def test_numbers_beyond_64_bits_are_weighed_exactly():
    ages = [2**63 + 2, 2**63 + 2, 2**63 + 3, 2**63 + 3, 2**53, 0.5]
    table = pa.table({"number": [str(age) for age in ages * 4], "sex": ["f", "m"] * 12})
    release = incrowd.anonymize(table, quasi_identifiers=["number", "sex"], k=3, method="mondrian", suppress=0.3)
    crowds = Counter(tuple(row.values()) for row in release.data.to_pylist())
    assert min(crowds.values()) >= 3
    assert len(release.data) >= 17


def test_what_pays_is_counted_with_the_bounds_that_are_released():
    """With exact bounds two records would be left out, and the release with its round ones would lose .597."""
    table = pa.table({"x": [3, 2, 8, 9, 4, 3, 6, 3], "y": [0, 2, 4, 1, 17, 17, 8, 13]})
    words = {"quasi_identifiers": ["x", "y"], "k": 3, "method": "mondrian", "ranges": {"x": (0, 20), "y": (0, 20)}}
    plain, budgeted = (incrowd.anonymize(table, suppress=share, **words).measures.total for share in (0, 0.3))
    assert budgeted.ncp == plain.ncp == pytest.approx(0.55)
    assert budgeted.suppressed == 0
