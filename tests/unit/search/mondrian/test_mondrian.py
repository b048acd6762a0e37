"""Mondrian where widths are nearly equal, and where the time is over."""

import pyarrow as pa
from tests.reference.problem import Column, Problem

import incrowd
from incrowd import QuasiIdentifier
from incrowd.run import Run
from incrowd.search.registry import method_of


def test_equally_wide_attributes_are_cut_by_name_though_their_floats_differ():
    """0.3 - 0.1 and 0.2 - 0.0 are two tenths, in floats they are not; "a" is cut first, which parts nobody in "b"."""
    data = pa.table({"b": [0.1, 0.1, 0.3, 0.3], "a": [0.0, 0.2, 0.0, 0.2]})
    ranges = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
    release = incrowd.anonymize(data, quasi_identifiers=["b", "a"], k=2, ranges=ranges, method="mondrian")
    assert release.data["a"].to_pylist() == ["0", "0.2", "0", "0.2"]
    assert len(set(release.data["b"].to_pylist())) == 1


def test_when_the_time_is_over_boxes_stay_as_they_are():
    columns = (Column("a", tuple(range(30)), "number"), Column("b", tuple(range(30, 0, -1)), "number"))
    problem = Problem(columns, None, (QuasiIdentifier(["a", "b"], 2),))
    run = Run()
    run.stop("time limit")
    found = method_of("mondrian", {})(problem.table(), problem.requirements, {}, run)
    assert (found.facts["stopped"], found.facts["boxes"]) == ("time limit", 1)
    assert problem.holds(problem.anonymity(problem.release(found.recoding)))
