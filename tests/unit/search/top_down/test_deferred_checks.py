"""Promises about protected columns are looked at late, and not for every tuple: the answer is that of counting all."""

import numpy as np
import pytest

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.l_diversity import LDiversity, RecursiveLDiversity
from incrowd.privacy.model import Requirement
from incrowd.privacy.t_closeness import TCloseness
from incrowd.search.top_down.deferred_checks import DeferredChecks
from incrowd.search.top_down.groups import Groups
from incrowd.search.top_down.promises import Promises
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.taxonomy import Taxonomy

TUPLES = 12
MODELS = [LDiversity("ill", 3), TCloseness("ill", 0.35), RecursiveLDiversity("ill", 2, 2)]


def drawn_table(random):
    """Tuples of very different sizes: some are good classes by themselves, others are not."""
    codes = np.repeat(np.arange(TUPLES), random.choice([1, 2, 12], TUPLES))
    attribute = TaxonomyAttribute("job", Taxonomy.from_tree({"*": [str(code) for code in range(TUPLES)]}))
    ill = random.integers(0, 4, len(codes))
    return CompressedTable.build(
        [attribute], [codes], np.ones(len(codes), np.int64), None, {"ill": (("w", "x", "y", "z"), ill)}
    )


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_what_holds_is_what_counting_every_tuple_says(model):
    random, answers = np.random.default_rng(5), []
    for _ in range(150):
        table = drawn_table(random)
        requirement = Requirement(("job",), (KAnonymity(2), model)).fitted(table.protected)
        late = DeferredChecks(table, Promises(table, (requirement,), late=True))
        rows = np.sort(random.permutation(TUPLES)[: random.integers(2, TUPLES)])
        size = int(random.integers(1, 4))
        numbers = np.append(np.arange(size), random.integers(0, size, TUPLES))[: len(rows)]
        size = int(numbers.max()) + 1
        groups = np.full(TUPLES, size)
        groups[rows] = numbers
        about = Requirement(("job",), requirement.models[1:])
        good = about.good(table.class_counts(groups, size + 1))[:size]
        answers.append(bool(good.all()))
        assert late.hold(0, Groups(rows, numbers, size, table.counts[rows].astype(float))) == answers[-1]
    assert 10 < sum(answers) < 140


def test_nothing_is_left_to_look_at_where_scores_need_it_or_records_may_be_left_out():
    table = drawn_table(np.random.default_rng(5))
    alone = Requirement(("job",), MODELS[:1])
    both = Requirement(("job",), (KAnonymity(2), *MODELS[:1]))
    assert not DeferredChecks(table, Promises(table, (alone,), late=True)).needed
    assert not DeferredChecks(table, Promises(table, (both,), late=False)).needed
    assert DeferredChecks(table, Promises(table, (both,), late=True)).needed
