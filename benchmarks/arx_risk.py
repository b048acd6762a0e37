"""Promises about all crowds together: the best full-domain generalization beside that of ARX, setting by setting.

    python -m benchmarks.arx_risk --shared ../shared/data            # writes results/arx_risk.md
    python -m benchmarks.arx_risk --shared ../shared/data --dry      # nothing written

As in `benchmarks.arx`. Population uniqueness is computed twice: with the sampling fraction as the table has it, which
is what the product does; and with ARX's population of 300,000 also where records are left out, so that the fraction
falls with each of them, which is done here alone.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import incrowd
from benchmarks.arx import NAMES, RESULTS, Found, Setting, Tables
from incrowd.population.uniqueness import Estimate, Sample, dankar, estimate
from incrowd.privacy.table_risk import ESTIMATORS, PopulationUniqueness

MODELS = {
    "average re-identification risk": "average_risk",
    "sample uniqueness": "sample_uniqueness",
    "population uniqueness": "population_uniqueness",
}
NO_ROOT = (
    "Newton's iteration from ARX's starting values, repeated here, leaves the model (theta = -156 and -482 at age "
    "levels 3 and 2, where theta has to be above -alpha), so its figure is no estimate; ours has the likeliest ones"
)
NO_SNB = (
    "ARX accepts no release with a record that is alone: its equation for pairs multiplies by (1 - d)^(alpha + 2) "
    "where the distribution divides by it; ours solves both equations"
)
CROSSES = (
    "with its population fixed, the sampling fraction falls below 0.1 as records are left out, so Dankar's choice "
    "turns to Pitman in the middle of the search, also ours with the population fixed; the rest is Pitman's difference"
)
FIXED = "ARX keeps the population of 300,000 as records are left out; ours keeps the sampling fraction"


def settings(shared: Path) -> Iterator[Setting]:
    """The lines about all crowds together."""
    with (shared / "arx_optima.csv").open() as file:
        for row in csv.DictReader(file):
            if row["model"] not in MODELS:
                continue
            share, *more = row["parameter"].split(",")
            words: dict[str, Any] = {MODELS[row["model"]]: float(share)}
            if more:
                words |= {"estimator": more[0].lower(), "sampling_fraction": 30_162 / int(more[1])}
            levels = tuple(map(int, row["optimal levels"].split()))
            arx = Found(levels, float(row["loss"]), int(row["records left out"]))
            yield Setting(row["model"], row["parameter"], float(row["suppression limit"]), words, arx)


def ours(tables: Tables, shared: Path, setting: Setting, *, fixed: bool = False) -> Found:
    """Our optimum, with the sampling fraction or the population fixed."""
    trees = shared / "hierarchies" / "adult_arx"
    kept = patch.object(PopulationUniqueness, "estimate", _of_everyone) if fixed else nullcontext()
    with kept:
        release = incrowd.anonymize(
            tables.whole.select(NAMES),
            quasi_identifiers=list(NAMES),
            taxonomies={name: trees / f"{name}.csv" for name in NAMES},
            method="incognito",
            suppress=setting.suppress,
            **setting.words,
        )
    total, levels = release.measures.total, release.found.facts["levels"]
    return Found(tuple(levels[name] for name in NAMES), total.ncp, total.suppressed)


def _of_everyone(model: PopulationUniqueness, sizes: Any) -> Estimate:
    sample = Sample.of(sizes, 300_000)
    return estimate(ESTIMATORS[model.estimator], sample) if ESTIMATORS[model.estimator] else dankar(sample)


def same(one: Found, other: Found) -> bool:
    """The same levels and as many records left out; which crowds of one that are makes a small difference."""
    return (one.levels, one.left_out) == (other.levels, other.left_out) and abs(one.loss - other.loss) < 2e-4


def why(setting: Setting, found: Found, fixed: Found) -> str:
    """Why an optimum is another one; empty where it is the same."""
    if same(found, setting.arx):
        return ""
    if same(fixed, setting.arx):
        return FIXED
    return {"pitman": NO_ROOT, "snb": NO_SNB, "dankar": CROSSES}.get(
        setting.words.get("estimator", ""), "not explained"
    )


def _lines(tables: Tables, shared: Path) -> Iterator[str]:
    equal, lines = 0, []
    for setting in settings(shared):
        found = ours(tables, shared, setting)
        fixed = ours(tables, shared, setting, fixed=True) if "estimator" in setting.words else found
        reason = why(setting, found, fixed)
        equal += not reason
        other = "" if fixed == found else str(fixed)
        columns = [
            setting.model,
            setting.parameter,
            f"{setting.suppress:g}",
            str(setting.arx),
            str(found),
            other,
            reason,
        ]
        lines.append(f"| {' | '.join(columns)} |")
    yield f"""# Risks of a whole release as promises, ours and ARX's

`python -m benchmarks.arx_risk --shared FOLDER`: {len(lines)} settings on Adult (30,162 records), columns
{", ".join(NAMES)}, ARX's trees, no k. An optimum is written as levels · loss (NCP, a left-out
record counts 1) · records left out; where both leave out as many of the smallest crowds, these may be other ones of the
same size, and losses differ from the fourth decimal on. In {equal} of them ours is the same.

- *Ours*: `incognito`, with the sampling fraction of the table (30,162 of 300,000) for population uniqueness.
- *Population fixed*: with 300,000 people also where records are left out, as ARX has it; computed here only; empty
  where it is the same.

| model | parameter | suppress | ARX | ours | population fixed | why they differ |
| --- | --- | ---: | --- | --- | --- | --- |"""
    yield from lines


def main() -> None:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True, help="the folder with arx_optima.csv")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()
    text = "\n".join(_lines(Tables(options.shared), options.shared)) + "\n"
    print(text)
    if not options.dry:
        (RESULTS / "arx_risk.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
