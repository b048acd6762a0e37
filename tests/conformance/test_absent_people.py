"""People of a population whose combination of values no record has: global methods count them, and are optimal so."""

from collections import Counter
from itertools import chain, combinations, pairwise, product

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.errors import InfeasibleError
from incrowd.search.registry import METHODS
from incrowd.table.attributes import encode
from incrowd.taxonomies.rules import Intervals

TREES = {
    "job": [("cook", "hotel", "*"), ("maid", "hotel", "*"), ("nurse", "ward", "*"), ("medic", "ward", "*")],
    "town": [("a", "north", "*"), ("b", "north", "*"), ("c", "south", "*")],
}
PERSON = st.tuples(st.sampled_from(["cook", "maid", "nurse", "medic"]), st.sampled_from(["a", "b", "c"]))
GLOBAL = [name for name, method in METHODS.items() if not method.local]


def table(people):
    jobs, towns = zip(*people, strict=True)
    return pa.table({"job": jobs, "town": towns})


def released(sample, everyone, **words):
    return incrowd.anonymize(
        table(sample),
        quasi_identifiers=["job", "town"],
        population_table=table(everyone),
        taxonomies={name: incrowd.Taxonomy.from_paths(paths, name) for name, paths in TREES.items()},
        **words,
    )


def lowest_loss(sample, everyone, k_map, share):
    """The least NCP of any full-domain generalization, by trying all of them; None if there is none."""
    found = []
    for levels in product(range(3), repeat=2):
        tops = [{path[0]: path[level] for path in paths} for level, paths in zip(levels, TREES.values(), strict=True)]
        sizes = [Counter(top.values()) for top in tops]
        own, all_people = (Counter((tops[0][job], tops[1][town]) for job, town in p) for p in (sample, everyone))
        if all(all_people[shown] >= k_map and n <= share * all_people[shown] for shown, n in own.items()):
            lost = (
                (size[label] - 1) / (len(top) - 1)
                for shown in own.elements()
                for label, size, top in zip(shown, sizes, tops, strict=True)
            )
            found.append(sum(lost) / len(sample) / 2)
    return min(found, default=None)


@pytest.mark.parametrize("method", ["incognito", "optimal"])
@examples(40)
@given(
    sample=st.lists(PERSON, min_size=2, max_size=12),
    others=st.lists(PERSON, max_size=30),
    words=st.sampled_from([{"k_map": 4}, {"k_map": 9}, {"delta_presence": 0.5}, {"k_map": 5, "delta_presence": 0.3}]),
)
def test_the_optimum_is_that_of_trying_everything(method, sample, others, words):
    everyone = [*sample, *others]
    truth = lowest_loss(sample, everyone, words.get("k_map", 1), words.get("delta_presence", 1))
    scheme = {"scheme": "bhs", "suppress": 0} if method == "optimal" else {}
    try:
        loss = released(sample, everyone, method=method, **scheme, **words).measures.total.ncp
    except InfeasibleError:
        loss = None
    assert loss == (None if truth is None else pytest.approx(truth))


@examples(40)
@given(
    ages=st.lists(st.integers(0, 9), min_size=2, max_size=8),
    others=st.lists(st.integers(0, 9), max_size=12),
    k_map=st.integers(2, 6),
)
def test_intervals_may_begin_at_ages_that_only_others_have(ages, others, k_map):
    """All ways to cut the ages of the population; the width of an interval counts up to where the next one begins."""
    everyone = Counter([*ages, *others])
    values, own = sorted(everyone), Counter(ages)
    width = values[-1] - values[0]
    found = []
    for cuts in chain.from_iterable(combinations(values[1:], size) for size in range(len(values))):
        edges = [values[0], *cuts, values[-1] + 1]
        parts = [[age for age in values if low <= age < high] for low, high in pairwise(edges)]
        if all(sum(everyone[age] for age in part) >= k_map for part in parts if any(own[age] for age in part)):
            wide = [(high - 1 - low) for low, high in pairwise(edges)]
            found.append(sum(w * sum(own[age] for age in part) for w, part in zip(wide, parts, strict=True)))
    words = {"quasi_identifiers": ["age"], "k_map": k_map, "method": "optimal", "scheme": "ops", "suppress": 0}
    population = pa.table({"age": list(everyone.elements())})
    try:
        release = incrowd.anonymize(pa.table({"age": ages}), population_table=population, **words)
    except InfeasibleError:
        assert not found
        return
    assert release.measures.total.ncp == pytest.approx(min(found) / max(1, width) / len(ages))


def test_others_make_a_crowd_for_a_record_that_is_alone():
    """The cook in a is alone, in the sample and in the population; the maids of the north make her crowd of 5."""
    sample = [("cook", "a"), ("nurse", "c")]
    everyone = [*sample, *[("maid", "a")] * 2, *[("maid", "b")] * 2, *[("nurse", "c")] * 4]
    release = released(sample, everyone, method="incognito", k_map=5)
    assert sorted(tuple(row.values()) for row in release.data.to_pylist()) == [("hotel", "north"), ("ward", "south")]
    local = released(sample, everyone, method="mondrian", k_map=5)  # it knows of the nurses in c, and of the cook
    assert {tuple(row.values()) for row in local.data.to_pylist()} == {("*", "*")}


@pytest.mark.parametrize("method", GLOBAL)
def test_a_class_without_records_is_no_class(method):
    """Nobody of the sample is in the south, where one medic lives; that she is alone changes nothing."""
    sample = [("cook", "a"), ("maid", "b")] * 4
    options = {"genetic": {"population": 8, "patience": 10, "evaluations": 40}, "optimal": {"suppress": 0}}
    words = {"method": method, "k_map": 4, "k": 2, **options.get(method, {})}
    alone = released(sample, [*sample, ("medic", "c")], **words)
    without = released(sample, sample, **words)
    assert alone.measures.total == without.measures.total
    (finding,) = alone.certificate.verification["quasi_identifiers"]
    assert finding["classes"] == alone.measures.total.classes
    assert alone.table.records == len(sample)
    assert alone.table.counts.all()


class TestJoined:
    """One column with the values of a table and of its population."""

    @staticmethod
    def of(own, other, missing=(False, False), **words):
        made = [
            encode("x", pa.array(values), has_missing=lacks, **words if place == 0 else {})[0]
            for place, (values, lacks) in enumerate(zip((own, other), missing, strict=True))
        ]
        return made[0].joined(made[1])

    def test_numbers_texts_and_rules(self):
        assert self.of([1, 5], [3, 9, 5]).numbers.tolist() == [1, 3, 5, 9]
        assert self.of([1, 5], [3.5, 5.0]).values().to_pylist() == ["1", "3.5", "5"]
        assert self.of(["b", "d"], ["a", "b"]).texts == ("a", "b", "d")
        wide = self.of(["1", "12"], ["25"], taxonomy=Intervals((10,)))
        assert {"[0-10)", "[10-20)", "[20-30)"} <= set(wide.taxonomy.labels)

    def test_what_does_not_fit_stays_out(self):
        assert self.of([1, 5], [-3, 3, 200], domain=(0, 100)).numbers.tolist() == [1, 3, 5]
        assert self.of([1, 5], ["x", "y"]).numbers.tolist() == [1, 5]

    def test_missing_values_are_those_of_the_table(self):
        assert self.of([1, 5], [3], (True, False)).missing == 3
        assert self.of([1, 5], [3], (False, True)).missing is None
        assert self.of(["a"], ["b"], (True, True)).missing == 2
