"""A release in a database and the files beside it: they belong together, whatever ends the process, and when."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.databases import no_server, postgres_server
from tests.faults.processes import MORE, heeding

SCRIPT = Path(__file__).with_name("publishing.py")
STRIDE = 4 if MORE == 1 else 1  # every fourth call, where there is no time for all
KINDS = ["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.skipif(bool(no_server()), reason=no_server()))]


@pytest.fixture(scope="module")
def server():
    with postgres_server() as url:
        yield url


def struck(folder, address, number, before, first):
    """What is found when a signal comes at each of many calls."""
    words = [sys.executable, SCRIPT, address, int(number), before, first, STRIDE]
    done = subprocess.run(
        [*map(str, words)], cwd=folder, capture_output=True, text=True, preexec_fn=heeding, check=False, timeout=600
    )
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert rounds[-1]["code"] == 0
    assert len(rounds) > 5 / STRIDE
    return rounds


def address_of(kind, request):
    return f"{request.getfixturevalue('server')}#rows" if kind == "postgresql" else f"a.{kind}#rows"


@pytest.mark.parametrize("before", ["old", "new"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_any_call_leaves_rows_and_files_that_belong_together(tmp_path, request, kind, before):
    if kind == "postgresql" and before == "new":
        before = "old"
    outcomes = set()
    for each in struck(tmp_path, address_of(kind, request), signal.SIGKILL, before, KINDS.index(kind) % STRIDE if kind in KINDS else 2):
        assert each["later"] == 0, each
        _, later, left = each["found"]
        assert later in ("new", {"old": "old", "new": "none"}[before]), each
        assert left == [], each
        outcomes.add(later)
    assert len(outcomes) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_at_any_call_is_answered_before_or_after_all_of_it_and_what_is_said_is_true(
    tmp_path, request, kind, number
):
    for each in struck(tmp_path, address_of(kind, request), number, "old", 1 if number == signal.SIGINT else 3):
        between, later, left = each["found"]
        assert (each["code"], each["later"], between, left) == (0, 0, later, []), each
        assert later in ("old", "new"), each
        assert bool(each["said"]) == (later == "new"), each
