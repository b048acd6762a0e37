"""The pipeline: read, encode, compress, search, recode. What follows, verify, measure and write, is in `release`.

Here is also what can be done without a search: apply a recoding to new rows, and verify any table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.config import check_spelling
from incrowd.engines import arrow
from incrowd.engines.output import AtomicFiles
from incrowd.engines.sources import Source, open_source
from incrowd.errors import InfeasibleError, UnknownNameError
from incrowd.policy import Policy, QuasiIdentifier, make_policy, quasi_identifiers_of
from incrowd.recodings.local.recoding import AnyRecoding, LocalRecoding, secret_key
from incrowd.recodings.recoding import Recoding
from incrowd.release import Release, check_outputs, recode, recount
from incrowd.search import Found, method_of
from incrowd.table import CompressedTable
from incrowd.witness import Verification, Witness

if TYPE_CHECKING:
    from incrowd.steps import Step
    from incrowd.taxonomies.rules import Rule
    from incrowd.taxonomies.taxonomy import Taxonomy


def anonymize(
    data: Any,
    *,
    quasi_identifiers: Iterable[str | QuasiIdentifier | Iterable[str] | Mapping[str, Any]],
    k: int | None = None,
    target: str | None = None,
    identifiers: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    taxonomies: Mapping[str, Taxonomy | Rule | str | Path] | str | Path | None = None,
    types: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[Any, Any]] | None = None,
    missing: str = "category",
    missing_values: Iterable[str] = (),
    method: str = "tdr",
    seed: int = 0,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    **options: Any,
) -> Release:
    """Make a k-anonymous release of a table.

    Args:
        data: Path of a CSV or Parquet file, or a pandas, polars or pyarrow table.
        quasi_identifiers: Columns that together could point at a person; or several such sets, each a
            `QuasiIdentifier` with a k of its own.
        k: Everyone must stand in a crowd of at least k.
        target: Column that models will predict; the release keeps what predicts it.
        identifiers: Columns to drop, such as names.
        sensitive: Columns to pass through untouched that are worth protecting.
        insensitive: Columns to pass through untouched, as are all that are not named.
        taxonomies: Taxonomy, rule or file by column, or a folder with a file per column. A column without one is
            generalized to intervals if it holds numbers or dates, else its rare values are suppressed.
        types: "number", "date" or "text" by column where detection is not wanted.
        ranges: Public lowest and highest value of columns of numbers or dates.
        missing: Missing values in quasi-identifiers are a "category" of their own, "drop" their rows, or an "error".
        missing_values: Texts that stand for a missing value, such as "?".
        method: Name of the search; see `incrowd methods`.
        seed: Seed of methods that draw random numbers.
        separator: Of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.
        **options: Options of the method, such as `max_steps` and `criterion`.

    Raises:
        PolicyError: The policy is wrong in itself or names unknown columns.
        DataError: The table cannot be read or used.
        InfeasibleError: No release can satisfy the policy.
    """
    check_spelling(options, anonymize)
    policy = make_policy(
        quasi_identifiers=quasi_identifiers,
        k=k,
        target=target,
        identifiers=identifiers,
        sensitive=sensitive,
        insensitive=insensitive,
        taxonomies=taxonomies,
        types=types,
        ranges=ranges,
        missing=missing,
        missing_values=missing_values,
        method=method,
        seed=seed,
        options=options,
    )
    source = open_source(data, separator=separator, quote=quote, encoding=encoding, header=header)
    return release_of(source, policy)


def release_of(
    source: Source,
    policy: Policy,
    *,
    on_rows: Callable[[int], object] | None = None,
    on_step: Callable[[Step], object] | None = None,
    on_progress: Callable[[object], object] | None = None,
) -> Release:
    """Run the pipeline on an open source.

    Args:
        source: The rows.
        policy: What to do.
        on_rows: Called with a number of rows while they are read.
        on_step: Called with each step of the search.
        on_progress: Called now and then with how far a search without steps is; with text before it starts, if it has
            something to say.
    """
    policy.check_columns(source.columns, source.name)
    search = method_of(policy.method, policy.options)
    policy, redundant = policy.without_redundant()
    notes = [f"dropped the quasi-identifier {qid}: another one implies it" for qid in redundant]
    table = arrow.compress(source, policy, on_rows)
    check_feasible(table, policy)
    found = search(table, policy.quasi_identifiers, policy.options, on_step, policy.seed, on_progress)
    recoding = recoding_of(found, policy, arrow.missing_values(source, policy))
    if isinstance(recoding, LocalRecoding):
        notes.append("the recoding file of a local method holds the original tuples: keep it confidential")
    return Release(policy, source, table, recoding, found, tuple(notes))


def recoding_of(found: Found, policy: Policy, missing_values: tuple[str, ...]) -> AnyRecoding:
    """The recoding that a search found."""
    label = policy.missing_values[0] if policy.missing_values else None
    words = (policy.identifiers, policy.missing, missing_values, label)
    if found.local is not None:
        return LocalRecoding(found.local, secret_key(found.local, policy.seed), *words)
    return Recoding(found.recoding, *words, found.classes)


def check_feasible(table: CompressedTable, policy: Policy) -> None:
    """A table can be released if and only if the most general one can: if it has at least k records."""
    for qid in policy.quasi_identifiers:
        if table.records < qid.k:
            raise InfeasibleError(
                f"no release can satisfy k={qid.k}: the table has {table.records} records; the largest k that works is "
                f"{table.records}"
            )


def verify(
    data: Any,
    *,
    quasi_identifiers: Iterable[str | QuasiIdentifier | Iterable[str] | Mapping[str, Any]],
    k: int | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Verification:
    """Count how large the crowds in a table are, whoever made it.

    Args:
        data: Path of a CSV or Parquet file, or a pandas, polars or pyarrow table.
        quasi_identifiers: As in `anonymize`.
        k: As in `anonymize`.
        separator: Of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.

    Returns:
        What was counted. `holds` says whether it is enough, `require()` raises NotAnonymousError if it is not.
    """
    qids = quasi_identifiers_of(quasi_identifiers, k)
    source = open_source(data, separator=separator, quote=quote, encoding=encoding, header=header)
    Policy(quasi_identifiers=qids).check_columns(source.columns, source.name)
    return recount(source, qids)


def apply(
    recoding: AnyRecoding | str | Path,
    data: Any,
    *,
    require: Iterable[QuasiIdentifier] = (),
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Any:
    """Recode new rows the way a release was recoded.

    The new rows are not k-anonymous by that alone: nobody counted them when the recoding was made.

    Args:
        recoding: The recoding of a release, or the file that it was written to.
        data: Path of a CSV or Parquet file, or a pandas, polars or pyarrow table.
        require: Quasi-identifiers that must hold for the new rows.
        separator: Of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.

    Returns:
        The same kind of frame, or an Arrow table for a file.

    Raises:
        NotAnonymousError: A required quasi-identifier does not hold.
    """
    recoding = Recoding.read(recoding) if isinstance(recoding, str | Path) else recoding
    source = open_source(data, separator=separator, quote=quote, encoding=encoding, header=header)
    rows = recode(source, fitted(recoding, source))
    if qids := tuple(require):
        recount(open_source(rows), qids).require()
    return rows


def apply_to_file(
    recoding: AnyRecoding,
    data: Any,
    output: str | Path,
    *,
    require: Iterable[QuasiIdentifier] = (),
    overwrite: bool = False,
    progress: Callable[[int], object] | None = None,
    **dialect: Any,
) -> None:
    """Recode new rows into a file, streaming; see `apply`. Nothing is written if a requirement does not hold."""
    source = open_source(data, **dialect)
    recoding = fitted(recoding, source)
    check_outputs(output, source, overwrite=overwrite, sidecars=False)
    witness = Witness(tuple(require))
    with AtomicFiles() as files:
        arrow.write(source, recoding, files.open(output), witness.see, progress)
        witness.verdict().require()


def fitted(recoding: AnyRecoding, source: Source) -> AnyRecoding:
    """The recoding, ready for a source: its columns are there, and what is missing in that kind of table counts so."""
    for name in recoding.names:
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    missing_values = tuple(dict.fromkeys((*recoding.missing_values, *source.missing_values)))
    return replace(recoding, missing_values=missing_values)
