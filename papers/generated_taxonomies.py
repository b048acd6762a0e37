"""The taxonomies that TDS makes of numbers: TDS figure 6."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.formats.registry import open_source
from incrowd.inspection.first_look import Look
from incrowd.recodings.steps import SplitInterval, Step
from incrowd.release.release import release_of
from papers.adult import ATTRIBUTES, adult_rows, all_rows, in_shape_of, policy_of
from papers.classifier_errors import TOP
from papers.experiment import Effort, Outcome, Panel, Row, verdict_of, with_both_trees

NUMBERS = ("hours-per-week", "education-num")
K, PAPER_SPLIT = 60, 13
TAXONOMIES = {"taxonomies": True, "no taxonomies": False}


def generated_trees(effort: Effort) -> Outcome:
    """TDS, figure 6."""
    return with_both_trees(_generated_trees, effort, in_shape_of("spouses_apart", ATTRIBUTES))


def _generated_trees(effort: Effort) -> Outcome:
    rows: list[Row] = []
    for words, with_taxonomies in TAXONOMIES.items():
        effort.say(f"with {words}")
        policy = policy_of(effort, TOP[:7], K, "tds", with_taxonomies=with_taxonomies)
        steps = release_of(open_source(all_rows(effort.records)), policy, look=Look()).steps
        for name in NUMBERS:
            rows += intervals(name, steps, words)
    splits = {(row["taxonomies"], row["attribute"]): row["split"] for row in rows if row["depth"] == 0}
    panels = tuple(
        Panel(
            "low", "depth", "attribute", {"attribute": name, "taxonomies": words}, f"{name}, {words}", "bars",
            until="high", labels={"low": name, "depth": ""},
        )
        for words in TAXONOMIES
        for name in NUMBERS
    )  # fmt: skip
    told = "; ".join(
        f"with {words} " + " and ".join(f"{name} {_split(splits[words, name])}" for name in NUMBERS)
        for words in TAXONOMIES
    )
    same = [splits[words, "education-num"] == PAPER_SPLIT for words in TAXONOMIES]
    return Outcome(rows, panels, verdict_of(same), told)


def intervals(name: str, steps: Sequence[Step], taxonomies: str) -> list[Row]:
    """The intervals of one attribute, from the whole range down, and where each was split."""
    values = sorted(set(adult_rows()[name].to_pylist()))
    ends = [*values, values[-1] + 1]
    row = {"taxonomies": taxonomies, "attribute": name}
    found = [{**row, "depth": 0, "low": ends[0], "high": ends[-1], "split": None, "label": "*"}]
    for step in steps:
        if step.attribute != name or not isinstance(step.change, SplitInterval):
            continue
        parent = next(each for each in found if each["label"] == step.value)
        middle = _bound(step.children[1])
        parent["split"] = middle
        for label, low, high in zip(step.children, (parent["low"], middle), (middle, parent["high"]), strict=True):
            found.append({**row, "depth": parent["depth"] + 1, "low": low, "high": high, "split": None, "label": label})
    return found


def _bound(label: str | None) -> int:
    """Where an interval that is not the lowest begins."""
    label = str(label)
    return int(label[2:] if label.startswith(">=") else label[1:].split("-")[0])


def _split(value: int | None) -> str:
    return "is not split at all" if value is None else f"is first split at {value}"
