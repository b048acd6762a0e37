"""A release: the recoded rows, how they came about, and what can be said of them.

Rows leave a release only past the witness: `data` and `write` recount the classes of what they hand out and raise
before anyone sees rows that do not satisfy the policy.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd.engines import arrow
from incrowd.engines.frames import FrameSource
from incrowd.engines.output import AtomicFiles, check_output
from incrowd.engines.sources import Source, WatchedFile, open_source
from incrowd.errors import PolicyError
from incrowd.hierarchical_distance import HEIGHT, Weights
from incrowd.measures import Measures, measure
from incrowd.policy import Policy, QuasiIdentifier
from incrowd.recodings.local.recoding import AnyRecoding
from incrowd.recodings.recoding import Recoding
from incrowd.search import Found
from incrowd.steps import Step
from incrowd.table import CompressedTable
from incrowd.witness import Verification, Witness

if TYPE_CHECKING:
    from incrowd.release_distortion import Distortion

Progress = Callable[[int], object]


@dataclass(frozen=True)
class Certificate:
    """What a release promises and how to check it: policy, anonymity reached, hashes, versions, seed."""

    policy: dict[str, Any]
    verification: dict[str, Any]
    input: str
    output: str
    versions: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {"incrowd": "certificate", **self.__dict__}


@dataclass(frozen=True)
class Release:
    """The result of `anonymize`.

    Args:
        policy: What it satisfies, redundant quasi-identifiers left out.
        source: The rows it was made from.
        table: The compressed table.
        recoding: What every value became.
        found: What the search gave: steps and facts.
        notes: What a user should know.
    """

    policy: Policy
    source: Source = field(repr=False)
    table: CompressedTable = field(repr=False)
    recoding: AnyRecoding = field(repr=False)
    found: Found = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """How the search got there, of a greedy method."""
        return self.found.steps

    @cached_property
    def measures(self) -> Measures:
        """What the release lost."""
        labels = arrow.label_counts(self.source, self.recoding, self.table, self.policy.target)
        return measure(self.table, self.recoding, self.policy.quasi_identifiers, labels)

    def distortion(self, weights: Weights = HEIGHT) -> Distortion:
        """How far the values were generalized in their hierarchies."""
        from incrowd.release_distortion import release_distortion

        return release_distortion(self.table, self.recoding, weights)

    @cached_property
    def data(self) -> Any:
        """The released rows, verified: the kind of frame that was given, or an Arrow table for a file."""
        rows = recode(self.source, self.recoding)
        recount(open_source(rows), self.policy.quasi_identifiers).require()
        return rows

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of `data`; what `write` writes has its own."""
        rows = open_source(self.data)
        return self._certificate(recount(rows, self.policy.quasi_identifiers), rows.fingerprint())

    def at(self, step: int) -> Release:
        """The release after that many steps of a greedy method, 0 for where the search began.

        Only what satisfies the policy leaves it: a state on the way of a bottom-up search can be measured, but `data`
        and `write` raise.
        """
        if self.found.at is None or not isinstance(self.recoding, Recoding):
            raise PolicyError(
                f"The method '{self.policy.method}' has no release at a step; that needs a greedy, global one."
            )
        if not 0 <= step <= len(self.steps):
            raise PolicyError(f"The 'step' parameter must lie between 0 and {len(self.steps)}. Got {step}.")
        if step == len(self.steps):
            return self
        recoding = replace(self.recoding, attributes=self.found.at(step), classes=None)
        return replace(self, recoding=recoding, found=replace(self.found, steps=self.steps[:step]))

    def write(
        self, path: str | Path, *, overwrite: bool = False, sidecars: bool = True, progress: Progress | None = None
    ) -> Certificate:
        """Write the release, and beside it its recoding, steps and certificate.

        The rows are verified while they are written; the files appear together, and only when all is well.

        Args:
            path: Where to; the suffix says whether CSV or Parquet.
            overwrite: Whether existing files may be replaced.
            sidecars: Whether to write the other files too.
            progress: Called with a number of rows, again and again.

        Raises:
            OutputError: The files cannot be written there.
            NotAnonymousError: The rows failed the recount; nothing was written.
        """
        check_outputs(path, self.source, overwrite=overwrite, sidecars=sidecars)
        with AtomicFiles() as files, ThreadPoolExecutor(1) as pool:
            fingerprint = pool.submit(self.source.fingerprint)  # while the rows are written
            witness = Witness(self.policy.quasi_identifiers)
            output = arrow.write(self.source, self.recoding, files.open(path), witness.see, progress, seen=True)
            fingerprint.result()  # the source remembers it
            certificate = self._certificate(witness.verdict().require(), output)
            if sidecars:
                steps = [step.to_json({*self.recoding.labels(step.attribute), None}) for step in self.steps]
                contents = (self.recoding.to_json(), steps, certificate.to_json())
                for target, content in zip(sidecar_paths(path), contents, strict=True):
                    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
                    files.open(target).write_text(text, encoding="utf-8")
        return certificate

    def _certificate(self, verification: Verification, output: str) -> Certificate:
        versions = {name: version(name) for name in ("incrowd", "numpy", "pyarrow")}
        versions["python"] = platform.python_version()
        found = verification.to_json()
        return Certificate(self.policy.to_json(), found, self.source.fingerprint(), output, versions)

    def to_json(self) -> dict[str, Any]:
        """Everything but the rows and the steps."""
        return {
            "policy": self.policy.to_json(),
            "measures": self.measures.to_json(),
            "steps": len(self.steps),
            "facts": dict(self.found.facts),
            "released_values": {name: list(self.recoding.labels(name)) for name in self.recoding.names},
            "notes": list(self.notes),
        }


def recode(source: Source, recoding: AnyRecoding) -> Any:
    """The rows of a source, recoded: the same kind of frame, or an Arrow table for a file."""
    if isinstance(source, FrameSource):
        return arrow.frame(source, recoding)
    table = pa.Table.from_batches(list(arrow.released(source, recoding)))
    for place, name in enumerate(table.column_names):
        if name in recoding.names:
            table = table.set_column(place, name, table.column(name).cast(pa.string()))
    return table


def recount(
    source: Source, quasi_identifiers: Sequence[QuasiIdentifier], progress: Progress | None = None
) -> Verification:
    """What the witness finds in the rows of a source."""
    witness = Witness(quasi_identifiers)
    for batch in source.batches(witness.columns, encoded=witness.columns):
        witness.see(batch)
        if progress is not None:
            progress(len(batch))
    return witness.verdict()


def sidecar_paths(path: str | Path) -> tuple[Path, Path, Path]:
    """Where recoding, steps and certificate of a release go."""
    path = Path(path)
    stem = path.name.removesuffix(".gz").rpartition(".")[0]
    recoding, steps, certificate = (
        path.with_name(f"{stem}.{word}.json") for word in ("recoding", "steps", "certificate")
    )
    return recoding, steps, certificate


def check_outputs(path: str | Path, source: Source, *, overwrite: bool, sidecars: bool) -> None:
    """Check that all files of a release can be written, before any work is done."""
    inputs: Iterable[Path] = [source.path] if isinstance(source, WatchedFile) else []
    check_output(path, inputs=inputs, overwrite=overwrite)
    for sidecar in sidecar_paths(path) if sidecars else ():
        check_output(sidecar, inputs=inputs, overwrite=overwrite, suffixes=(".json",))
