"""`incrowd.inspect`: what a table is, what is risky about it, and a policy to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from incrowd.display import Tabular, watching
from incrowd.errors import PolicyError, UnknownNameError, many, shown_type
from incrowd.formats.csv_dialect import Dialect
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.inspection.columns import Column, Seen, describe, missing_tokens, see
from incrowd.inspection.concepts import QUASI_IDENTIFIER
from incrowd.inspection.counting import CountedColumn, count_values
from incrowd.inspection.policy_file import policy_file
from incrowd.inspection.proposals import OWNER, ProposedRole, Setting, role_of
from incrowd.inspection.relations import Relations, relations_of
from incrowd.inspection.uniqueness import Combination, compared, count_uniques, worst_combinations
from incrowd.run import Run, Watch

LEAST_RECORDS = 5  # that must share a value before a policy names it; the k that is proposed


@dataclass(frozen=True, repr=False)
class Inspection(Tabular):
    """What was found in a table. It prints as a short table, and is as confidential as the table itself.

    Args:
        name: Of the table.
        records: How many it has.
        columns: What is known of each column, and what is proposed for it.
        together: How many records are unique on all proposed quasi-identifiers, None where there are none.
        pairs: The worst pairs of quasi-identifiers.
        triples: The worst triples of quasi-identifiers.
        missing_values: Texts in the table that seem to mean a missing value.
        dialect: How a file was said to be read.
        unit: The column that says whose record it is, or seems to: records of one person do not hide each other.
        unit_given: Whether that was said, and not found.
        same: A line for each set of columns that say the same, and one if a text has a single column.
    """

    name: str
    records: int
    columns: tuple[Column, ...]
    together: Combination | None
    pairs: tuple[Combination, ...]
    triples: tuple[Combination, ...]
    missing_values: tuple[str, ...] = ()
    dialect: Mapping[str, Any] = field(default_factory=dict)
    unit: str | None = None
    unit_given: bool = False
    same: tuple[str, ...] = ()

    @property
    def warnings(self) -> list[str]:
        """What a steward should know of single columns before anything is released, with the name of the column."""
        return [column.warning for column in self.columns if column.warning is not None]

    @property
    def notes(self) -> list[str]:
        """Numbers that may stand for missing values, which several people have; blanks; columns that say the same."""
        told = "is far from all other numbers; if it means a missing value, name it among missing_values"
        far = [f"{column.far} in column '{column.name}' {told}" for column in self.columns if column.far is not None]
        blanks = "has values that differ only in blanks around them, and count as different"
        padded = [f"column '{column.name}' {blanks}" for column in self.columns if column.padded]
        return [*far, *padded, *self.same]

    def column(self, name: str) -> Column:
        """What is known of a column.

        Raises:
            UnknownNameError: There is no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownNameError("column", name, [column.name for column in self.columns], self.name)

    def with_role(self, role: str) -> tuple[Column, ...]:
        """The columns with a proposed role."""
        return tuple(column for column in self.columns if column.role.name == role)

    def policy_toml(self, table: str | Path | None = None, policy: str | Path = "release.toml") -> str:
        """A policy file with everything that is proposed, and why; it holds no values of single people.

        Args:
            table: What to type for the table, in the command that the file shows; its name if None.
            policy: What to type for the file itself.
        """
        return policy_file(self, LEAST_RECORDS, str(table or self.name), str(policy))

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "name": self.name,
            "records": self.records,
            "unit": self.unit,
            "missing_values": list(self.missing_values),
            "columns": [column.to_json() for column in self.columns],
            "unique_together": None if self.together is None else _json(self.together),
            "worst_pairs": [_json(each) for each in self.pairs],
            "worst_triples": [_json(each) for each in self.triples],
            "warnings": self.warnings,
        }

    def to_rows(self) -> list[dict[str, Any]]:
        words = ("name", "kind", "missing", "distinct")
        return [
            {**{word: getattr(column, word) for word in words}, "alone": column.alone, "role": column.role.name}
            | {"reason": column.role.reason, "warning": column.warning}
            for column in self.columns
        ]

    def headline(self) -> str:
        found = f"{self.name}: {many(self.records, 'record')}, {many(len(self.columns), 'column')}"
        if self.together is None:
            return found
        return f"{found}, {self.together.uniques:,} unique on {many(len(self.together.columns), 'quasi-identifier')}"

    def remarks(self) -> list[str]:
        return [*self.warnings, *self.notes]


def _json(combination: Combination) -> dict[str, Any]:
    return {
        "columns": list(combination.columns),
        "unique_records": combination.uniques,
        "records": combination.records,
        "share": combination.share,
    }


def inspect(
    data: Any,
    *,
    unit: str | None = None,
    progress: Watch | bool | None = None,
    **reading: Unpack[ReaderOptions],
) -> Inspection:
    """Look at a table: its columns, what is risky about them, and which roles and hierarchies to begin with.

    Args:
        data: Path of a file, a pandas, polars or pyarrow table, or anything with the Arrow stream interface.
        unit: The column that says whose record it is, where one person has several; found by its values if None.
        progress: Called with every event of the run; True for a line on stderr, False for nothing.
        **reading: How to read a file or a database; see `ReaderOptions`.

    Raises:
        DataError: The table cannot be read.
        PolicyError: The unit is no column of it.

    Example:
        >>> import incrowd
        >>> found = incrowd.inspect(incrowd.datasets.german())
        >>> found.column("age").role.name, found.column("age").hierarchy.words
        ('quasi-identifier', {'widths': [5, 10, 20]})
    """
    source = open_source(data, **reading)
    given = {name: value for name, value in reading.items() if value is not None}
    with watching(progress) as watch:
        return inspection_of(source, Run(watch), given, unit)


def inspection_of(
    source: Source, run: Run, dialect: Mapping[str, Any] | None = None, unit: str | None = None
) -> Inspection:
    """Inspect an open source; `dialect` is how a file was said to be read, for the policy file.

    Raises:
        PolicyError: The unit is no column, or has no single values.
    """
    if unit is not None and unit not in source.columns:
        raise UnknownNameError("column", unit, source.columns, source.name)
    run.stage("reading")
    records, counted = count_values(source, run)
    return inspection_of_counts(source, records, counted, run, dialect, unit)


def inspection_of_counts(
    source: Source,
    records: int,
    counted: Sequence[CountedColumn],
    run: Run,
    dialect: Mapping[str, Any] | None = None,
    unit: str | None = None,
) -> Inspection:
    """Inspect a source whose values were counted before."""
    run.stage("inspecting")
    found = described(source, counted, run, unit)
    columns, owners = found.columns, found.owners
    quasi = [each for each, column in zip(counted, columns, strict=True) if column.role.name == QUASI_IDENTIFIER]
    if owners is not None and quasi and len(owners.codes) < len(quasi[0].codes):
        owners = None  # too many people to keep their numbers
    together, pairs, triples = _combined(quasi, owners, run)
    return Inspection(
        source.name,
        records,
        tuple(columns),
        together,
        pairs,
        triples,
        missing_values=found.missing_values,
        same=(*found.notes, *_of_one_column(source)),
        dialect=dict(dialect or {}),
        unit=unit if owners is None else owners.name,
        unit_given=unit is not None,
    )


def _of_one_column(source: Source) -> tuple[str, ...]:
    """A line on a text file that has one column: perhaps nothing that was tried separates its columns."""
    if len(source.columns) > 1 or not isinstance(getattr(source, "dialect", None), Dialect):
        return ()
    return (f"{source.name} was read as one column; if it has several, say what separates them (--separator)",)


@dataclass(frozen=True)
class Described:
    """The columns of a table with what is proposed for them.

    Args:
        columns: In the order of the table.
        owners: The column that says whose record each is, None where none does.
        missing_values: Texts that seem to mean a missing value.
        notes: Which columns say the same.
    """

    columns: list[Column]
    owners: CountedColumn | None
    missing_values: tuple[str, ...]
    notes: list[str]


def described(source: Source, counted: Sequence[CountedColumn], run: Run, unit: str | None = None) -> Described:
    """Describe the counted columns of a table."""
    tokens = missing_tokens(counted, source.missing_values)
    known = (*tokens, *source.missing_values)
    labels: Mapping[str, str] = getattr(source, "column_labels", {})
    owners = None if unit is None else _owners(counted, unit)
    seen, roles, related = _looked_at(counted, known, labels, owners, run)
    repeating = [each.facts.name for each in seen if any(finding.kind == "repeats" for finding in each.findings)]
    found = repeating[0] if repeating else related.person([each.ordered for each in seen], roles)
    if unit is None and found is not None:
        owners = _owners(counted, found)
        seen, roles, related = _looked_at(counted, known, labels, owners, run)
    columns = [
        describe(column, each, role, LEAST_RECORDS)
        for column, each, role in zip(counted, seen, related.applied(roles), strict=True)
    ]
    return Described(columns, owners, tokens, related.notes())


def _owners(counted: Sequence[CountedColumn], unit: str) -> CountedColumn:
    owners = next(column for column in counted if column.name == unit)
    if not owners.readable:
        raise PolicyError(
            f"column '{unit}' has type {shown_type(owners.kind)}, which tells nobody apart; name another unit"
        )
    return owners


def _looked_at(
    counted: Sequence[CountedColumn],
    tokens: Sequence[str],
    labels: Mapping[str, str],
    owners: CountedColumn | None,
    run: Run,
) -> tuple[list[Seen], list[ProposedRole], Relations]:
    """What is seen of each column, the role of each by itself, and which columns follow from others."""
    seen = []
    for number, column in enumerate(counted, 1):
        run.check()
        by_people = column if owners is None or column is owners else column.by_people(owners)
        seen.append(see(by_people, tokens, labels.get(column.name, "")))
        run.amount(number, len(counted), "columns")
    setting = Setting.of([each.facts for each in seen])
    roles = [
        OWNER if column is owners else role_of(each.facts, each.findings, setting)
        for column, each in zip(counted, seen, strict=True)
    ]
    names, ordered = [column.name for column in counted], [each.ordered for each in seen]
    kept = owners is not None and all(len(each.codes) == len(owners.codes) for each in ordered)
    return seen, roles, relations_of(names, ordered, roles, run, owners.codes if owners is not None and kept else None)


def _combined(
    quasi: list[CountedColumn], unit: CountedColumn | None, run: Run
) -> tuple[Combination | None, tuple[Combination, ...], tuple[Combination, ...]]:
    if not quasi:
        return None, (), ()
    names = [column.name for column in quasi]
    codes = [column.codes + 1 for column in quasi]  # missing is 0
    sizes = [len(column.values) + 1 for column in quasi]
    persons = None if unit is None else unit.codes[: len(codes[0])] + 1
    everything = Combination(tuple(names), count_uniques(codes, sizes, persons), compared(codes, persons))
    pairs, triples = worst_combinations(names, codes, sizes, run, persons)
    return everything, tuple(pairs), tuple(triples)
