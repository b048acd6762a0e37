"""The best full-domain generalization beside that of ARX: every setting of `arx_optima.csv` whose model we have.

    python -m benchmarks.arx --shared ../shared/data            # writes results/arx.md
    python -m benchmarks.arx --shared ../shared/data --dry      # nothing written

ARX's figures were printed by ARX; the README beside the file says how. Ours are those of `incognito` on the same
records, trees and columns, three times where records may be left out: compared with the released rows, without the
decoys that keep being left out from telling a secret; compared with the original table as ARX does, which is done here
and not in the product; and as released, decoys included.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

import incrowd
from incrowd.search import leaving_out

RESULTS = Path(__file__).parent / "results"
NAMES = ("sex", "race", "marital-status", "education", "age")  # the order of the levels in the file
SECRET = "occupation"
COUNTED = "equal"
CLOSE = 1e-6  # some losses of ARX are cut off after ten decimals


@dataclass(frozen=True)
class Found:
    """An optimum: a level per column, the loss (left-out records have lost everything), the records left out."""

    levels: tuple[int, ...]
    loss: float
    left_out: int

    def equals(self, other: Found) -> bool:
        return (self.levels, self.left_out) == (other.levels, other.left_out) and abs(self.loss - other.loss) < CLOSE

    def __str__(self) -> str:
        return f"{' '.join(map(str, self.levels))} · {self.loss:.4f} · {self.left_out:,}"


@dataclass(frozen=True)
class Setting:
    """A line of the file.

    Args:
        model: As ARX calls it.
        parameter: Its parameter.
        suppress: The share of the records that may be left out.
        words: The same for us.
        arx: What ARX found.
    """

    model: str
    parameter: str
    suppress: float
    words: Mapping[str, Any]
    arx: Found

    @property
    def of_population(self) -> bool:
        return "k_map" in self.words or "delta_presence" in self.words


WORDS = {
    "entropy-l": lambda text: {"entropy_l": float(text)},
    "recursive-l (c,l)": lambda text: {"recursive_l": (float(text.split(",")[0]), int(text.split(",")[1]))},
    "t-closeness equal": lambda text: {"t": float(text), "t_distance": "equal"},
    "t-closeness hierarchical": lambda text: {"t": float(text), "t_distance": "hierarchical"},
    "beta-likeness": lambda text: {"beta_likeness": float(text)},
    "enhanced beta-likeness": lambda text: {"enhanced_beta_likeness": float(text)},
    "distinct l": lambda text: {"l": int(text)},
    "k-map": lambda text: {"k_map": int(text)},
    "delta-presence (0,d)": lambda text: {"delta_presence": float(text)},
}


class Tables:
    """Adult as ARX has it, and its sample."""

    def __init__(self, shared: Path) -> None:
        self._shared = shared
        whole = pcsv.read_csv(shared / "adult.data.csv")
        for name in whole.column_names:
            if pa.types.is_string(whole[name].type):
                whole = whole.filter(pc.not_equal(whole[name], "?"))
        self.whole = whole.select([*NAMES, SECRET])
        semicolons = pcsv.ParseOptions(delimiter=";")
        self.sample = pcsv.read_csv(shared / "adult_arx_subset.csv", parse_options=semicolons).select(NAMES)

    def settings(self) -> Iterator[Setting]:
        """The lines whose model we have."""
        with (self._shared / "arx_optima.csv").open() as file:
            for row in csv.DictReader(file):
                if row["model"] not in WORDS:
                    continue
                words = WORDS[row["model"]](row["parameter"])
                if row["k"]:
                    words["k"] = int(row["k"])
                levels = tuple(map(int, row["optimal levels"].split()))
                arx = Found(levels, float(row["loss"]), int(row["records left out"]))
                yield Setting(row["model"], row["parameter"], float(row["suppression limit"]), words, arx)

    def ours(self, setting: Setting, *, decoys: bool = True, original: bool = False) -> Found:
        """Our optimum, with or without decoys, compared with the released rows or the original ones."""
        trees = self._shared / "hierarchies" / "adult_arx"
        names = (*NAMES, SECRET) if "t" in setting.words else NAMES
        words: dict[str, Any] = {
            "quasi_identifiers": list(NAMES),
            "taxonomies": {name: trees / f"{name}.csv" for name in names},
            "method": "incognito",
            "suppress": setting.suppress,
            **setting.words,
        }
        if setting.of_population:
            table, words["population_table"] = self.sample, self.whole.select(NAMES)
        else:
            table, words["sensitive"] = self.whole, [SECRET]
        with patch.multiple(leaving_out, **_changes(decoys=decoys, original=original)):
            release = incrowd.anonymize(table, **words)
            total, levels = release.measures.total, release.found.facts["levels"]
        return Found(tuple(levels[name] for name in NAMES), total.ncp, total.suppressed)


def _changes(*, decoys: bool, original: bool) -> dict[str, Any]:
    """What the search does in another way, for figures alone."""
    return {
        "_reveals": leaving_out._reveals if decoys else lambda *words: False,
        "compared": (lambda requirements, table, kept: requirements) if original else leaving_out.compared,
    }


def why(setting: Setting, ours: Found, tables: Tables) -> str:
    """Why an optimum is another one; empty where it is the same."""
    arx, others = setting.arx, len(tables.whole) - len(tables.sample)
    if setting.of_population and setting.suppress:
        arx = Found(arx.levels, arx.loss, arx.left_out - others)
    if ours.equals(arx):
        return (
            "" if arx == setting.arx else f"{COUNTED}: ARX counts the {others:,} people outside the sample as left out"
        )
    if arx.left_out == len(tables.whole):
        return "ARX's answer leaves out everyone, more than its limit; the top node satisfies t with nobody left out"
    if tables.ours(setting, decoys=False, original=True).equals(arx):
        return "ARX compares with the original table, which a recipient does not have"
    return "not explained"


def _lines(tables: Tables) -> Iterator[str]:
    equal, lines = 0, []
    for setting in tables.settings():
        plain = tables.ours(setting, decoys=False)
        original = tables.ours(setting, decoys=False, original=True) if setting.suppress else plain
        released = tables.ours(setting) if setting.suppress else plain
        reason = why(setting, plain, tables)
        equal += not reason or reason.startswith(COUNTED)
        columns = [
            setting.model,
            setting.parameter,
            f"{setting.suppress:g}",
            str(setting.arx),
            str(plain),
            "" if original == plain else str(original),
            "" if released == plain else str(released),
            reason,
        ]
        lines.append(f"| {' | '.join(columns)} |")
    yield f"""# The best full-domain generalization, ours and ARX's

`python -m benchmarks.arx --shared FOLDER`: {len(lines)} settings on Adult (30,162 records; for k-map and delta-presence
3,016 of them, the others being the population), columns {", ".join(NAMES)},
sensitive {SECRET}, ARX's trees, k = 2 beside the models of {SECRET}. An optimum is written
as levels · loss (NCP, a left-out record counts 1) · records left out. In {equal} of them ours is the same.

- *Ours*: `incognito`, compared with the released rows, without decoys.
- *Beside the original*: compared with the original table as ARX does, computed here only; empty where it is the same.
- *As released*: with the records that are left out as well so that being left out tells no occupation; empty where it
  is the same. ARX does not protect against that. They are drawn by the key, so the figures differ a little each time.

| model | parameter | suppress | ARX | ours | beside the original | as released | why they differ |
| --- | --- | ---: | --- | --- | --- | --- | --- |"""
    yield from lines


def main() -> None:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True, help="the folder with arx_optima.csv")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()
    text = "\n".join(_lines(Tables(options.shared))) + "\n"
    print(text)
    if not options.dry:
        (RESULTS / "arx.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
