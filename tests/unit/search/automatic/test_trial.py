"""Methods tried for a target: samples by the key, features of what labels cover, and who is as good as the best."""

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.key import Key
from incrowd.run import Run
from incrowd.search.automatic import samples, trial
from incrowd.search.automatic.features import Meanings
from incrowd.search.automatic.trial import Candidate
from incrowd.search.registry import METHODS

KEY = Key.for_experiments(0)
RANDOM = np.random.default_rng(5)
SIZE = 900
AGE = RANDOM.integers(20, 60, SIZE)
PEOPLE = pa.table(
    {
        "age": AGE,
        "town": RANDOM.choice(list("abcd"), SIZE),
        "ill": RANDOM.choice(["flu", "cold", "none"], SIZE),
        "buys": np.where((AGE > 40) ^ (RANDOM.random(SIZE) < 0.1), "yes", "no"),
    }
)
LOCAL = Candidate("mondrian", {})


def made(**words):
    given = {"quasi_identifiers": ["age", "town"], "k": 5, "target": "buys", "method": "mondrian", "key": KEY}
    return incrowd.anonymize(PEOPLE, **{**given, **words})


@pytest.fixture(scope="module")
def release():
    return made(sensitive=["ill"], l=2)


def of_rows(table, tuples):
    return np.stack([codes[tuples] for codes in table.codes], axis=1)


def test_every_record_of_a_small_table_is_tested_as_often_as_others_and_never_released_with_it(release):
    table = release.table
    splits = samples.drawn(table, KEY)
    tested = np.concatenate([split.tested for split in splits])
    assert len(splits) == samples.MOST
    rounds = samples.MOST // samples.TESTED
    assert np.bincount(tested, minlength=len(table.counts)).tolist() == (rounds * table.counts).tolist()
    for split in splits:
        assert split.released.records == SIZE - SIZE // 3
        both = np.bincount(split.tested, minlength=len(table.counts))
        place = {codes: number for number, codes in enumerate(map(tuple, of_rows(table, slice(None)).tolist()))}
        rows = of_rows(split.released, slice(None)).tolist()
        for codes, count in zip(map(tuple, rows), split.released.counts.tolist(), strict=True):
            both[place[codes]] += count
        assert both.tolist() == table.counts.tolist()


def test_labels_and_protected_values_of_a_sample_are_those_of_its_tuples(release):
    split, *_ = samples.drawn(release.table, KEY)
    whole = release.table
    place = {codes: number for number, codes in enumerate(map(tuple, of_rows(whole, slice(None)).tolist()))}
    where = np.array([place[tuple(codes)] for codes in of_rows(split.released, slice(None)).tolist()])
    pairs = [(split.released.target, whole.target), (split.released.protected["ill"], whole.protected["ill"])]
    for part, all_of_them in pairs:
        groups = np.arange(len(split.released.counts))
        found = part.table(groups, len(groups))
        assert (found.sum(axis=1) == split.released.counts).all()
        assert (found <= all_of_them.table(np.arange(len(whole.counts)), len(whole.counts))[where]).all()


def test_a_large_table_is_split_twice_and_tested_on_other_records(release, monkeypatch):
    monkeypatch.setattr(samples, "RECORDS", 120)
    monkeypatch.setattr(samples, "ALL", 240)
    splits = samples.drawn(release.table, KEY)
    assert [len(split.tested) for split in splits] == [40] * 2
    counts = np.bincount(np.concatenate([split.tested for split in splits]), minlength=len(release.table.counts))
    assert (counts <= release.table.counts).all()
    assert [split.released.records for split in splits] == [80] * 2


def test_samples_follow_from_the_key(release):
    first, again, other = (samples.drawn(release.table, key)[0] for key in (KEY, KEY, Key.for_experiments(1)))
    assert first.tested.tolist() == again.tested.tolist() != other.tested.tolist()


@pytest.mark.parametrize("method", ["mondrian", "cover", "tdr", "tds"])
def test_features_of_released_records_are_those_of_what_their_labels_cover(method):
    release = made(method=method)
    table, recoding = release.table, release.recoding
    meanings = Meanings(table)
    features, kept = meanings.released(table, recoding)
    assert kept.tolist() == list(range(SIZE))  # nobody is left out
    tuples = np.repeat(np.arange(len(table.counts)), table.counts)
    scale = table.attributes[0].scale
    read = [scale.middle(str(label)) for label in release.data["age"].to_pylist()]  # as a recipient reads them
    assert sorted(features[:, 0].tolist(), key=str) == sorted(read, key=str)
    shares = features[:, 2:]  # of the four towns, after the place of the label
    assert shares.sum(axis=1) == pytest.approx(np.ones(SIZE))
    assert (shares[np.arange(SIZE), table.codes[1][tuples]] > 0).all()


def test_left_out_records_are_not_learned_from():
    release = made(method="tdr", suppress=0.2)
    features, kept = Meanings(release.table).released(release.table, release.recoding)
    assert len(kept) == len(features) == SIZE - release.measures.total.suppressed


def test_who_errs_at_most_a_standard_error_more_than_the_best_is_as_good():
    wrong = np.zeros((4, 400))
    wrong[0, :40] = 1
    wrong[1, 20:64] = 1  # four more, on 64 records that differ: a standard error of 8 x sqrt(1 + 3 / 2)
    wrong[2, 20:78] = 1  # 18 more on 78 that differ: 14 would have been within it
    wrong[3, :90] = 1
    outcomes = trial._outcomes([LOCAL] * 4, [[each] for each in wrong], [0.5, 0.2, 0.1, 0.1], 3)
    assert [each.error for each in outcomes] == [0.1, 0.11, 0.145, 0.225]
    assert [each.as_good for each in outcomes] == [True, True, False, False]
    assert outcomes[0].low < 0.1 < outcomes[0].high
    more = trial._outcomes([LOCAL] * 2, [[each] for each in (wrong[0], wrong[2])], [0.5, 0.1], 12)
    assert more[1].as_good  # the same records in more splits say less


@pytest.mark.parametrize(("records", "as_good"), [(4, True), (6, False)])
def test_who_errs_half_a_point_more_is_as_good_however_sure_that_is(records, as_good):
    wrong = np.zeros((2, 1000))
    wrong[1, :records] = 1
    outcomes = trial._outcomes([LOCAL] * 2, [[each] for each in wrong], [0.5, 0.2], 1)
    assert outcomes[1].as_good == as_good


def outcome(error, loss, *, as_good=True):
    return trial.Outcome(LOCAL, error, error, error, loss, as_good)


def test_of_the_good_the_one_that_loses_least_is_taken_and_of_those_that_lose_about_as_little_the_best():
    best, least, alike = outcome(0.1, 0.5), outcome(0.12, 0.2), outcome(0.11, 0.24)
    assert trial.taken_of([best, least, outcome(0.2, 0.1, as_good=False)]) == least
    assert trial.taken_of([best, least, alike]) == alike
    assert "hardly better and loses more detail" in trial.reasons([best, alike], alike)
    assert "the least of 2 candidates" in trial.reasons([best, alike], best)


def test_a_trial_errs_about_as_often_as_the_labels_are_noise(release):
    outcomes = trial.tried(release.table, release.policy.requirements, [LOCAL], None, Run(key=KEY))
    assert 0.05 < outcomes[0].error < 0.18
    assert 0 < outcomes[0].loss < 1
    assert outcomes[0].to_json()["candidate"] == "mondrian"


def test_pairs_of_records_are_ranked_as_scikit_learn_counts_them():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(2)
    truth, scores = random.integers(0, 2, 200), random.integers(0, 20, 200) / 7
    for part in trial.misranked(scores, truth):
        assert part.mean() == pytest.approx(1 - metrics.roc_auc_score(truth, scores))


def test_a_rare_label_is_judged_by_pairs():
    rare = PEOPLE.set_column(3, "buys", pa.array(["yes" if age > 57 else "no" for age in AGE.tolist()]))
    release = incrowd.anonymize(rare, quasi_identifiers=["age", "town"], k=5, target="buys", method="tdr", key=KEY)
    outcomes = trial.tried(release.table, release.policy.requirements, [LOCAL], None, Run(key=KEY))
    assert outcomes[0].measure == "1 - AUC"
    assert outcomes[0].error < 0.2


def test_rare_labels_count_as_one(release, monkeypatch):
    monkeypatch.setattr(trial, "CLASSES", 2)
    release = made(target="ill")
    classes, size = trial._classes(release.table)
    assert size == 2
    assert sorted(classes.tolist()) == [0, 1, 1]


def test_every_candidate_is_a_method_that_searches():
    assert {each.method for each in (LOCAL, Candidate("cover", {}), Candidate("tdr", {}))} <= set(METHODS)
