"""What can be done with existing tables and recodings: verify, apply, compare a release with its original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.engines.engine import engine_of
from incrowd.errors import UnknownNameError
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.measures.distortion import Distortion, Values, values_distortion
from incrowd.measures.hierarchical_distance import HEIGHT, Weights
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.policy.words import make_policy, quasi_identifiers_of
from incrowd.recodings.recoding import Recoding, read_recoding
from incrowd.release import check_outputs, recount
from incrowd.run import Run
from incrowd.table.missing import encoded
from incrowd.witness import Verification, Witness

if TYPE_CHECKING:
    from incrowd.run import Watch


def verify(
    data: Any,
    *,
    quasi_identifiers: Iterable[str | QuasiIdentifier | Iterable[str] | Mapping[str, Any]],
    k: int | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    progress: Watch | None = None,
) -> Verification:
    """Count how large the crowds in any table are.

    Args:
        data: Path of a file, or a pandas, polars or pyarrow table.
        quasi_identifiers: As in `anonymize`.
        k: As in `anonymize`.
        separator: Separator of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.
        progress: Called with every event of the run.

    Returns:
        What was counted. `holds` says whether it is enough, `require()` raises NotAnonymousError if it is not.

    Example:
        >>> import incrowd, pyarrow
        >>> people = pyarrow.table({"age": [30, 30, 40, 40], "sex": ["f", "f", "m", "m"]})
        >>> incrowd.verify(people, quasi_identifiers=["age", "sex"], k=2).holds
        True
    """
    qids = quasi_identifiers_of(quasi_identifiers, k)
    source = open_source(data, separator=separator, quote=quote, encoding=encoding, header=header)
    Policy(quasi_identifiers=qids).check_columns(source.columns, source.name)
    return recount(source, qids, Run(progress))


def apply(
    recoding: Recoding | str | Path,
    data: Any,
    *,
    require: Iterable[QuasiIdentifier] = (),
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    progress: Watch | None = None,
) -> Any:
    """Recode new rows the way a release was recoded.

    This alone does not make the new rows k-anonymous: they were not counted when the recoding was made.

    Args:
        recoding: The recoding of a release, or the file that it was written to.
        data: Path of a file, or a pandas, polars or pyarrow table.
        require: Quasi-identifiers that must hold for the new rows.
        separator: Separator of a CSV file; detected if not given, like the next three.
        quote: Quote character of a CSV file.
        encoding: Encoding of a CSV file.
        header: Whether a CSV file has a header.
        progress: Called with every event of the run.

    Returns:
        The same kind of frame, or an Arrow table for a file.

    Raises:
        NotAnonymousError: A required quasi-identifier does not hold.
    """
    recoding = read_recoding(recoding) if isinstance(recoding, str | Path) else recoding
    source = open_source(data, separator=separator, quote=quote, encoding=encoding, header=header)
    run = Run(progress)
    rows = engine_of().recoded(source, fitted(recoding, source), run)
    if qids := tuple(require):
        recount(open_source(rows), qids, run).require()
    return rows


def apply_to_file(
    recoding: Recoding,
    data: Any,
    output: str | Path,
    run: Run,
    *,
    require: Iterable[QuasiIdentifier] = (),
    overwrite: bool = False,
    **dialect: Any,
) -> None:
    """Recode new rows into a file, streaming; see `apply`. Nothing is written if a requirement does not hold."""
    source = open_source(data, **dialect)
    recoding = fitted(recoding, source)
    check_outputs(output, source, overwrite=overwrite, sidecars=False)
    witness = Witness(tuple(require))
    with AtomicFiles() as files:
        engine_of().write(source, recoding, files.open(output), witness.see, run)
        witness.verdict().require()


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
            texts = [*(None if value is None else str(value) for value in column.dictionary.to_pylist()), None]
            indices = column.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
            for text, count in zip(texts, np.bincount(indices, minlength=len(texts)).tolist(), strict=True):
                if count:
                    found[name][text] = found[name].get(text, 0) + count
    return found
