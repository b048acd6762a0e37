"""What can be done with existing tables and recodings: verify, apply, compare a release with its original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.decimal_commas import with_comma_types
from incrowd.engines.engine import Settings
from incrowd.engines.registry import AUTO, engine_of, engine_suiting
from incrowd.errors import PolicyError, UnknownNameError, many
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.inspection.leaving import look_at
from incrowd.measures.distortion import Distortion, Values, values_distortion
from incrowd.measures.hierarchical_distance import HEIGHT, Weights
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.policy.presence import WORDS as PRESENCE
from incrowd.policy.protection import WORDS
from incrowd.policy.words import make_policy, quasi_identifiers_of
from incrowd.promised import witness_of, witness_of_crowds, witness_of_everything
from incrowd.recodings.recoding import Recoding, read_recoding
from incrowd.release_files import ReleaseFiles
from incrowd.run import Run
from incrowd.table.missing import encoded
from incrowd.table.scales import text_of
from incrowd.verification import Verification

if TYPE_CHECKING:
    from incrowd.run import Watch
    from incrowd.witness import Witness


def verify(
    data: Any,
    *,
    quasi_identifiers: Iterable[str | QuasiIdentifier | Iterable[str] | Mapping[str, Any]],
    k: int | None = None,
    unit: str | None = None,
    sensitive: Iterable[str] | Mapping[str, Mapping[str, Any]] = (),
    taxonomies: Any = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    strip: bool | None = None,
    sheet: str | None = None,
    value_labels: str | None = None,
    query: str | None = None,
    progress: Watch | bool | None = None,
    **protecting: Any,
) -> Verification:
    """Count how well the crowds in any table protect.

    Args:
        data: Path of a file, a pandas, polars or pyarrow table, or anything with the Arrow stream interface.
        quasi_identifiers: As in `anonymize`.
        k: As in `anonymize`. Without a k and without a promise about a sensitive column, what holds is reported.
        unit: As in `anonymize`, if the column is in the table.
        sensitive: As in `anonymize`.
        taxonomies: As in `anonymize`, for distances between sensitive values.
        separator: Separator of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.
        strip: Whether to leave out blanks around the values of a CSV file.
        sheet: Name of the sheet of an Excel file, where it has several.
        value_labels: Whether to "keep" the codes of a Stata or SPSS file (the default), or to "apply" their labels.
        query: What to read of a database, in SQL.
        progress: As in `anonymize`.
        **protecting: Promises about the sensitive columns, such as `l` and `t`; the words of `Protection`. Also
            `population_table` with `k_map` and `delta_presence` as in `anonymize`, and `recoding`, the recoding of a
            global method or its file, which says what people of the population would be released as; without it their
            values must be written as in the table. `missing_values` and `types` as in `anonymize`, for sensitive
            columns.

    Returns:
        What was counted. `holds` says whether it is enough, `require()` raises NotAnonymousError if it is not.

    Example:
        >>> import incrowd, pyarrow
        >>> people = pyarrow.table({"age": [30, 30, 40, 40], "sex": ["f", "f", "m", "m"]})
        >>> incrowd.verify(people, quasi_identifiers=["age", "sex"], k=2).holds
        True
    """
    source = open_source(
        data,
        separator=separator,
        quote=quote,
        encoding=encoding,
        header=header,
        strip=strip,
        sheet=sheet,
        value_labels=value_labels,
        query=query,
    )
    words = {"quasi_identifiers": quasi_identifiers, "k": k, "unit": unit, "sensitive": sensitive}
    from incrowd.report.progress import watching

    with watching(progress) as watch:
        return verification_of(source, {**words, "taxonomies": taxonomies, **protecting}, Run(watch))


_READ = ("missing_values", "types")  # how the values of sensitive columns are meant


def verification_of(source: Source, words: Mapping[str, Any], run: Run) -> Verification:
    """What a witness finds of what was asked for, or where nothing was asked for, of everything it can count.

    Args:
        source: The rows.
        words: Words of `make_policy` that ask for something.
        run: Gets the number of rows.
    """
    words = dict(words)
    recoding = words.pop("recoding", None)
    for word in words:
        if word not in (*WORDS, *PRESENCE, *_READ, "quasi_identifiers", "k", "unit", "sensitive", "taxonomies"):
            raise UnknownNameError("parameter", word, (*WORDS, *PRESENCE), "verify")
    asked = words.get("k") is not None or any(words.get(word) is not None for word in (*WORDS, *PRESENCE))
    own = quasi_identifiers_of(words["quasi_identifiers"], words.get("k") or 1)
    asked = asked or isinstance(words.get("sensitive"), Mapping) or any(qid.k > 1 for qid in own)
    policy = make_policy(**{**words, **({} if asked else {"k": 2})})
    policy.check_columns(source.columns, source.name)
    policy = with_comma_types(policy, source)
    if recoding is not None and policy.population_table is None:
        raise PolicyError("a recoding says what a population would be released as; give population_table as well")
    if policy.population_table is not None:
        return recount_in_population(source, policy, recoding, run)
    if asked:
        return recount(source, witness_of(policy), run)
    return recount(source, witness_of_everything(policy), run).without_thresholds()


def recount(source: Source, witness: Witness, run: Run | None = None) -> Verification:
    """What a witness finds in the rows of a source."""
    run = run or Run()
    for batch in source.batches(witness.columns, encoded=witness.columns):
        witness.see(batch)
        run.rows(len(batch))
    return Verification.of(witness.verdict())


def recount_in_population(source: Source, policy: Policy, recoding: Any, run: Run) -> Verification:
    """What a witness finds in released rows and in the population that they were drawn from.

    Args:
        source: The released rows.
        policy: What must hold; has the population.
        recoding: What people of the population would be released by, or its file; None if they are written alike.
        run: Gets the number of rows.

    Raises:
        PolicyError: The population does not contain the table.
    """
    from incrowd.population import counted_population

    assert policy.population_table is not None
    witness = witness_of(policy)
    witness.see_population(*counted_population(policy.population_table, policy.attributes, recoding, run))
    verification = recount(source, witness, run)
    if lacking := witness.outside_population():
        raise PolicyError(
            f"the population {policy.population_table.name} does not contain the table: {many(lacking, 'record')} of "
            f"{source.name} {'is' if lacking == 1 else 'are'} not in it; give one with everyone, whose values are "
            "written alike, or the recoding of the release"
        )
    return verification


def apply(
    recoding: Recoding | str | Path,
    data: Any,
    *,
    require: Iterable[QuasiIdentifier] = (),
    unit: str | None = None,
    identifiers: Iterable[str] = (),
    keep: Iterable[str] = (),
    keep_order: bool = False,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    strip: bool | None = None,
    sheet: str | None = None,
    value_labels: str | None = None,
    query: str | None = None,
    engine: str = AUTO,
    progress: Watch | bool | None = None,
) -> Any:
    """Recode new rows the way a release was recoded.

    This alone does not make the new rows k-anonymous: they were not counted when the recoding was made.

    Args:
        recoding: The recoding of a release, or the file that it was written to: `release.recoding.json` of a global
            method, `release.confidential/recoding.json` of a local one, where `write` was asked for it.
        data: Path of a file, a pandas, polars or pyarrow table, or anything with the Arrow stream interface.
        require: Quasi-identifiers that must hold for the new rows.
        unit: The column that says whose record it is: then they must hold in people.
        identifiers: Columns to drop, beside those that the release dropped.
        keep: Columns that leave as they are on purpose, though they look as if they named people.
        keep_order: Whether the rows stay in their order; else they come in one that says nothing of it, as in
            `anonymize`.
        separator: Separator of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.
        strip: Whether to leave out blanks around the values of a CSV file.
        sheet: Name of the sheet of an Excel file, where it has several.
        value_labels: Whether to "keep" the codes of a Stata or SPSS file (the default), or to "apply" their labels.
        query: What to read of a database, in SQL.
        engine: As in `anonymize`.
        progress: As in `anonymize`.

    Returns:
        The same kind of frame, or an Arrow table for a file.

    Raises:
        NotAnonymousError: A required quasi-identifier does not hold.
        PolicyError: A column that would leave as it is may name people.
    """
    recoding = read_recoding(recoding) if isinstance(recoding, str | Path) else recoding
    source = open_source(
        data,
        separator=separator,
        quote=quote,
        encoding=encoding,
        header=header,
        strip=strip,
        sheet=sheet,
        value_labels=value_labels,
        query=query,
        engine=engine,
    )
    from incrowd.report.progress import watching

    doing, asked = engine_suiting(source, engine), tuple(require)
    recoding = _leaving(fitted(recoding, source), source, identifiers, keep, Run())
    witness, beside = _witness(asked, unit, recoding, source)
    words: dict[str, Any] = {"see": witness.see, "sees": witness.columns, "witnessed": beside} if asked else {}
    with watching(progress) as watch:
        rows = doing.recoded(source, recoding, Run(watch), **words, keep_order=keep_order)
    if asked:
        witness.verdict().require()
    return rows


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
    **dialect: Any,
) -> None:
    """Recode new rows into a file, streaming; see `apply`. Nothing is written if a requirement does not hold."""
    source = open_source(data, **dialect, engine=engine, master=settings.master if settings else None)
    recoding, doing = fitted(recoding, source), engine_suiting(source, engine, settings)
    recoding = _leaving(recoding, source, identifiers, keep, run)
    place = doing.output(output, overwrite=overwrite)
    paths = ReleaseFiles.of(output if place is None else place.beside)
    paths.check(source, overwrite=overwrite, sidecars=False, rows=place is None)
    witness, beside = _witness(tuple(require), unit, recoding, source)
    words: dict[str, Any] = {"sees": witness.columns, "witnessed": beside, "keep_order": keep_order}
    with AtomicFiles(overwrite=overwrite) as files:
        target = files.open(output) if place is None else files.join(place)
        doing.write(source, recoding, target, witness.see, run, **words)
        if paths.owner() is None:
            files.remove(paths.certificate)  # of a release that was there before
        witness.verdict().require()


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
    return replace(recoding, dropped=dropped)  # type: ignore[type-var]


def fitted(recoding: Recoding, source: Source) -> Recoding:
    """The recoding, ready for a source: its columns are there, and what is missing in that kind of table counts so."""
    for name in recoding.names:
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    missing_values = tuple(dict.fromkeys((*recoding.missing_values, *source.missing_values)))
    return replace(recoding, missing_values=missing_values)  # type: ignore[type-var]


def distortion(
    original: Any,
    released: Any,
    *,
    quasi_identifier: Sequence[str],
    taxonomies: Any = None,
    weights: Weights = HEIGHT,
    missing_values: Iterable[str] = (),
    types: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[Any, Any]] | None = None,
) -> Distortion:
    """Compare any release with its original.

    Args:
        original: Path of a file, or a dataframe.
        released: The same of the release.
        quasi_identifier: The columns to compare.
        taxonomies: As in `anonymize`; the hierarchies of columns without one are built from the original.
        weights: The weights of levels and attributes.
        missing_values: As in `anonymize`.
        types: As in `anonymize`.
        ranges: As in `anonymize`.

    Raises:
        PolicyError: A released value is not a node of its column's hierarchy.
    """
    words: dict[str, Any] = {"missing_values": missing_values, "types": types, "ranges": ranges}
    policy = make_policy(quasi_identifiers=[list(quasi_identifier)], k=2, taxonomies=taxonomies, **words)
    before, after = open_source(original), open_source(released)
    for source in (before, after):
        policy.check_columns(source.columns, source.name)
    engine = engine_of()
    table = engine.compress(before, policy, Run())
    values = _values_of(after, policy.attributes)
    for counted in values.values():
        for text in engine.missing_values(after, policy):
            if text in counted and text not in (None, "*"):
                counted[None] = counted.get(None, 0) + counted.pop(text)
    return values_distortion(table, values, weights)


def _values_of(source: Source, columns: Sequence[str]) -> dict[str, Values]:
    """How often each value of some columns occurs, as text."""
    found: dict[str, Values] = {name: {} for name in columns}
    for batch in source.batches(columns, encoded=columns):
        for name in columns:
            column = encoded(batch.column(name), name)
            texts = [*text_of(column.dictionary).to_pylist(), None]
            indices = column.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
            for text, count in zip(texts, np.bincount(indices, minlength=len(texts)).tolist(), strict=True):
                if count:
                    found[name][text] = found[name].get(text, 0) + count
    return found
