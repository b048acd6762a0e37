"""What attackers are played on: released rows, the original and other people as numbers, and what labels stand for."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.attacks.covers import Cover, Meanings, cover_of
from incrowd.errors import DataError, PolicyError, shorten
from incrowd.recodings.reading import read_recoding
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.table.scales import text_of
from incrowd.table.value_numbers import ValueNumbers

if TYPE_CHECKING:
    from incrowd.attacks.posterior import Rerun
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy, QuasiIdentifier

Codes = npt.NDArray[Any]  # whole numbers

TRIALS = 2_000  # of attacks that are too costly to try on everybody
MOST_PEOPLE = 100_000  # that are all tried; of more, this many are drawn
_DOUBTFUL = 0.05  # share of people whose values have no label
_CODEBOOK = ("column", "label", "value")


@dataclass(frozen=True)
class Table:
    """Rows as numbers of values, column by column; 0 is a missing value.

    Args:
        name: What messages call it.
        codes: By column, the value of each row.
        texts: By column, the values as texts; the first is None.
    """

    name: str
    codes: Mapping[str, Codes] = field(repr=False)
    texts: Mapping[str, tuple[str | None, ...]] = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.codes)

    @property
    def records(self) -> int:
        return len(next(iter(self.codes.values())))

    def rows(self, columns: Sequence[str], rows: Codes | slice = slice(None)) -> list[Codes]:
        """The values of some columns in some rows."""
        return [self.codes[column][rows] for column in columns]

    def counts(self, column: str) -> npt.NDArray[np.float64]:
        """How many rows have each value of a column."""
        return np.bincount(self.codes[column], minlength=len(self.texts[column])).astype(float)


@dataclass(frozen=True)
class Released:
    """A release as an attacker sees it.

    Args:
        table: Its rows.
        covers: By column that the original has as well, what its labels stand for. The table may have other columns,
            which several releases have in common.
    """

    table: Table
    covers: Mapping[str, Cover] = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.covers)


@dataclass(frozen=True)
class Problem:
    """A release, whom it is about, and what an attacker may know besides.

    Args:
        released: The release under attack.
        original: The people that it is about, with all that is known of them.
        quasi_identifiers: What the policy says an attacker may know, with the crowds it asks for; columns that are not
            in the release are left out.
        sensitive: The released columns that nobody should learn.
        passing: All other released columns, which an attacker may know as well.
        control: Other people of the same population, who are not in the table; their values have the numbers of the
            original. None if there are none.
        others: Other releases of the same or of overlapping tables.
        policy: What was asked for; the attacker has it.
        recoding: The recoding of the release, for attackers who know it; None if it was not given.
        unit: Whose each record of the original is, as a number; None if the policy does not say.
        rerun: How to make the release again, for attackers who know the method; None if that was not given.
        trials: How often attacks are tried that are too costly to try on everybody.
        notes: What to know about how labels were read.
        learned: What learners made of the release so far; see `Secrets.beliefs`.
    """

    released: Released
    original: Table
    quasi_identifiers: tuple[QuasiIdentifier, ...]
    sensitive: tuple[str, ...]
    passing: tuple[str, ...]
    control: Table | None = None
    others: tuple[Released, ...] = ()
    policy: Policy | None = None
    recoding: Recoding | None = None
    unit: Codes | None = None
    rerun: Rerun | None = None
    trials: int = TRIALS
    notes: tuple[str, ...] = ()
    learned: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns that the original has as well."""
        return self.released.columns

    def people(self, rng: np.random.Generator, most: int = MOST_PEOPLE) -> Codes:
        """Rows of the original: all, or as many as may be tried, drawn at random."""
        return drawn(self.original.records, most, rng)

    def strangers(self, rng: np.random.Generator, most: int = MOST_PEOPLE) -> Codes:
        """Rows of the control."""
        return drawn(0 if self.control is None else self.control.records, most, rng)


def drawn(number: int, most: int, rng: np.random.Generator) -> Codes:
    """All of some numbers, or at most so many of them, drawn at random without repetition."""
    return np.arange(number) if number <= most else np.sort(rng.choice(number, most, replace=False))


def read_table(sources: Sequence[Source], columns: Sequence[str], missing: Sequence[str], run: Run) -> list[Table]:
    """Tables as numbers that mean the same value in each of them."""
    numbered = [ValueNumbers(column, tuple(missing)) for column in columns]
    parts: list[list[list[Codes]]] = [[[] for _ in columns] for _ in sources]
    for source, found in zip(sources, parts, strict=True):
        for batch in source.batches(list(columns), encoded=list(columns)):
            for values, part in zip(numbered, found, strict=True):
                part.append(values.codes(batch.column(values.name)).astype(np.int32))
            run.rows(len(batch))
    texts = {values.name: _texts(values) for values in numbered}
    tables = []
    for source, found in zip(sources, parts, strict=True):
        if not found or not sum(map(len, found[0])):
            raise DataError(f"{source.name} has no rows; there is nothing to attack")
        codes = {column: np.concatenate(part) + 1 for column, part in zip(columns, found, strict=True)}
        tables.append(Table(source.name, codes, texts))
    return tables


def _texts(column: ValueNumbers) -> tuple[str | None, ...]:
    return (None,) if column.values is None else (None, *text_of(column.values).cast(pa.string()).to_pylist())


def problem_of(
    release: Source,
    original: Source,
    policy: Policy,
    *,
    control: Source | None = None,
    others: Sequence[Source] = (),
    codebook: Recoding | str | Path | None = None,
    trials: int = TRIALS,
    run: Run,
) -> Problem:
    """Read what is attacked.

    Args:
        release: The released rows.
        original: The people that they are about.
        policy: What the attacker may know, and what should hold.
        control: Other people of the same population.
        others: Other releases of these people.
        codebook: What labels stand for: the `.recoding.json` of a release, a recoding, or a CSV file with the columns
            column, label and value.
        trials: How often costly attacks are tried.
        run: Told of rows.

    Raises:
        PolicyError: The tables have no quasi-identifier in common.
        DataError: A label cannot be read.
    """
    shared = [name for name in release.columns if name in original.columns and name not in policy.dropped]
    qids = [_released_part(qid, shared) for qid in policy.quasi_identifiers]
    if not any(qid is not None for qid in qids):
        raise PolicyError(
            f"{release.name} and {original.name} share no quasi-identifier of the policy; they share "
            f"{shorten(shared, 20) or 'no column'}"
        )
    elsewhere = [name for each in others for name in each.columns if name in original.columns]
    wanted = list(dict.fromkeys([*shared, *(name for name in elsewhere if name not in policy.dropped)]))
    if control is not None and (lacking := [name for name in wanted if name not in control.columns]):
        raise PolicyError(f"the control {control.name} lacks columns of the release: {shorten(lacking)}")
    run.stage("reading the original")
    missing = (*policy.missing_values, *original.missing_values)
    tables = read_table([original, *([control] if control else [])], wanted, missing, run)
    unit = policy.unit if policy.unit in original.columns else None
    recoding = codebook if isinstance(codebook, Recoding) else None
    if isinstance(codebook, str | Path) and Path(codebook).suffix == ".json":
        recoding = read_recoding(codebook)
    meanings = _read_codebook(Path(codebook)) if isinstance(codebook, str | Path) and recoding is None else {}
    if recoding is not None and recoding.by_row:
        meanings = _meanings(recoding, tables[0])
    run.stage("reading the release")
    common = {name for each in others for name in each.columns if name in release.columns}
    seen = [_released(each, tables[0], policy, meanings, common, run) for each in (release, *others)]
    found = tuple(qid for qid in qids if qid is not None)
    known = {name for qid in found for name in qid.attributes}
    sensitive = tuple(name for name in policy.sensitive if name in shared)
    passing = tuple(name for name in shared if name not in known and name not in sensitive)
    return Problem(
        seen[0],
        tables[0],
        found,
        sensitive,
        passing,
        tables[1] if control else None,
        tuple(seen[1:]),
        policy,
        recoding,
        None if unit is None else read_table([original], [unit], missing, run)[0].codes[unit],
        trials=trials,
        notes=(*_notes(release, original, policy, shared, tables[0].records), *_doubts(seen[0], tables[0])),
    )


def _released_part(qid: QuasiIdentifier, columns: Sequence[str]) -> QuasiIdentifier | None:
    names = tuple(name for name in qid.attributes if name in columns)
    return type(qid)(names, qid.k) if names else None


def _notes(release: Source, original: Source, policy: Policy, shared: Sequence[str], records: int) -> tuple[str, ...]:
    dropped = [name for name in policy.attributes if name not in shared]
    new = [name for name in release.columns if name not in original.columns]
    notes = []
    if records > MOST_PEOPLE:
        notes.append(f"{MOST_PEOPLE:,} of {records:,} people were drawn at random; intervals include that error")
    if dropped:
        notes.append(f"quasi-identifiers that are not in the release: {', '.join(dropped)}")
    if new:
        notes.append(f"columns of the release that the original lacks, which no attacker uses: {', '.join(new)}")
    return tuple(notes)


def _doubts(released: Released, original: Table) -> list[str]:
    """Columns whose labels may have been misread: many people have a value that none of them stands for."""
    doubts = []
    for column, cover in released.covers.items():
        share = float(np.mean(cover.unlabelled[cover.atom_of[original.codes[column]]]))
        if share > _DOUBTFUL:
            doubts.append(
                f"warning: no label of '{column}' stands for the values of {share:.0%} of people; if labels mean more "
                "than they say, give a codebook or a taxonomy: attackers would do better with it"
            )
    return doubts


def _released(
    source: Source, original: Table, policy: Policy, meanings: Mapping[str, Meanings], common: set[str], run: Run
) -> Released:
    columns = [name for name in source.columns if name in original.columns]
    missing = (*policy.missing_values, *source.missing_values)
    linking = [name for name in source.columns if name in common and name not in columns]
    (table,) = read_table([source], [*columns, *linking], missing, run)
    covers = {}
    for column in columns:
        empty = int((table.codes[column] == 0).sum()) > int((original.codes[column] == 0).sum())
        covers[column] = cover_of(
            column,
            original.texts[column],
            table.texts[column],
            meanings=meanings.get(column),
            tree=policy.taxonomies.get(column) if column in policy.attributes else None,
            empty_is_any=empty,
            declared=policy.types.get(column),
        )
        if (unread := covers[column].unread) and column in policy.attributes:
            _refuse_unread(column, unread, original, source.name)
    return Released(table, covers)


def _refuse_unread(column: str, unread: Sequence[str], original: Table, name: str) -> None:
    """Numbers that nobody has may have been made up; other labels must be explained."""
    texts = [label for label in unread if not _is_number(label)]
    if texts:
        raise DataError(
            f"column '{column}' of {name} has the label '{texts[0][:60]}', which is not a value of {original.name} and "
            "cannot be read; give a taxonomy of the column, or the .recoding.json of the release as codebook"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _meanings(recoding: Recoding, original: Table) -> dict[str, Meanings]:
    """What the labels of a recoding stand for: the values that each of them covers."""
    found: dict[str, Meanings] = {}
    for name in recoding.names:
        if name not in original.codes:
            continue
        values = pa.array(original.texts[name][1:], pa.string())
        cells, texts = recoding.cells(name, values), np.array(original.texts[name][1:], object)
        spans = zip(recoding.all_labels(name), *recoding.covered(name), strict=True)
        members = {label: texts[(first <= cells) & (cells < last)] for label, first, last in spans if label is not None}
        found[name] = {label: frozenset(some) for label, some in members.items() if len(some)}
    return found


def _read_codebook(path: Path) -> dict[str, Meanings]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"cannot read the codebook {path}: {getattr(error, 'strerror', None) or error}") from None
    if not rows or any(word not in rows[0] for word in _CODEBOOK):
        raise DataError(f"the codebook {path} must be a recoding.json, or CSV with the columns {', '.join(_CODEBOOK)}")
    found: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        found.setdefault(row["column"], {}).setdefault(row["label"], set()).add(row["value"])
    return {column: {label: frozenset(values) for label, values in labels.items()} for column, labels in found.items()}
