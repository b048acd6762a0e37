"""What the genetic algorithm refuses and reports, and how it stops."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import PolicyError
from incrowd.key import Key
from incrowd.run import StepTaken

PEOPLE = pa.table({"age": [20, 21, 40, 41, 60, 61], "job": list("aabbcc")})


def test_fitness_by_class_labels_needs_a_target():
    with pytest.raises(PolicyError, match="'fitness' parameter must be ncp"):
        incrowd.anonymize(PEOPLE, quasi_identifiers=["age", "job"], k=2, method="genetic", fitness="cm")


def test_the_best_of_the_genetic_algorithm_is_the_cost_of_its_release():
    """Shown y is left out; withheld, it is a * like z, and its record stays in: less is lost than bred for."""
    data = pa.table({"job": list("xxxzzy"), "town": ["p"] * 6, "income": list("YYNYNN")})
    stopped_early = {"population": 3, "evaluations": 3}
    improved = 0
    for seed in range(40, 80):
        words = {"k": 2, "method": "genetic", "fitness": "ncp", "key": Key.for_experiments(seed), **stopped_early}
        release = incrowd.anonymize(data, quasi_identifiers=["job", "town"], **words)
        facts = release.found.facts
        assert facts["best"] == pytest.approx(release.measures.total.ncp)
        improved += facts["best"] < facts["improvements"][-1][1] - 1e-9
    assert improved


def test_the_anonymity_it_tells_is_that_of_what_is_released():
    seen = []
    words = {"quasi_identifiers": ["age", "job"], "k": 2, "method": "genetic", "evaluations": 40, "population": 5}
    release = incrowd.anonymize(PEOPLE, **words, progress=seen.append)
    told = [event.step.anonymity for event in seen if isinstance(event, StepTaken)]
    assert told[-1] == (release.measures.total.anonymity,)
