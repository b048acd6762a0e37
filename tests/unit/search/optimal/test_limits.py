"""An optimal search ends when it should: at a limit with the best so far, at once if cancelled or interrupted."""

import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from tests.faults.processes import started
from tests.reference.optimal import Tables

from incrowd.errors import CancelledError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Best, Run
from incrowd.search.optimal import PRUNINGS, innermost
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.innermost import Innermost, RunOver
from incrowd.search.optimal.optimal import optimal
from incrowd.search.optimal.schemes import domains_of
from incrowd.search.registry import METHODS
from incrowd.table.attributes import FlatAttribute
from incrowd.table.compressed import CompressedTable

SIZES = (18, 17, 12)
SOON = 20  # seconds; the search would take hours, and a busy machine is slow
NAMES = tuple(f"x{place}" for place in range(3))


def table(count=3000, sizes=SIZES):
    rng = np.random.default_rng(1)
    attributes = [FlatAttribute(name, tuple(map(str, range(n)))) for name, n in zip(NAMES, sizes, strict=True)]
    codes = [np.append(np.arange(n), rng.integers(0, n, count - n)) for n in sizes]
    return CompressedTable.build(attributes, codes, np.ones(count, np.int64), (["N", "Y"], np.arange(count) % 2))


def search(run, rows=None, k=40, **options):
    """A search that would take hours, if nothing else is said."""
    options = {"scheme": "sps", "suppress": 1, "cost": "dm", **options}
    rows = rows or table()
    requirement = Requirement(tuple(attribute.name for attribute in rows.attributes), (KAnonymity(k),))
    return METHODS["optimal"](rows, (requirement,), options, run)


def assert_honest(facts):
    assert not facts["optimal"]
    assert 0 <= facts["bound"] < facts["cost"]
    assert facts["gap"] == pytest.approx(1 - facts["bound"] / facts["cost"])


@pytest.mark.parametrize("cost", ["dm", "ncp", "hdm", "cm"])
def test_a_time_limit_holds_for_all_of_a_search(cost):
    """Looking for a start included: the solved attribute alone has 262,143 blocks."""
    rows = table()
    began = time.process_time()
    facts = search(Run(time_limit=1), rows, cost=cost).facts
    assert time.process_time() - began < SOON
    assert facts["stopped"] == "time limit"
    assert_honest(facts)


def test_a_search_that_is_asked_to_stop_gives_the_best_so_far():
    run = Run(lambda event: run.stop("interrupted") if isinstance(event, Best) and event.bound > 0 else None)
    facts = search(run, prunings=[word for word in PRUNINGS if word != "seeding"]).facts
    assert facts["stopped"] == "interrupted"
    assert_honest(facts)
    assert facts["bound"] > 0


def test_a_search_can_be_stopped_while_it_looks_for_a_start():
    run = Run()
    run.stop("interrupted")
    began = time.process_time()
    facts = search(run).facts
    assert time.process_time() - began < SOON
    assert facts["stopped"] == "interrupted"
    assert_honest(facts)


def test_without_a_start_there_is_a_release_too():
    facts = search(Run(time_limit=1e-9), prunings=["bound"], direction="bottom-up").facts
    assert facts["stopped"] == "time limit"
    assert facts["cost"] == 3000**2  # one class


def test_a_search_that_is_cancelled_ends_at_once():
    run = Run()
    threading.Timer(0.5, run.cancel).start()
    before, began = threading.enumerate(), time.process_time()
    with pytest.raises(CancelledError):
        search(run)
    assert time.process_time() - began < SOON
    for thread in set(threading.enumerate()).difference(before):
        thread.join(SOON)
        assert not thread.is_alive()


@pytest.mark.parametrize("cost", ["dm", "ncp", "hdm"])
def test_what_solves_an_attribute_with_many_blocks_is_not_made_for_a_run_that_ended(cost):
    """That takes half a second, in which a cancelled thread would go on."""
    rows = table()
    costs = Costs(rows, domains_of(rows, "sps"), cost, Requirement(NAMES, (KAnonymity(40),)))
    run = Run()
    run.stop()
    with pytest.raises(RunOver):
        Innermost(costs, 0, 0, run)
    run.cancel()
    with pytest.raises(CancelledError):
        Innermost(costs, 0, 0, run)


class Stops(Run):
    """A run that is over after so many questions."""

    def __init__(self, questions):
        super().__init__()
        self.left = questions

    def should_continue(self):
        self.left -= 1
        if self.left == 0:
            self.stop("interrupted")
        return super().should_continue()


@pytest.mark.parametrize("questions", [5, 80, 500])
@pytest.mark.parametrize("cost", ["dm", "ncp"])
def test_stopped_in_the_middle_of_a_node_the_bound_still_holds(monkeypatch, questions, cost):
    monkeypatch.setattr(innermost, "SOME_CELLS", 50)
    rows = table(60, (6, 5, 3))
    best = search(Run(), rows, k=5, cost=cost, suppress=0.2).facts
    prunings = [word for word in PRUNINGS if word != "seeding"]
    facts = search(Stops(questions), rows, k=5, cost=cost, suppress=0.2, prunings=prunings).facts
    assert best["optimal"]
    assert facts["bound"] <= best["cost"] + 1e-9
    assert facts["cost"] >= best["cost"] - 1e-9
    assert facts["stopped"] in ("proven", "interrupted")


@pytest.mark.parametrize(("scheme", "cost"), [("sps", "dm"), ("sps", "ncp"), ("ops", "ncp"), ("bhs", "cm")])
def test_where_work_is_cut_plays_no_part(monkeypatch, scheme, cost):
    rows = table(80, (6, 5, 3))
    whole = search(Run(), rows, k=5, scheme=scheme, cost=cost, suppress=0.1)
    monkeypatch.setattr(innermost, "SOME_CELLS", 7)
    monkeypatch.setattr(innermost, "SOME_WAYS", 3)
    cut = search(Run(), rows, k=5, scheme=scheme, cost=cost, suppress=0.1)
    assert cut.recoding == whole.recoding
    assert cut.facts == whole.facts


@pytest.mark.parametrize("wait", [0.5, 4.0])
def test_an_interrupt_ends_the_command_with_one_line(tmp_path, wait):
    """Also in the middle of the longest kernel."""
    rng = random.Random(1)
    lines = [",".join(str(rng.randrange(size)) for size in SIZES) for _ in range(3000)]
    (tmp_path / "people.csv").write_text("\n".join(["a,b,c", *lines]))
    words = ["anonymize", "people.csv", "-o", "release.csv", "--qi", "a,b,c", "--k", "40", "--method", "optimal"]
    words += ["--scheme", "sps", "--suppress", "1", *(f"--type={name}=text" for name in "abc")]
    command = [sys.executable, "-c", "from incrowd.cli import main; main()", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with started(command, cwd=tmp_path, **pipes) as process:
        assert process.stderr.readline().startswith("sps on a: 6.8e+11 partitions")
        time.sleep(wait)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        messages = list(process.stderr)  # until it ends
        assert process.wait() == 130
        assert time.monotonic() - began < SOON  # 0.2 to 0.6 where nothing else runs
        assert messages[2:] == ["error: interrupted; no file was written\n"]  # after the sizes of two other spaces
        assert not process.stdout.read()
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize("share", [0, 0.1])
def test_models_under_which_joining_can_spoil_a_class_are_proven_with_any_prunings(share):
    rows = table(60, (4, 3, 3))
    requirement = Requirement(NAMES, (Tables(5),))
    facts = [
        optimal(rows, (requirement,), Run(), suppress=share, prunings=prunings).facts
        for prunings in ("all", ["bound", "applicators", "useful", "seeding"])
    ]
    assert all(found["optimal"] and found["suppressed_records"] <= 60 * share for found in facts)
    assert facts[0]["cost"] == pytest.approx(facts[1]["cost"])
