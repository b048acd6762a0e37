"""The journalist's risk beside the truth: whole tables are taken as populations, and samples drawn from them assessed.

    python -m benchmarks.journalist --shared ../shared/data            # all settings; writes results/journalist.md
    python -m benchmarks.journalist                                    # Adult and the generated population alone
    python -m benchmarks.journalist --shared ../shared/data --dry      # nothing written

The truth is counted in the population: the mean of 1 / F over the records of the sample, and how many of them have
fewer than five people. Beside it stand what incrowd says, or the bound that it gives where it does not estimate, and
what two simpler formulas would say: f / fraction people for f records, and Benedetti and Franconi's posterior with all
rates equally likely.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pc

import incrowd
from incrowd import datasets
from incrowd.formats.registry import open_source
from incrowd.population.estimates import ESTIMATED, mean_inverse

RESULTS = Path(__file__).parent / "results"
FRACTIONS = (0.01, 0.02, 0.05, 0.1)
SAMPLES = 5
CROWD = 5
COUNTED_FROM = 50  # records at risk: the number of fewer is chance
NINE = {"adult, 8", "fars, 5", "mach2019, 6"}  # at three fractions: the first table of the page

COLUMNS = {
    "adult": [
        ["age", "sex", "race", "marital-status"],
        ["age", "education", "sex", "race", "native-country"],
        ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"],
        ["age", "education", "education-num", "sex"],
        ["age"],
    ],
    "fars": [
        ["CASE_STATE", "AGE", "SEX"],
        ["CASE_STATE", "AGE", "SEX", "PERSON_TYPE", "SEATING_POSITION"],
        ["AGE", "SEX", "PERSON_TYPE", "RESTRAINT_SYSTEM-USE", "EJECTION", "ALCOHOL_TEST_RESULT"],
    ],
    "mach2019": [
        ["age", "gender", "race", "religion"],
        ["age", "familysize", "gender", "married", "race", "religion"],
        ["gender", "Q1A", "Q2A", "Q3A", "Q4A"],
    ],
    "creditcard": [
        ["AGE", "SEX", "EDUCATION", "MARRIAGE"],
        ["AGE", "SEX", "EDUCATION", "MARRIAGE", "LIMIT_BAL"],
        ["PAY_0", "PAY_2", "PAY_3", "PAY_4", "SEX"],
    ],
    "generated": [["zip", "age", "sex"], ["zip", "sex"], ["birth", "sex"], ["birth", "zip", "sex"], ["zip"]],
}
FILES = {"fars": "fars_pmlb.csv.gz", "mach2019": "mach2019_int.csv.gz", "creditcard": "creditcard_int.csv.gz"}


@dataclass(frozen=True)
class Trial:
    """One sample.

    Args:
        setting: Table and number of columns.
        fraction: The share that was drawn.
        truth: The mean of 1 / F over its records.
        at_risk: Its records with F below five.
        estimated: Whether there is a figure, and not a bound.
        said: The figure, or the bound.
        said_at_risk: The same for the records at risk.
        plain: What f / fraction people for f records give.
        flat: What Benedetti and Franconi's prior gives.
    """

    setting: str
    fraction: float
    truth: float
    at_risk: int
    estimated: bool
    said: float
    said_at_risk: int
    plain: float
    flat: float


def generated(people: int = 100_000, seed: int = 1) -> pa.Table:
    """People with a zip code of 3,000 of very different sizes, a day of birth and a sex, all independent."""
    random = np.random.default_rng(seed)
    shares = random.pareto(1.1, 3000) + 0.1
    birth = random.integers(0, 25_550, people)
    zips = random.choice(3000, people, p=shares / shares.sum())
    return pa.table({"zip": zips, "birth": birth, "sex": random.integers(0, 2, people), "age": birth // 365})


def tables(shared: Path | None) -> Iterator[tuple[str, pa.Table]]:
    """The populations."""
    yield "adult", pa.Table.from_batches(list(open_source(datasets.adult()).batches()))
    yield "generated", generated()
    for name, file in FILES.items():
        if shared is not None:
            delimiter = "," if name == "fars" else ";"
            yield name, pc.read_csv(shared / file, parse_options=pc.ParseOptions(delimiter=delimiter))


def classes_of(table: pa.Table, columns: Sequence[str]) -> npt.NDArray[np.int64]:
    """The class of each record, as a number."""
    found = np.zeros(len(table), np.int64)
    for name in columns:
        codes = table[name].combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
        found = np.unique(found * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return found


def trial(name: str, table: pa.Table, columns: Sequence[str], fraction: float, seed: int) -> Trial:
    """Draw a sample, and assess it."""
    classes = classes_of(table, columns)
    people = np.bincount(classes)
    chosen = np.random.default_rng(seed).choice(len(table), round(len(table) * fraction), replace=False)
    matching = people[classes[chosen]]
    sizes = np.bincount(classes[chosen])
    sizes = sizes[sizes > 0].astype(float)
    risk = incrowd.assess(
        table.select(list(columns)).take(np.sort(chosen)),
        quasi_identifiers=columns,
        sampling_fraction=fraction,
        max_size=1,
    )
    assert risk.journalist is not None
    chance = np.full(len(sizes), fraction)
    flat = float(sizes @ mean_inverse(sizes, np.zeros(len(sizes)), chance)) / len(chosen)
    return Trial(
        f"{name}, {len(columns)}: {', '.join(columns)}",
        fraction,
        float((1 / matching).mean()),
        int((matching < CROWD).sum()),
        risk.journalist.how == ESTIMATED,
        float(risk.journalist.average),
        risk.journalist.at_risk,
        float(risk.prosecutor.average) * fraction,
        flat,
    )


def page(trials: Sequence[Trial], command: str) -> str:
    """The results."""
    first = [t for t in trials if t.setting.partition(":")[0] in NINE and t.fraction > FRACTIONS[0]]
    lines = [
        "# The journalist's risk beside the truth",
        "",
        f"`{command}`: a whole table is the population, {SAMPLES} simple random samples of",
        "each fraction are assessed with `--sampling-fraction`. The average risk is the mean of 1 / F over the records",
        f"of a sample, F counted in the population; at risk are records with F below {CROWD}. What is said is",
        "divided by the truth: the lowest and the highest quotient. The number at risk is compared where it is",
        f"{COUNTED_FROM} or more, since fewer are chance.",
        "",
        '"Plain" takes f records of a fraction p for f / p people, as incrowd did before; "flat" is Benedetti and',
        "Franconi's posterior mean with all rates equally likely.",
        "",
        *(_table("Nine settings", first) if first else []),
        *_table("All settings in which a figure is given", [t for t in trials if t.estimated]),
        *_bounds([t for t in trials if not t.estimated]),
    ]
    given = [t for t in trials if t.estimated]
    close = sum(_within(t.said / t.truth) for t in given)
    counted = [t for t in given if t.at_risk >= COUNTED_FROM]
    close_counts = sum(_within(t.said_at_risk / t.at_risk) for t in counted)
    lines += [
        f"A figure was given for {len(given)} of {len(trials)} samples. The average was within a factor of 1.5 of the",
        f"truth in {close} of {len(given)}, the number at risk in {close_counts} of {len(counted)}.",
        "",
    ]
    return "\n".join(lines)


def _within(quotient: float) -> bool:
    return 1 / 1.5 <= quotient <= 1.5


def _grouped(trials: Sequence[Trial]) -> Iterator[tuple[str, float, list[Trial]]]:
    for setting, fraction in dict.fromkeys((t.setting, t.fraction) for t in trials):
        yield setting, fraction, [t for t in trials if (t.setting, t.fraction) == (setting, fraction)]


def _table(title: str, trials: Sequence[Trial]) -> list[str]:
    lines = [
        f"## {title}",
        "",
        "| population, columns | fraction | samples | average | said / true | plain | flat | at risk | said / true |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for setting, fraction, own in _grouped(trials):
        counted = [t.said_at_risk / t.at_risk for t in own if t.at_risk >= COUNTED_FROM]
        cells = [
            setting,
            f"{fraction:g}",
            str(len(own)),
            _span([t.truth for t in own], 3),
            _span([t.said / t.truth for t in own], 2),
            _span([t.plain / t.truth for t in own], 2),
            _span([t.flat / t.truth for t in own], 2),
            _span([t.at_risk for t in own], 0),
            _span(counted, 2) if counted else "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _bounds(trials: Sequence[Trial]) -> list[str]:
    lines = [
        "## Where there is only a bound",
        "",
        "| population, columns | fraction | samples | true average | bound / true | truly at risk | bound |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for setting, fraction, own in _grouped(trials):
        cells = [
            setting,
            f"{fraction:g}",
            str(len(own)),
            _span([t.truth for t in own], 3),
            _span([t.said / t.truth for t in own], 2),
            _span([t.at_risk for t in own], 0),
            _span([t.said_at_risk for t in own], 0),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    held = sum(t.said >= t.truth and t.said_at_risk >= t.at_risk for t in trials)
    return [*lines, "", f"Both bounds held in {held} of {len(trials)} samples.", ""]


def _span(values: Sequence[float], digits: int) -> str:
    low, high = (f"{end:,.{digits}f}" for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def main() -> None:
    """Run all settings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, help="folder with fars, mach2019 and creditcard")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    trials = [
        trial(name, table, columns, fraction, seed)
        for name, table in tables(arguments.shared)
        for columns in COLUMNS[name]
        for fraction in FRACTIONS
        for seed in range(SAMPLES)
    ]
    text = page(trials, "python -m benchmarks.journalist" + (" --shared FOLDER" if arguments.shared else ""))
    print(text)
    if not arguments.dry:
        (RESULTS / "journalist.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
