"""`apply`: new rows recoded the way that a release was, from what the release shows alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pyarrow as pa

from incrowd.display import watching
from incrowd.engines.engine import Observer, Settings
from incrowd.engines.plan import ReleasePlan
from incrowd.engines.registry import AUTO, engine_suiting
from incrowd.errors import PolicyError, ReleaseWarning, UnknownNameError, many
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import look_at
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.recodings.reading import read_recoding
from incrowd.recodings.recoding import Recoding
from incrowd.release.files import ReleaseFiles
from incrowd.run import Run
from incrowd.table.grouping import Counts
from incrowd.verification.promises import witness_of_crowds

if TYPE_CHECKING:
    from incrowd.run import Watch
    from incrowd.verification.witness import Witness


def apply(
    recoding: Recoding | str | Path,
    data: Any,
    *,
    require: Iterable[QuasiIdentifier] = (),
    unit: str | None = None,
    identifiers: Iterable[str] = (),
    keep: Iterable[str] = (),
    keep_order: bool = False,
    engine: str = AUTO,
    progress: Watch | bool | None = None,
    **reading: Unpack[ReaderOptions],
) -> Any:
    """Recode new rows the way a release was recoded.

    This alone does not make the new rows k-anonymous: they were not counted when the recoding was made.

    After a local method, a row takes the most specific released class that covers it, and of several the first. A row
    that no class covers takes the one that covers it in the most columns, generalized in the others until it does; a
    warning says how many these are. Rows that were in the release are treated as all others.

    Args:
        recoding: The recoding of a release, or the file that it was written to, `release.recoding.json`.
        data: Path of a file, a pandas, polars or pyarrow table, or anything with the Arrow stream interface.
        require: Quasi-identifiers that must hold for the new rows.
        unit: The column that says whose record it is: then they must hold in people.
        identifiers: Columns to drop, beside those that the release dropped.
        keep: Columns that leave as they are on purpose, though they look as if they named people.
        keep_order: Whether the rows stay in their order; else they come in one that says nothing of it, as in
            `anonymize`.
        engine: As in `anonymize`.
        progress: As in `anonymize`.
        **reading: How to read a file or a database; see `ReaderOptions`.

    Returns:
        The same kind of frame, or an Arrow table for a file.

    Raises:
        NotAnonymousError: A required quasi-identifier does not hold.
        PolicyError: A column that would leave as it is may name people.
    """
    recoding = read_recoding(recoding) if isinstance(recoding, str | Path) else recoding
    recoding = recoding.for_new_rows
    source = open_source(data, engine=engine, **reading)
    doing, asked = engine_suiting(source, engine), tuple(require)
    recoding = _leaving(fitted(recoding, source), source, identifiers, keep, Run())
    witness, beside = _witness(asked, unit, recoding, source)
    fits = Fits(recoding)
    plan = ReleasePlan(fits.columns(witness.columns), beside, keep_order=keep_order)
    with watching(progress) as watch:
        rows = doing.recoded(source, recoding, Run(watch), plan, fits.seen_by(witness) if asked or fits.asked else None)
    if asked:
        witness.verdict().require()
    if fits.without_class:
        warnings.warn(fits.told, ReleaseWarning, stacklevel=2)
    return rows


class Fits:
    """How many of the recoded rows are in a released class, where that is not a matter of course."""

    def __init__(self, recoding: Recoding) -> None:
        self._recoding, self.asked = recoding, not recoding.by_value
        self.rows = self.without_class = 0

    def columns(self, others: Sequence[str]) -> tuple[str, ...]:
        """The columns to observe, together with others."""
        return tuple(dict.fromkeys((*others, *(self._recoding.names if self.asked else ()))))

    def seen_by(self, witness: Witness) -> Observer:
        def see(batch: pa.RecordBatch, counts: Counts | None = None) -> None:
            witness.see(batch, counts)
            if self.asked and (known := self._recoding.in_released_class(batch)) is not None:
                records = np.ones(len(batch), np.int64) if counts is None else counts
                self.rows += int(records.sum())
                self.without_class += int(records[~known].sum())

        return see

    @property
    def told(self) -> str:
        """What to tell the user; nothing where all rows are in a class, or where there are none."""
        if not self.without_class:
            return ""
        rest = f"{self.without_class:,} of {many(self.rows, 'row')} fit no released class"
        return f"{rest}; the class closest to each was generalized until it covers it"


def _witness(
    asked: Sequence[QuasiIdentifier], unit: str | None, recoding: Recoding, source: Source
) -> tuple[Witness, tuple[str, ...]]:
    """Who counts recoded rows, and the dropped columns that it has to see beside them."""
    if unit is None:
        return witness_of_crowds(asked), ()
    if not asked:
        raise PolicyError("a unit says what crowds count; say which quasi-identifiers must hold as well")
    if unit not in source.columns:
        raise UnknownNameError("column", unit, source.columns, source.name)
    return witness_of_crowds(asked, unit), (unit,) if unit in recoding.dropped else ()


def apply_to_file(
    recoding: Recoding,
    data: Any,
    output: str | Path,
    run: Run,
    *,
    require: Iterable[QuasiIdentifier] = (),
    unit: str | None = None,
    identifiers: Iterable[str] = (),
    keep: Iterable[str] = (),
    overwrite: bool = False,
    keep_order: bool = False,
    engine: str = AUTO,
    settings: Settings | None = None,
    **reading: Unpack[ReaderOptions],
) -> str:
    """Recode new rows into a file, streaming; see `apply`. Nothing is written if a requirement does not hold.

    Returns:
        How many rows fit no released class, in words; empty if all do.
    """
    source = open_source(data, **reading, engine=engine, master=settings.master if settings else None)
    recoding, doing = fitted(recoding.for_new_rows, source), engine_suiting(source, engine, settings)
    recoding = _leaving(recoding, source, identifiers, keep, run)
    place = doing.output(output, overwrite=overwrite)
    paths = ReleaseFiles.of(output if place is None else place.beside)
    paths.check(source, overwrite=overwrite, sidecars=False, rows=place is None)
    witness, beside = _witness(tuple(require), unit, recoding, source)
    fits = Fits(recoding)
    plan = ReleasePlan(fits.columns(witness.columns), beside, keep_order=keep_order)
    with AtomicFiles(overwrite=overwrite) as files:
        target = files.open(output) if place is None else files.join(place)
        doing.write(source, recoding, target, fits.seen_by(witness), run, plan)
        if paths.owner() is None:
            files.remove(paths.certificate)  # of a release that was there before
        witness.verdict().require()
    return fits.told


def _leaving(recoding: Recoding, source: Source, identifiers: Iterable[str], keep: Iterable[str], run: Run) -> Recoding:
    """The recoding that also drops some columns, if none of those that leave as they are may name people."""
    dropped = tuple(dict.fromkeys((*recoding.dropped, *identifiers)))
    qid = QuasiIdentifier(recoding.names, 2)
    policy = Policy(quasi_identifiers=(qid,), identifiers=dropped, keep=tuple(keep))
    for name in (*identifiers, *policy.keep):
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    if set(policy.passing(source.columns)) - set(policy.keep):
        here = replace(policy, identifiers=tuple(name for name in dropped if name in source.columns))
        look_at(source, here, run).require(policy.keep, source.name)
    return replace(recoding, dropped=dropped)


def fitted(recoding: Recoding, source: Source) -> Recoding:
    """The recoding, ready for a source: its columns are there, and what is missing in that kind of table counts so."""
    for name in recoding.names:
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    missing_values = tuple(dict.fromkeys((*recoding.missing_values, *source.missing_values)))
    return replace(recoding, missing_values=missing_values)
