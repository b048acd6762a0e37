"""On tables that are released as they are, attacks succeed as often as those of anonymeter, within its intervals.

Its figures and the command that made them are in anonymeter.json and anonymeter_figures.py.
"""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.attacks.anonymeter_figures import ATTACKS, KNOWN, SEED, tables

from incrowd.attacks.attack import attack
from incrowd.attacks.crowds import Crowds
from incrowd.attacks.problem import problem_of
from incrowd.attacks.singling_out import Family, _score
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.run import Run

FIGURES = json.loads(Path(__file__).with_name("anonymeter.json").read_text())
TABLES = {name: (pa.Table.from_pandas(people), pa.Table.from_pandas(others)) for name, people, others in tables()}


def played_on(name, known):
    people, others = (open_source(table) for table in TABLES[name])
    policy = make_policy(quasi_identifiers=known, k=2)
    return problem_of(people, people, policy, control=others, trials=ATTACKS, run=Run())


def agrees(theirs, ours, trials):
    """Within both intervals: theirs as they are, ours of as many trials (normal, twice the standard error)."""
    error = theirs["error"] + 2 * (max(ours * (1 - ours), 0.01) / trials) ** 0.5
    return abs(theirs["rate"] - ours) <= error


@pytest.mark.parametrize("name", TABLES)
def test_secrets_are_guessed_as_often(name):
    """Theirs guess by a decision tree that is fully grown: the most frequent value of those who look the same."""
    people, others = TABLES[name]
    known, secret, _ = KNOWN[name]
    words = {"quasi_identifiers": known, "sensitive": [secret], "only": ["inference"]}
    score = attack(people, people, control=others, **words)["inference"].worst
    assert agrees(FIGURES[name]["inference"]["attack"], score.share, score.trials)
    assert agrees(FIGURES[name]["inference"]["control"], score.control_share, score.control_trials)


@pytest.mark.parametrize("name", TABLES)
def test_predicates_on_three_columns_single_out_as_often(name):
    problem, rng = played_on(name, KNOWN[name][0]), np.random.default_rng(SEED)
    families = [Family.of(problem, names, rng) for names in combinations(problem.columns, 3)]
    score = _score(problem, "three columns", families, 1, rng, Run())
    assert agrees(FIGURES[name]["singling-out"]["attack"], score.share, score.trials)
    assert agrees(FIGURES[name]["singling-out"]["control"], score.control_share, score.control_trials)


@pytest.mark.parametrize("name", TABLES)
def test_halves_of_a_record_are_linked_as_often(name):
    """Both halves have the same nearest record: of those that fit either half, the first fits both.

    Which of several equally near records it takes depends on how numbers are sorted, so most halves fit one record.
    """
    halves = KNOWN[name][2]
    problem = played_on(name, [*halves[0], *halves[1]])

    def linked(table):
        sets = (halves[0], halves[1], [*halves[0], *halves[1]])
        one, other, both = (Crowds.of(problem.released, names).candidates(table.rows(names), Run()) for names in sets)
        return float(np.mean(both / np.maximum(one + other - both, 1)))

    assert agrees(FIGURES[name]["linking"]["attack"], linked(problem.original), ATTACKS)
    assert agrees(FIGURES[name]["linking"]["control"], linked(problem.control), ATTACKS)
