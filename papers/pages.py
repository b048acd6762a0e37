"""What is written of an experiment: data as CSV, a plot, a section of text; and the page that has them all."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path

from incrowd.formats.atomic_files import AtomicFiles
from papers.experiment import Experiment, Outcome, Row
from papers.plots import svg_of

PAGE = "papers.md"
FOLDER = "papers"
_SECTION = re.compile(r"^## (\S+)$", flags=re.MULTILINE)
_HEAD = """# The experiments of the papers

Each figure of the five papers, run again on the shipped census data (Adult, 30,162 training and 15,060 test records).
This page and its plots are made by

    make papers

and one of them again by `python -m papers NAME --docs docs/`; `python -m papers` lists them, `--quick` takes fewer
points. It needs scikit-learn and matplotlib (`pip install .[eval,plot]`) and no network. Errors come from the
one test set, where their 95 % interval is about ±0.6 points; times are CPU seconds of one shared machine.
A search for an optimum is stopped after 60 seconds on the clock, in optimal-13 after 10, and
without a solved attribute after 5.

What differs throughout: the papers print how many leaves and levels their taxonomies have, not the taxonomies, so ours
of these shapes are used (`papers/taxonomies`; `--taxonomies FOLDER` takes others where classifiers are trained).
Classifiers are `c45`, our own implementation of C4.5 as released, and `bayes10`
([more](evaluate.md)).
"""


def write_experiment(folder: Path, name: str, experiment: Experiment, outcome: Outcome) -> None:
    """Write NAME.csv, NAME.svg and NAME.md into a folder."""
    section = section_of(name, experiment, outcome, "")
    _write(
        folder, {f"{name}.csv": csv_of(outcome.rows), f"{name}.svg": svg_of(outcome), f"{name}.md": section.encode()}
    )


def update_page(docs: Path, known: Mapping[str, Experiment], name: str, outcome: Outcome) -> None:
    """Put an experiment into the page: its section, its plot and its data; sections of others stay."""
    page = docs / PAGE
    sections = sections_of(page.read_text(encoding="utf-8")) if page.exists() else {}
    sections[name] = section_of(name, known[name], outcome, f"{FOLDER}/")
    _write(docs / FOLDER, {f"{name}.csv": csv_of(outcome.rows), f"{name}.svg": svg_of(outcome)})
    _write(docs, {PAGE: page_of(known, sections).encode()})


def page_of(known: Mapping[str, Experiment], sections: Mapping[str, str]) -> str:
    """The page with those sections, in the order of the registry."""
    present = [name for name in known if name in sections]
    lines = ["| experiment | figure | measured | |", "| --- | --- | --- | --- |"]
    for name in present:
        found = re.search(r"\*\*(.*?)\*\*", sections[name])
        verdict = found.group(1).removeprefix("It ").removesuffix(":") if found else ""
        lines.append(f"| [{name}](#{name}) | {known[name].paper} | {known[name].title} | {verdict} |")
    return "\n".join([_HEAD, *lines, "", *(sections[name] for name in present)])


def section_of(name: str, experiment: Experiment, outcome: Outcome, folder: str) -> str:
    """The section of an experiment.

    Args:
        name: Its name.
        experiment: What it is.
        outcome: What was found.
        folder: Where plot and data lie, seen from the page.
    """
    return "\n".join(
        [
            f"## {name}",
            "",
            f"*{experiment.paper}: {experiment.title}.* The paper: {experiment.claim}.",
            "",
            f"**{outcome.verdict}:** {outcome.found}.",
            "",
            f"What differs: {experiment.differs}.",
            "",
            f"![{experiment.title}]({folder}{name}.svg)",
            "",
            f"[Data]({folder}{name}.csv)",
            "",
        ]
    )


def sections_of(page: str) -> dict[str, str]:
    """The sections of a page by name."""
    starts = list(_SECTION.finditer(page))
    ends = [*(start.start() for start in starts[1:]), len(page)]
    return {
        start.group(1): page[start.start() : end].rstrip("\n") + "\n" for start, end in zip(starts, ends, strict=True)
    }


def csv_of(rows: list[Row]) -> bytes:
    """Rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files that appear together."""
    folder.mkdir(parents=True, exist_ok=True)
    with AtomicFiles() as files:
        for name, content in contents.items():
            files.open(folder / name).write_bytes(content)
