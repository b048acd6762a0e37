"""The journalist's risk of samples from populations that are known: near the truth, or a bound that holds."""

import math

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd import datasets
from incrowd.formats.registry import open_source
from incrowd.population.estimates import below, log_gamma, mean_inverse

NARROW = ["age", "sex", "race", "marital-status"]
MIDDLE = ["age", "education", "sex", "race", "native-country"]
WIDE = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
FACTOR = 1.5


@pytest.fixture(scope="module")
def adult():
    """45,222 people of a census."""
    return pa.Table.from_batches(list(open_source(datasets.adult()).batches(WIDE)))


@pytest.fixture(scope="module")
def generated():
    """40,000 people whose zip codes differ much in size, with a day of birth and a sex."""
    random = np.random.default_rng(1)
    shares = random.pareto(1.1, 3000) + 0.1
    columns = {"zip": random.choice(3000, 40_000, p=shares / shares.sum()), "birth": random.integers(0, 9000, 40_000)}
    return pa.table({**columns, "sex": random.integers(0, 2, 40_000)})


def sample(table, columns, fraction, seed=7):
    """A sample, and of each of its records how many people of the population match it."""
    classes = np.zeros(len(table), np.int64)
    for name in columns:
        codes = table[name].combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
        classes = np.unique(classes * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    chosen = np.sort(np.random.default_rng(seed).choice(len(table), round(len(table) * fraction), replace=False))
    return table.select(columns).take(chosen), np.bincount(classes)[classes[chosen]]


def assess(table, columns, **words):
    return incrowd.assess(table, quasi_identifiers=columns, max_size=1, **words)


def near(found, truth):
    return truth / FACTOR <= found <= truth * FACTOR


@pytest.mark.parametrize("fraction", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("columns", [NARROW, MIDDLE, WIDE], ids=["narrow", "middle", "wide"])
def test_it_is_near_the_truth(adult, columns, fraction):
    """Within a factor of 1.5 on nine settings, where f / fraction people for f records is up to 28 times too low."""
    drawn, matching = sample(adult, columns, fraction)
    risk = assess(drawn, columns, sampling_fraction=fraction)
    assert risk.journalist.how == "estimated"
    assert near(float(risk.journalist.average), (1 / matching).mean())
    assert risk.marketer == risk.journalist.average
    assert near(risk.journalist.at_risk, (matching < 5).sum())
    assert risk.journalist.highest >= (1 / matching).max()
    assert "independent of one another" in risk.journalist.assumes
    assert risk.journalist.assumes in str(risk)
    assert float(risk.prosecutor.average) * fraction < (1 / matching).mean() / 2  # what was said before


def test_weights_say_the_same_as_the_fraction(adult):
    drawn, _ = sample(adult, MIDDLE, 0.05)
    weighted = drawn.append_column("weight", pa.array(["20"] * len(drawn)))
    by_weights = assess(weighted, MIDDLE, weights="weight").journalist
    by_fraction = assess(drawn, MIDDLE, sampling_fraction=0.05).journalist
    assert by_weights.how == "estimated"
    assert float(by_weights.average) == pytest.approx(float(by_fraction.average), rel=1e-9)
    assert by_weights.at_risk == by_fraction.at_risk


def test_a_column_that_follows_from_another_changes_nothing(adult):
    drawn, _ = sample(adult, NARROW, 0.05)
    twice = drawn.append_column("again", pa.array([f"{value}!" for value in drawn["age"].to_pylist()]))
    once, both = (assess(twice, names, sampling_fraction=0.05).journalist for names in (NARROW, [*NARROW, "again"]))
    assert float(both.average) == pytest.approx(float(once.average), rel=1e-9)


@pytest.mark.parametrize(("columns", "fraction"), [(["zip"], 0.02), (["zip"], 0.1), (["zip", "sex"], 0.02)])
def test_what_the_sample_does_not_show_is_not_estimated_but_bounded(generated, columns, fraction):
    drawn, matching = sample(generated, columns, fraction)
    risk = assess(drawn, columns, sampling_fraction=fraction)
    assert risk.journalist.how == "at most"
    assert "how rare values are that only one crowd has" in risk.journalist.reason
    assert (1 / matching).mean() <= float(risk.journalist.average) <= 1
    assert (matching < 5).sum() <= risk.journalist.at_risk <= len(drawn)
    assert "at most" in str(risk)
    assert risk.journalist.reason in str(risk)


def test_columns_that_hang_together_are_not_estimated(generated):
    """A second column is the first one or one more: not independent at all."""
    drawn, matching = sample(generated, ["birth", "zip", "sex"], 0.1)
    random, base = np.random.default_rng(2), drawn["zip"].to_numpy() % 40
    table = pa.table({f"c{i}": base + (random.random(len(base)) < 0.02) for i in range(6)})
    found = assess(table, [f"c{i}" for i in range(6)], sampling_fraction=0.1).journalist
    assert (found.how, found.reason) == ("at most", "the columns depend on one another too strongly")
    own = assess(drawn, ["birth", "zip", "sex"], sampling_fraction=0.1).journalist
    assert own.how == "estimated"
    assert near(float(own.average), (1 / matching).mean())


def test_people_with_several_records_count_once():
    """Everybody has two records; the truth of a person is the higher of two risks."""
    random, people = np.random.default_rng(5), 20_000
    sizes = (8, 40, 12)
    columns = [random.choice(n, (people, 2), p=np.arange(1, n + 1) / (n * (n + 1) / 2)) for n in sizes]
    class_of = (columns[0] * 40 + columns[1]) * 12 + columns[2]
    matching = np.zeros(8 * 40 * 12)
    for each in class_of:
        matching[np.unique(each)] += 1
    chosen = np.sort(random.choice(people, people // 20, replace=False))
    table = pa.table({"who": np.repeat(chosen, 2), **{f"c{i}": c[chosen].ravel() for i, c in enumerate(columns)}})
    risk = assess(table, ["c0", "c1", "c2"], unit="who", sampling_fraction=0.05)
    worst = matching[class_of[chosen]].min(axis=1)
    assert (risk.records, risk.population, risk.journalist.how) == (len(chosen), people, "estimated")
    assert near(float(risk.journalist.average), (1 / worst).mean())
    assert near(risk.journalist.at_risk, (worst < 5).sum())
    assert not any(estimate.applies for estimate in risk.population_uniques)


def test_very_many_columns():
    """The product of their shares is no number any more; whoever is unique is so in the population."""
    random = np.random.default_rng(3)
    table = pa.table({f"c{i}": random.integers(0, 40, 600) for i in range(250)})
    risk = assess(table, table.column_names, sampling_fraction=0.1)
    assert float(risk.journalist.average) == pytest.approx(1)
    assert risk.journalist.at_risk == 600


@pytest.mark.parametrize("values", [[1] * 600, list(range(600)), [1], [1, 2, 2]], ids=["equal", "unique", "one", "few"])
@pytest.mark.parametrize("fraction", [1e-6, 0.02, 0.999, 1])
def test_at_the_edges_it_is_a_share(values, fraction):
    found = assess(pa.table({"age": values}), ["age"], sampling_fraction=fraction)
    assert 0 < found.journalist.average <= found.prosecutor.average <= found.journalist.highest <= 1
    assert 0 <= found.journalist.at_risk <= found.prosecutor.at_risk
    assert (found.journalist.how == "counted") == (fraction == 1)
    assert found.journalist.how != "estimated" or fraction == 0.999  # then hardly anybody is missing


@pytest.mark.parametrize("shape", [-0.9, -0.3, 0.0, 0.05, 1.0, 7.0, 50.0])
@pytest.mark.parametrize("chance", [0.01, 0.2, 0.9])
def test_the_mean_of_one_over_f_is_the_sum_over_its_probabilities(shape, chance):
    """Negative binomial probabilities one by one, with the gamma function of the standard library."""
    for size in (1, 2, 5, 60, 61):
        total, probability, more = 0.0, math.exp((size + shape) * math.log(chance)), 0
        if probability < 1e-280:
            continue
        while more < 200_000 and (probability > 1e-18 or more < (size + shape) / chance):
            total += probability / (size + more)
            probability *= (size + shape + more) / (more + 1) * (1 - chance)
            more += 1
        found = mean_inverse(np.array([float(size)]), np.array([shape]), np.array([chance]))[0]
        assert found == pytest.approx(total, rel=2e-3 if size > 60 else 1e-6)


@pytest.mark.parametrize("crowd", [1, 2, 5, 200, 201, 500])
def test_how_likely_a_crowd_is_small(crowd):
    """Summed one by one; above 200 to three digits."""
    for size, shape, chance in ((1, 0.4, 0.02), (3, 2.0, 0.05), (7, -0.5, 0.3), (240, 1.0, 0.5)):
        total, probability = 0.0, math.exp((size + shape) * math.log(chance))
        for more in range(max(0, crowd - size)):
            total += probability
            probability *= (size + shape + more) / (more + 1) * (1 - chance)
        found = below(*(np.array([float(each)]) for each in (size, shape, chance)), crowd)[0]
        assert found == pytest.approx(total, abs=2e-2 if crowd > 200 else 1e-12)


def test_log_gamma():
    numbers = np.array([0.01, 0.5, 1.0, 3.7, 50.0, 1e6])
    assert log_gamma(numbers).tolist() == pytest.approx([math.lgamma(each) for each in numbers], rel=1e-9, abs=1e-9)
