"""Top-down search that does not get stuck: plain, the best of 20 restarts, and a restart chosen on rows held out.

A greedy search that has spent its anonymity cannot take a step back. Restarts differ in the weights of attributes and
in the room that cuts leave. Chosen by what the classes tell of the target, which is all that a search sees, they may be
wrong about attributes that other columns tell as well; a classifier on training rows that were held out knows better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incrowd.evaluation.rows import drawn_parts
from incrowd.evaluation.trial import Trial
from incrowd.formats.registry import open_source
from incrowd.pipeline import release_of
from incrowd.policy.policy import Policy
from papers.adult import all_rows, errors_of, policy_of, trial_of
from papers.classifier_errors import LABELS, TOP, TOPS, curve, level, lost, span
from papers.experiment import Effort, Outcome, Panel, Row, verdict_of

CROWDS = (20, 100, 300, 600)
RESTARTS, SEEDS = 20, 40
NEAR = 1.0  # points above the baseline
PLAIN, AGAIN, HELD_OUT = "plain", f"{RESTARTS} restarts", "chosen on rows held out"


def restarts(effort: Effort) -> Outcome:
    """Top5 and Top7 by k."""
    trial, rows = trial_of(effort, "c45"), []
    for name in ("Top5", "Top7"):
        names = TOP[: TOPS[name]]
        for k in effort.some(*CROWDS):
            policies = {
                PLAIN: policy_of(effort, names, k, "tdr"),
                AGAIN: policy_of(effort, names, k, "tdr", restarts=RESTARTS),
                HELD_OUT: _chosen(effort, trial, names, k),
            }
            for how, policy in policies.items():
                effort.say(f"{name}, k={k}, {how}")
                baseline, error, upper = errors_of(trial, policy, "together")
                curves = {"top": name, "requirement": how, "k": k}
                rows.append({**curves, "error": error, "baseline": baseline, "upper": upper})
    return Outcome([*rows, *_levels(rows)], _panels(), *_verdict(rows))


def _chosen(effort: Effort, trial: Trial, names: Sequence[str], k: int) -> Policy:
    """The search, of many that restart once, whose release errs least on a third of the training rows."""
    train, _ = trial.parts[0]
    parts, _ = drawn_parts(trial.truth[train], 1 / 3, None, 0)
    held_out = replace(trial, parts=tuple((train[learn], train[ask]) for learn, ask in parts), _known={})
    found: dict[object, tuple[float, int, Policy]] = {}
    for seed in range(3 if effort.quick else SEEDS):
        effort.say(f"{len(names)} attributes, k={k}, seed {seed}")
        policy = replace(policy_of(effort, names, k, "tdr", restarts=1), seed=seed)
        steps = release_of(open_source(all_rows(effort.records)), policy).steps
        release = frozenset((step.attribute, step.value, step.children) for step in steps)
        if release not in found:
            found[release] = (errors_of(held_out, policy, "together")[1], seed, policy)
    return min(found.values(), key=lambda each: each[:2])[2]


def _levels(rows: list[Row]) -> list[Row]:
    """The baseline, in both panels."""
    return [
        row for top in ("Top5", "Top7") for row in level([r for r in rows if r["top"] == top], "baseline", "baseline")
    ]


def _panels() -> tuple[Panel, ...]:
    return tuple(
        Panel("k", "error", "requirement", {"top": top}, top, log="x", labels=LABELS) for top in ("Top5", "Top7")
    )


def _verdict(rows: list[Row]) -> tuple[str, str]:
    """Whether restarts come near the baseline."""
    losses = {
        (top, how): lost(curve([row for row in rows if row["top"] == top], how))
        for top in ("Top5", "Top7")
        for how in (PLAIN, AGAIN, HELD_OUT)
    }
    near = [loss <= NEAR for (_, how), values in losses.items() if how == HELD_OUT for loss in values]
    told = ", ".join(f"{top}, {how}, loses {span(values, 2)}" for (top, how), values in losses.items())
    crowds = sorted({row["k"] for row in rows})
    found = (
        f"{told} points for k from {crowds[0]} to {crowds[-1]} (baseline {rows[0]['baseline']:.1f} %); chosen on rows "
        f"held out, it is within {NEAR:g} point at {sum(near)} of {len(near)} points"
    )
    return verdict_of(near), found
