"""What the columns that leave as they are look like, seen in one short pass before anything is searched.

Whatever names people stops the run there, unless it is kept on purpose. What is only risky becomes warnings, which are
worked out from what was seen here, so that no row is read again once a release is out.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import NamesPeopleError
from incrowd.formats.csv_dialect import may_have_commas
from incrowd.formats.sources import Source, as_array
from incrowd.inspection.columns import findings_in, missing_tokens
from incrowd.inspection.counting import KEPT_ROWS, CountedColumn, count_values
from incrowd.inspection.findings import Finding, stopping, warning_of
from incrowd.inspection.relations import tells
from incrowd.run import Run
from incrowd.table.arrays import to_arrow
from incrowd.table.missing import encoded, is_missing
from incrowd.table.scales import has_commas, may_be_comma

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy


MOST_CODES = 1 << 25  # values that are looked at, in all columns together
LEAST_ROWS = 1 << 16  # but this many rows of every column
MOST_BYTES = 1 << 28  # of rows, where values are long
CHANGING = 10  # one person in this many may have several values of what hardly ever changes
MOST_NAMES = 40  # that a message has room for


@dataclass(frozen=True)
class Look:
    """What was seen of the columns of a table.

    Args:
        findings: What each column that leaves as it is looks like.
        told: The quasi-identifiers that such a column tells.
        repeating: Dropped columns that show that one person has several rows, and a line on each.
        steady: Sensitive columns that hardly ever change within a person who has several rows.
    """

    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    told: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repeating: tuple[str, ...] = ()
    steady: tuple[str, ...] = ()

    def require(self, keep: Sequence[str], where: str) -> Look:
        """Itself, unless a column may name people and is not kept on purpose.

        Raises:
            NamesPeopleError: A column may name people.
        """
        why = {name: stopping(findings) for name, findings in self.findings.items() if name not in keep}
        if naming := {name: reason for name, reason in why.items() if reason is not None}:
            raise NamesPeopleError(naming, where, _typed(list(naming)))
        return self


def look_at(source: Source, policy: Policy, run: Run) -> Look:
    """Look at the columns that leave as they are: at the first million rows, or fewer of a table with many columns."""
    passing = policy.passing(source.columns)
    repeating = () if policy.unit is not None else policy.identifiers
    unit = () if policy.unit is None else (policy.unit,)
    names = tuple(dict.fromkeys((*passing, *(policy.attributes if passing else ()), *repeating)))
    if not names:
        return Look()
    rows: Source = getattr(source, "glimpse", lambda: source)()
    names = (*names, *(name for name in unit if name not in names))
    most = max(LEAST_ROWS, min(KEPT_ROWS, MOST_CODES // len(names)))
    counted = _counted(rows, names, most, run)
    if counted is None:
        return Look()  # no rows, which who compresses the table has words for
    owners = counted[policy.unit] if policy.unit is not None else None
    tokens = missing_tokens([counted[name] for name in passing], source.missing_values)
    tokens = (*tokens, *source.missing_values, *policy.missing_values)
    findings, told = {}, {}
    for name in passing:
        run.check()
        column = counted[name]
        by_people = column if owners is None or not owners.readable else column.by_people(owners)
        findings[name] = findings_in(by_people, tokens)
        if column.readable:
            told[name] = tuple(other for other in policy.attributes if tells(column, counted[other]))
    repeats = {name: findings_in(counted[name], source.missing_values) for name in repeating}
    steady = () if owners is None else tuple(name for name in policy.sensitive if is_steady(counted[name], owners))
    return Look(findings, {name: others for name, others in told.items() if others}, _repeating(repeats), steady)


def _counted(rows: Source, names: Sequence[str], most: int, run: Run) -> dict[str, CountedColumn] | None:
    found, columns = count_values(rows, run.part(), names, most=most, most_bytes=MOST_BYTES, empty=True)
    return {column.name: column for column in columns} if found else None


def _repeating(findings: Mapping[str, Sequence[Finding]]) -> tuple[str, ...]:
    told = [
        warning_of(name, [finding for finding in found if finding.kind == "repeats"])
        for name, found in findings.items()
    ]
    return tuple(f"{warning}; name it as the unit" for warning in told if warning is not None)


def is_steady(column: CountedColumn, owners: CountedColumn) -> bool:
    """Whether a column is the same in all rows of nearly everyone who has several."""
    both = (column.codes >= 0) & (owners.codes >= 0)
    values, people = column.codes[both], owners.codes[both]
    several = np.bincount(people, minlength=1) > 1
    if len(np.unique(values)) < 2 or not several.any():
        return False
    last = np.zeros(len(several), np.int64)
    last[people] = values
    changing = len(np.unique(people[last[people] != values]))
    return CHANGING * changing <= int(several.sum())


def steady_warning(name: str) -> str:
    """What to say of a sensitive column that does not change within a person; for anyone."""
    return (
        f"column '{name}' hardly ever changes within a person who has several records: whoever knows several of them "
        "can intersect their crowds and learn it, whatever k and l are; release one record per person, or drop it"
    )


def _typed(names: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names[:MOST_NAMES])
    return shlex.quote(text.getvalue())


def telling_warning(name: str, others: Sequence[str]) -> str:
    """What to say of a column that is released as it is and reveals quasi-identifiers."""
    told = " and ".join(f"'{other}'" for other in others)
    return (
        f"column '{name}' is released as it is and reveals {told}: each of its values comes with one; name it as a "
        "quasi-identifier too, or drop it"
    )


def comma_types(policy: Policy, source: Source) -> dict[str, str]:
    """The type of sensitive columns and of a target that hold numbers with a decimal comma.

    Rows are read where a column may be such a one, and only to the first value that is not.
    """
    names = [name for name in (*policy.sensitive, *policy.counted) if _is_open(policy, name)]
    if not names or not may_have_commas(source):
        return {}
    found = _comma_columns(source, tuple(dict.fromkeys(names)), (*policy.missing_values, *source.missing_values))
    return dict.fromkeys(found, "comma")


def _is_open(policy: Policy, name: str) -> bool:
    """Whether nothing says yet how the values of a column are meant."""
    return name != policy.unit and name not in policy.types and name not in policy.taxonomies


def _comma_columns(source: Source, names: Sequence[str], missing_values: Sequence[str]) -> list[str]:
    """The columns of which all values are numbers with a decimal comma, beside missing ones."""
    values: dict[str, pa.Array] = {name: pa.array([], pa.string()) for name in names}
    for batch in source.batches(list(names), encoded=list(names)):
        for name in list(values):
            seen = encoded(batch.column(name), name).dictionary
            seen = seen.filter(to_arrow(~is_missing(seen, missing_values)))
            if not may_be_comma(seen):
                del values[name]
                continue
            values[name] = pc.unique(as_array(pa.chunked_array([values[name], seen.cast(pa.string())])))
        if not values:
            break
    return [name for name, distinct in values.items() if has_commas(distinct, None, expected=True)]
