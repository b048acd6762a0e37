"""Top-down search that does not get stuck: plain, the best of 20 restarts, and a restart chosen on rows held out.

A greedy search that has spent its anonymity cannot take a step back. Restarts differ in the weights of attributes and
in the room that cuts leave. Chosen by what the classes tell of the target, which is all that a search sees, they may be
wrong about attributes that other columns tell as well; a classifier on training rows that were held out knows better.

Taxonomies bind what these searches can find: the children of a node are released all or none. So the same is done where
one child may be shown while the others stay together (`partial`). And it is done without taxonomies, where values are
shown one by one, and the better of that and of the first is taken, judged by the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_for
from incrowd.evaluation.rows import drawn_parts
from incrowd.evaluation.trial import Trial
from incrowd.formats.registry import open_source
from incrowd.policy.policy import Policy
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.search.top_down.search import Task
from incrowd.search.top_down.top_down import searches
from papers.adult import errors_of, policy_of, trial_of
from papers.classifier_errors import LABELS, TOP, TOPS, curve, level, lost, span
from papers.experiment import Effort, Outcome, Panel, Row, percent, verdict_of

CROWDS = (20, 100, 300, 600)
RESTARTS, TRIED = 20, 40
NEAR = 1.0  # points above the baseline
PLAIN, AGAIN, HELD_OUT = "plain", f"{RESTARTS} restarts", "chosen on rows held out"
PARTIAL, EITHER = f"{HELD_OUT}, partial", f"{HELD_OUT}, also without taxonomies"

WAYS: dict[str, dict[str, Any]] = {
    "with taxonomies": {},
    "with parts of taxonomies": {"partial": True},
    "without taxonomies": {"with_taxonomies": False},
}


@dataclass(frozen=True, order=True)
class _Chosen:
    """What a search found, and how it does on rows held out; the least is the best."""

    error: float
    number: int
    recoding: Recoding = field(compare=False)
    policy: Policy = field(compare=False)


def restarts(effort: Effort) -> Outcome:
    """Top5 and Top7 by k."""
    trial, rows = trial_of(effort, "c45"), list[Row]()
    held_out = _held_out(trial)
    for name in ("Top5", "Top7"):
        names = TOP[: TOPS[name]]
        for k in effort.some(*CROWDS):
            effort.say(f"{name}, k={k}")
            baseline, plain, upper = errors_of(trial, policy_of(effort, names, k, "tdr"), "together")
            again = errors_of(trial, policy_of(effort, names, k, "tdr", restarts=RESTARTS), "together")[1]
            whole, parted, flat = (
                _chosen(effort, held_out, policy_of(effort, names, k, "tdr", **words), f"{name}, k={k}, {way}")
                for way, words in WAYS.items()
            )
            either = min(whole, flat, key=lambda each: each.error)
            errors = {PLAIN: plain, AGAIN: again}
            for how, one in {HELD_OUT: whole, PARTIAL: parted, EITHER: either}.items():
                errors[how] = _error(trial, one.recoding, one.policy)
            for how, error in errors.items():
                curves = {"top": name, "requirement": how, "k": k}
                rows.append({**curves, "error": error, "baseline": baseline, "upper": upper})
    return Outcome([*rows, *_levels(rows)], _panels(), *_verdict(rows))


def _held_out(trial: Trial) -> Trial:
    """The training rows of a trial alone, a third of them to test on."""
    train, _ = trial.parts[0]
    parts, _ = drawn_parts(trial.truth[train], 1 / 3, None, 0)
    return replace(trial, parts=tuple((train[learn], train[ask]) for learn, ask in parts), _known={})


def _chosen(effort: Effort, held_out: Trial, policy: Policy, said: str) -> _Chosen:
    """The release, of all that a search and its restarts find, that errs least on the rows held out."""
    source = open_source(held_out.table)
    table = compressed(engine_for(policy, source), source, policy, Run())
    found: dict[object, _Chosen] = {}
    task = Task(table, policy.requirements, "tdr", partial=policy.options.get("partial", False))
    for number, result in enumerate(searches(task, Run(), 3 if effort.quick else TRIED)):
        effort.say(f"{said}, search {number}")
        release = frozenset((step.attribute, step.value, step.children) for step in result.steps)
        if release not in found:
            found[release] = _Chosen(_error(held_out, result.recoding, policy), number, result.recoding, policy)
    return min(found.values())


def _error(trial: Trial, recoding: Recoding, policy: Policy) -> float:
    """The error in percent with all rows recoded in one way."""
    (mistakes,) = trial.recoded(recoding, policy, intervals="categories")["c45"]
    return percent(float(mistakes.mean()))


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
        for how in (PLAIN, AGAIN, HELD_OUT, PARTIAL, EITHER)
    }
    chosen = (HELD_OUT, PARTIAL, EITHER)
    near = {how: [loss <= NEAR for top in ("Top5", "Top7") for loss in losses[top, how]] for how in chosen}
    told = ", ".join(f"{top}, {how}, loses {span(values, 2)}" for (top, how), values in losses.items())
    counted = "; ".join(f"{how}, at {sum(held)} of {len(held)}" for how, held in near.items())
    crowds = sorted({row["k"] for row in rows})
    found = (
        f"{told} points for k from {crowds[0]} to {crowds[-1]} (baseline {rows[0]['baseline']:.1f} %); within {NEAR:g} "
        f"point it is, {counted} points"
    )
    return verdict_of(near[PARTIAL]), found
