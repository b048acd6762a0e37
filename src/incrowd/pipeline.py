"""The one pipeline: read, encode, compress, search. What follows (recode, verify, measure, write) is in `release`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.engines.engine import Engine, engine_of
from incrowd.errors import InfeasibleError
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.policy.toml import check_spelling
from incrowd.policy.words import make_policy
from incrowd.recodings.recoding import Recoding
from incrowd.release import Release
from incrowd.run import Run, Watch
from incrowd.search.registry import method_of
from incrowd.table.compressed import CompressedTable

if TYPE_CHECKING:
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
    strict: bool = False,
    time_limit: float | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    progress: Watch | bool | None = None,
    **options: Any,
) -> Release:
    """Make a k-anonymous release of a table.

    Args:
        data: Path of a file, or a pandas, polars or pyarrow table.
        quasi_identifiers: Columns that together could identify a person; or several such sets, each a
            `QuasiIdentifier` with its own k.
        k: Size of the smallest crowd that anyone may be in.
        target: Column that models will predict; the release keeps what predicts it.
        identifiers: Columns to drop, such as names.
        sensitive: Columns worth protecting that pass through unchanged.
        insensitive: Columns that pass through unchanged, like all columns that are not named.
        taxonomies: Taxonomy, rule or file by column, or a folder with a file per column. A column without one is
            generalized to intervals if it holds numbers or dates; otherwise its rare values are suppressed.
        types: "number", "date" or "text" by column, instead of detecting it.
        ranges: Public lowest and highest value of columns of numbers or dates.
        missing: Missing values in quasi-identifiers are a "category" of their own, "drop" their rows, or an "error".
        missing_values: Texts that stand for a missing value, such as "?".
        method: Name of the search; see `incrowd.methods()`.
        seed: Seed of methods that draw random numbers.
        strict: Whether to refuse until every column has a role; else columns without one pass through untouched.
        time_limit: Seconds after which a method that can stop early returns the best it has, and any other fails.
        separator: Separator of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.
        progress: Called with every event of the run (see `incrowd.run`); True for a line on stderr, False for nothing.
            The default is a bar in notebooks and nothing elsewhere.
        **options: Options of the method, such as `max_steps` and `criterion`.

    Raises:
        PolicyError: The policy is inconsistent or names unknown columns.
        DataError: The table cannot be read or used.
        InfeasibleError: No release can satisfy the policy.
        TimeLimitError: The time limit was reached before there was anything to release.

    Example:
        >>> import incrowd
        >>> release = incrowd.anonymize(
        ...     incrowd.datasets.german(), quasi_identifiers=["age", "job", "housing"], k=5, target="credit"
        ... )
        >>> release.measures.total.anonymity >= 5
        True
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
        strict=strict,
        time_limit=time_limit,
        options=options,
    )
    from incrowd.report.progress import watching

    source = open_source(data, separator=separator, quote=quote, encoding=encoding, header=header)
    with watching(progress) as watch:
        return release_of(source, policy, Run(watch, seed=policy.seed, time_limit=policy.time_limit))


def release_of(
    source: Source,
    policy: Policy,
    run: Run | None = None,
    *,
    engine: Engine | None = None,
    table: CompressedTable | None = None,
) -> Release:
    """Run the pipeline on an open source.

    Args:
        source: The rows.
        policy: What to do.
        run: Gets the events, and is asked whether to go on.
        engine: What touches the rows.
        table: The rows compressed, where that was done before.
    """
    run = run or Run(seed=policy.seed, time_limit=policy.time_limit)
    engine = engine or engine_of()
    policy.check_columns(source.columns, source.name)
    policy, redundant = policy.without_redundant()
    search = method_of(policy.method, policy.options, len(policy.quasi_identifiers))
    notes = [f"dropped the quasi-identifier {qid}, because another one implies it" for qid in redundant]
    if table is None:
        run.stage("reading")
        table = engine.compress(source, policy, run)
    check_feasible(table, policy)
    run.stage("searching")
    found = search(table, policy.requirements, policy.options, run)
    recoding = handled(found.recoding, policy, engine.missing_values(source, policy))
    if recoding.is_confidential:
        notes.append("the recoding file of a local method contains the original tuples; keep it confidential")
    if early := found.facts.get("stopped") if run.ended_early else None:
        notes.append(f"the search was stopped early ({early}); the release is the best one found by then")
    return Release(policy, source, table, replace(found, recoding=recoding), tuple(notes))


def handled(recoding: Recoding, policy: Policy, missing_values: tuple[str, ...]) -> Recoding:
    """The recoding that a search found, with what the policy says of missing values and columns to drop."""
    return replace(  # type: ignore[type-var]
        recoding,
        dropped=policy.identifiers,
        missing=policy.missing,
        missing_values=missing_values,
        missing_label=policy.missing_values[0] if policy.missing_values else None,
    )


def check_feasible(table: CompressedTable, policy: Policy) -> None:
    """A table can be released if and only if the most general one can: if all records together are a good class."""
    everyone = table.class_counts(np.zeros(len(table.counts), np.int64), 1)
    for requirement in policy.requirements:
        for model in requirement.models:
            best = model.levels(everyone)[0].item()
            if best < model.threshold:
                raise InfeasibleError(
                    f"no release can satisfy {model}: the table has {table.records} records, and the best possible "
                    f"level is {best}"
                )
