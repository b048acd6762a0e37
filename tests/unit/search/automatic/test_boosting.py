"""The learner of trials: its splits against a slow reference, and its errors against scikit-learn's."""

import numpy as np
import pytest

from incrowd.search.automatic import boosting
from incrowd.search.automatic.boosting import LEAST, RIDGE, Bins, Boosted, _Growth


def best_split(binned, starts, rows, slopes, curves):
    """The best last bin on the left over some rows, by looking at every row of every bin; None if none is of use."""

    def worth(part):
        return slopes[part].sum() ** 2 / (curves[part].sum() + RIDGE)

    found, best = None, worth(rows)
    for column in range(binned.shape[1]):
        for bin_ in range(starts[column], starts[column + 1] - 1):
            left = rows[binned[rows, column] <= bin_]
            right = rows[binned[rows, column] > bin_]
            if min(curves[left].sum(), curves[right].sum()) >= LEAST and worth(left) + worth(right) > best:
                found, best = (column, bin_), worth(left) + worth(right)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_trees_split_where_a_slow_reference_does(seed):
    random = np.random.default_rng(seed)
    rows = np.column_stack([random.normal(size=90), random.integers(0, 4, 90), np.repeat([np.nan, 1.0], 45)])
    bins = Bins.of(rows)
    binned = bins(rows)
    slopes = np.round(random.normal(size=(2, 90)) * 64) / 64  # exact in any order
    curves = np.full((2, 90), 0.25)
    trees = _Growth(bins, binned).grown(slopes, curves)
    for output in range(2):
        places = {0: np.arange(90)}
        for node in range((1 << boosting.DEPTH) - 1):
            inside = places[node]
            split = best_split(binned, bins.starts, inside, slopes[output], curves[output])
            column, bin_ = split or (0, bins.starts[-1])
            assert bin_ == trees.bins[output, node]
            above = binned[inside, column] > bin_
            places |= {2 * node + 1: inside[~above], 2 * node + 2: inside[above]}
        leaves = [places[(1 << boosting.DEPTH) - 1 + leaf] for leaf in range(1 << boosting.DEPTH)]
        values = [-boosting.RATE * slopes[output][leaf].sum() / (curves[output][leaf].sum() + RIDGE) for leaf in leaves]
        assert trees.leaves[output] == pytest.approx(values)


def test_columns_are_cut_halfway_between_neighbouring_values():
    (edges,) = Bins.of(np.array([[30.0], [45.0], [30.0], [55.0]])).edges
    assert edges.tolist() == [37.5, 50]


def test_a_missing_number_is_below_all_others():
    rows = np.array([[np.nan], [1.0], [2.0], [np.nan]])
    assert Bins.of(rows)(rows)[:, 0].tolist() == [0, 1, 2, 0]


def test_many_values_share_bins_of_about_as_many_rows():
    rows = np.random.default_rng(0).normal(size=(3200, 1))
    counts = np.bincount(Bins.of(rows)(rows)[:, 0])
    assert len(counts) == boosting.BINS
    assert counts.min() > 60


@pytest.mark.parametrize("classes", [2, 4])
def test_it_errs_about_as_often_as_scikit_learn(classes):
    ensemble = pytest.importorskip("sklearn.ensemble")
    random = np.random.default_rng(1)
    rows = np.column_stack([random.normal(size=(1500, 2)), random.integers(0, 3, (1500, 2))])
    score = rows[:, 0] * (rows[:, 2] - 1) + rows[:, 3] + 0.5 * random.normal(size=1500)
    truth = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    ours = Boosted.trained(rows[:1000], truth[:1000], classes).classes(rows[1000:])
    model = ensemble.HistGradientBoostingClassifier().fit(rows[:1000], truth[:1000])
    theirs = model.predict(rows[1000:])
    assert (ours != truth[1000:]).mean() < (theirs != truth[1000:]).mean() + 0.03


def test_without_a_column_that_tells_anything_the_most_frequent_class_is_guessed():
    truth = np.array([0, 1, 1] * 20)
    learned = Boosted.trained(np.zeros((60, 1)), truth, 2)
    assert learned.classes(np.array([[5.0], [np.nan]])).tolist() == [1, 1]
    assert Boosted.trained(np.zeros((60, 0)), truth, 2).classes(np.zeros((2, 0))).tolist() == [1, 1]
