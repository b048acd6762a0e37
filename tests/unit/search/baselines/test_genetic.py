"""What the genetic algorithm refuses and reports, and how it stops."""

import pyarrow as pa
import pytest
from tests.reference.problem import Column, Problem

import incrowd
from incrowd import QuasiIdentifier
from incrowd.errors import PolicyError
from incrowd.key import Key
from incrowd.run import Run, StepTaken
from incrowd.search.registry import method_of

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


def test_when_the_time_is_over_it_releases_the_best_so_far():
    columns = (Column("age", (20, 21, 40, 41, 60, 61), "number"), Column("job", tuple("aabbcc"), "flat"))
    problem = Problem(columns, None, (QuasiIdentifier(["age", "job"], 2),))
    run = Run(lambda event: run.stop("time limit"))  # with the first news
    found = method_of("genetic", {})(problem.table(), problem.requirements, {"population": 10**9}, run)
    assert (found.facts["stopped"], found.facts["evaluations"]) == ("time limit", 1)
    assert problem.holds(problem.anonymity(problem.release(found.recoding)))
