"""The one pipeline: read, encode, compress, search. What follows (recode, verify, measure, write) is in `release`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.display import watching
from incrowd.engines.engine import Engine
from incrowd.engines.reading import missing_values as missing_texts
from incrowd.engines.reading import read_table, released_classes
from incrowd.engines.registry import engine_for
from incrowd.errors import ReleaseWarning
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import Look, look_at, with_comma_types
from incrowd.key import Key
from incrowd.policy.options import ENGINE, OPTIONS, PROMISED
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.policy.toml import check_spelling
from incrowd.policy.words import make_policy
from incrowd.population.table import with_open_population
from incrowd.privacy.declared import Declared
from incrowd.privacy.feasibility import check_feasible, check_harmless
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.recodings.recoding import Recoding
from incrowd.release.notes import notes_of
from incrowd.release.release import Release
from incrowd.run import Run, Watch
from incrowd.search.leaving_out import searched
from incrowd.search.registry import method_of
from incrowd.table.compressed import CompressedTable
from incrowd.table.out_of_core import OutOfCoreTable

if TYPE_CHECKING:
    from incrowd.taxonomies.rules import Rule
    from incrowd.taxonomies.taxonomy import Taxonomy


def anonymize(
    data: Any,
    *,
    quasi_identifiers: Iterable[str | QuasiIdentifier | Iterable[str] | Mapping[str, Any]],
    k: int | KAnonymity | None = None,
    privacy: Iterable[Declared] = (),
    target: str | None = None,
    identifiers: Iterable[str] = (),
    unit: str | None = None,
    sensitive: Iterable[str] | Mapping[str, Mapping[str, Any]] = (),
    l: int | Mapping[str, int] | None = None,
    t: float | Mapping[str, float] | None = None,
    insensitive: Iterable[str] = (),
    keep: Iterable[str] = (),
    taxonomies: Mapping[str, Taxonomy | Rule | str | Path] | str | Path | None = None,
    types: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[Any, Any]] | None = None,
    missing: str = "category",
    missing_values: Iterable[str] = (),
    method: str = "auto",
    key: Key | str | Path | None = None,
    strict: bool = False,
    keep_order: bool = False,
    time_limit: float | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    strip: bool | None = None,
    sheet: str | None = None,
    value_labels: str | None = None,
    query: str | None = None,
    engine: str = "auto",
    progress: Watch | bool | None = None,
    **options: Any,
) -> Release:
    """Make a k-anonymous release of a table.

    Args:
        data: Path of a file; a pandas, polars or pyarrow table, or anything with the Arrow stream interface; see
            `docs/large-data.md` for databases and clusters.
        quasi_identifiers: Columns that together could identify a person; or several such sets, each a
            `QuasiIdentifier` with its own k.
        k: Size of the smallest crowd that anyone may be in.
        privacy: Privacy models such as `KAnonymity(5)` and `LDiversity("diagnosis", 3)`; `k`, `l`, `t` and the other
            promises are the short way to write them.
        target: Column that models will predict; the release keeps what predicts it.
        identifiers: Columns to drop, such as names.
        unit: Column that says whose record it is, where one person may have several; k then counts people, and the
            column is dropped.
        sensitive: Columns worth protecting, which pass through unchanged; or what is promised about each, such as
            `{"diagnosis": {"l": 3, "t": 0.2}}`.
        l: At least this many values of every sensitive column in every class; or by column.
        t: The values of every sensitive column are distributed in every class as in the whole,
            within this distance; or by column.
        insensitive: Columns that pass through unchanged, like all columns that are not named.
        keep: Columns that leave as they are on purpose, though they look like names, ids, addresses or free text, or
            are nearly unique. Without it, such a column stops the run.
        taxonomies: Taxonomy, rule or file by column, or a folder with a file per column. A column without one is
            generalized to intervals if it holds numbers or dates; otherwise its rare values are suppressed.
        types: "number", "comma" (a number with a decimal comma), "date" or "text" by column, instead of detecting it.
        ranges: Public lowest and highest value of columns of numbers or dates.
        missing: Missing values in quasi-identifiers are a "category" of their own, "drop" their rows, or an "error".
        missing_values: Texts that stand for a missing value, such as "?".
        method: Name of the search, or "auto" for the one that suits; see `incrowd.methods()`.
        key: The key of an earlier release, or the path of its `key.json`, to make the very same release again. By
            default a new one is drawn: nobody else can then rebuild which of several equal records went where.
        strict: Whether to refuse until every column has a role; else columns without one pass through untouched.
        keep_order: Whether released rows stay in the order of the original ones. In a sorted table that undoes much of
            the protection, so by default they leave in an order that follows from what is released alone.
        time_limit: Seconds after which a method that can stop early returns the best it has, and any other fails.
        separator: Separator of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.
        strip: Whether to leave out blanks around the values of a CSV file.
        sheet: Name of the sheet of an Excel file, where it has several.
        value_labels: Whether to "keep" the codes of a Stata or SPSS file (the default), or to "apply" their labels.
        query: What to read of a database, in SQL.
        engine: What reads, counts and writes rows; "auto" for the one that suits the table. The release is the same.
            The settings of engines are options too: `memory_limit`, `spill_folder`, `master`, `most_tuples`.
        progress: Called with every event of the run (see `incrowd.run`); True for a line on stderr, False for nothing.
            The default is a bar in notebooks and nothing elsewhere.
        **options: Options of the method, such as `max_steps` and `criterion`, and promises about sensitive columns, for
            all of them or by column, such as `alpha` and `entropy_l`. Also
            `population_table`, a table of everyone that the records were drawn from, with `k_map`, the smallest number
            of its people in a class, and `delta_presence`, the largest share of them that may be in the table.

    Raises:
        PolicyError: The policy is inconsistent or names unknown columns, or a column that would leave as it is may
            name people.
        DataError: The table cannot be read or used.
        InfeasibleError: No release can satisfy the policy.
        TimeLimitError: The time limit was reached before there was anything to release.

    Example:
        >>> import incrowd
        >>> release = incrowd.anonymize(
        ...     incrowd.datasets.german(),
        ...     quasi_identifiers=["age", "job", "housing"],
        ...     k=5,
        ...     target="credit",
        ...     keep=["credit-amount"],  # nearly unique, but nobody outside knows it
        ... )
        >>> release.measures.total.anonymity >= 5
        True
    """
    given = {word: value for word, value in locals().items() if word in OPTIONS and word != "options"}
    given |= {word: options.pop(word) for word in (*PROMISED, *ENGINE) if word in options}
    check_spelling(options, anonymize)
    policy = make_policy(**given, privacy=privacy, options=options)
    dialect: dict[str, Any] = {"separator": separator, "quote": quote, "encoding": encoding, "header": header}
    dialect |= {"strip": strip, "sheet": sheet, "value_labels": value_labels, "query": query}
    source = open_source(data, **dialect, engine=engine, master=policy.master)
    with watching(progress) as watch:
        release = release_of(source, policy, Run(watch, key=Key.of(key), time_limit=policy.time_limit))
    for text in release.warnings:
        warnings.warn(text, ReleaseWarning, stacklevel=2)
    return release


def release_of(
    source: Source,
    policy: Policy,
    run: Run | None = None,
    *,
    engine: Engine | None = None,
    table: CompressedTable | OutOfCoreTable | None = None,
    look: Look | None = None,
) -> Release:
    """Run the pipeline on an open source.

    Args:
        source: The rows.
        policy: What to do.
        run: Gets the events, is asked whether to go on, and has the key.
        engine: What touches the rows.
        table: The rows compressed, where that was done before.
        look: What its columns look like, where that was seen before, or where nobody gets the rows.

    Raises:
        NamesPeopleError: A column that would leave as it is may name people; nothing was searched.
    """
    run = run or Run(time_limit=policy.time_limit)
    engine = engine or engine_for(policy, source)
    policy.check_columns(source.columns, source.name)
    policy, redundant = with_open_population(policy).without_redundant()
    policy = with_comma_types(policy, source)
    search = method_of(policy.method, policy.options, len(policy.quasi_identifiers))
    if look is None:
        look = look_at(source, policy, run).require(policy.keep, source.name)
    if table is None:
        run.stage("reading")
        table = read_table(engine, source, policy, run)
    check_harmless(table, policy.models_of_columns, policy.missing_values)
    requirements = tuple(requirement.fitted(table.protected) for requirement in policy.requirements)
    check_feasible(table, requirements)
    run.stage("searching")
    found = searched(search, table, requirements, policy.options, run, policy.secrets)
    notes = notes_of(policy, redundant, table, found, run, engine.name)
    if (chosen := found.facts.get("method")) and not policy.options.get("suppress"):  # it could tell who was left out
        policy = replace(policy, method=chosen, options=found.facts["options"])
    if isinstance(table, OutOfCoreTable):
        table = released_classes(table, found.recoding)
    recoding = with_policy_settings(found.recoding, policy, missing_texts(source, policy))
    return Release(policy, source, table, replace(found, recoding=recoding), notes, engine, run.key, look)


def with_policy_settings(recoding: Recoding, policy: Policy, missing_values: tuple[str, ...]) -> Recoding:
    """The recoding that a search found, with what the policy says of missing values and columns to drop."""
    return replace(
        recoding,
        dropped=policy.dropped,
        missing=policy.missing,
        missing_values=missing_values,
        missing_label=policy.missing_values[0] if policy.missing_values else None,
    )
