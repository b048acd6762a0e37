"""`anonymize`: what a user asks for in Python, handed to the pipeline."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.display import stopping, watching
from incrowd.errors import ReleaseWarning
from incrowd.formats.registry import open_source
from incrowd.key import Key
from incrowd.policy.making import make_policy
from incrowd.policy.options import ENGINE, OPTIONS, PROMISED, SEVERAL
from incrowd.policy.policy import QuasiIdentifier
from incrowd.policy.toml import check_spelling
from incrowd.privacy.declared import Declared
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.release.release import Release, release_of
from incrowd.run import Run, Watch

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
    levels: Mapping[str, int | tuple[int, int | None]] | None = None,
    form: Mapping[str, str] | None = None,
    missing: str = "category",
    missing_values: Iterable[str] = (),
    method: str = "auto",
    key: Key | str | Path | None = None,
    strict: bool = False,
    keep_order: bool = False,
    time_limit: float | None = None,
    dictionary: str | Iterable[str] = (),
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
        levels: Lowest and highest level of generalization by column: 0 is the value itself, `(1, 3)` at least one and
            at most three levels of its taxonomy above, `(1, None)` at least one. A column at level 0 stays as it is,
            and still counts. See `docs/policy.md`.
        form: By column of numbers or dates, what a crowd shows instead of a range: its "mean", "median" or "mode", or
            "mean:5" for multiples of five. Says more than a range; see `docs/security.md`.
        missing: Missing values in quasi-identifiers are a "category" of their own, "drop" their rows, or an "error".
        missing_values: Texts that stand for a missing value, such as "?".
        method: Name of the search, or "auto" for the one that suits; see `incrowd.methods()`.
        key: The key of an earlier release, or the path of its `key.json`, to make the very same release again. By
            default a new one is drawn: nobody else can then rebuild which of several equal records went where.
        strict: Whether to refuse until every column has a role; else columns without one pass through untouched.
        keep_order: Whether released rows stay in the order of the original ones. In a sorted table that undoes much of
            the protection, so by default they leave in an order that follows from what is released alone.
        time_limit: Seconds after which a method that can stop early returns the best it has, and any other fails.
        dictionary: Data dictionaries that `Release.write` puts beside the release: "frictionless" (a table schema),
            "ddi" (DDI-Codebook) or "all".
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
            of its people in a class, and `delta_presence`, the largest share of them that may be in the table. And
            `ledger`, the folder that knows earlier releases, with `recipient` and `wait`; see
            `docs/releases-over-time.md`.

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
    given = {name: value for name, value in locals().items() if name in OPTIONS and name != "options"}
    given |= {name: options.pop(name) for name in (*PROMISED, *ENGINE, *SEVERAL) if name in options}
    check_spelling(options, anonymize)
    policy = make_policy(**given, privacy=privacy, options=options)
    dialect: dict[str, Any] = {"separator": separator, "quote": quote, "encoding": encoding, "header": header}
    dialect |= {"strip": strip, "sheet": sheet, "value_labels": value_labels, "query": query}
    source = open_source(data, **dialect, engine=engine, master=policy.master)
    with watching(progress) as watch:
        run = Run(watch, key=Key.of(key), time_limit=policy.time_limit)
        with stopping(run, watch):
            release = release_of(source, policy, run)
    for text in release.warnings:
        warnings.warn(text, ReleaseWarning, stacklevel=2)
    return release
