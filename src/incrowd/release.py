"""A release: the recoded rows, how they came about, and what can be said about them.

Rows leave a release only after the witness has checked them: `data` and `write` recount the classes of what they hand
out and raise before anyone sees rows that do not satisfy the policy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.certificate import Certificate
from incrowd.engines.engine import engine_of
from incrowd.errors import PolicyError
from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source, WatchedFile
from incrowd.measures.hierarchical_distance import HEIGHT, Weights
from incrowd.measures.measures import Measures, measure
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.recodings.recoding import Recoding
from incrowd.recodings.replay import replayed
from incrowd.recodings.steps import Step
from incrowd.run import Run
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable
from incrowd.witness import Verification, Witness

if TYPE_CHECKING:
    from incrowd.measures.distortion import Distortion
    from incrowd.risk.assessment import ReleaseRisk


@dataclass(frozen=True)
class Release:
    """The result of `anonymize`. All of it is data: it can be pickled and sent to another process.

    Args:
        policy: What it satisfies, redundant quasi-identifiers left out.
        source: The rows it was made from.
        table: The compressed table.
        found: What the search gave: the recoding, steps and facts.
        notes: What a user should know.
    """

    policy: Policy
    source: Source = field(repr=False)
    table: CompressedTable = field(repr=False)
    found: SearchResult = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def recoding(self) -> Recoding:
        """What became of every value, or of every tuple."""
        return self.found.recoding

    @property
    def untouched(self) -> tuple[str, ...]:
        """The columns without a role, which pass through as they are."""
        return self.policy.untouched(self.source.columns)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is risky about the columns that pass through: near-unique ones, and what looks like names or ids."""
        from incrowd.inspection.inspection import column_warnings

        passed = [*self.untouched, *self.policy.sensitive, *self.policy.insensitive]
        return tuple(column_warnings(self.source, passed, Run()))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the search, for a greedy method."""
        return self.found.steps

    @cached_property
    def measures(self) -> Measures:
        """What the release has lost."""
        labels, target = None, self.policy.target
        if target is not None and (parts := self.recoding.parts(self.table)).dealt:
            sizes = len(parts.records)
            labels = engine_of().label_counts(self.source, self.recoding, target, self.table.labels, sizes, Run())
        return measure(self.table, self.recoding, self.policy.requirements, labels)

    def distortion(self, weights: Weights = HEIGHT) -> Distortion:
        """How far the values were generalized in their hierarchies."""
        from incrowd.measures.distortion import release_distortion

        return release_distortion(self.table, self.recoding, weights)

    @cached_property
    def risk(self) -> ReleaseRisk:
        """What an attacker could do before and after; `incrowd.assess` tells more, where the population is known."""
        from incrowd.risk.assessment import BeforeAndAfter, Question, ReleaseRisk, risk_of

        released, pairs = open_source(self.data), []
        for qid in self.policy.quasi_identifiers:
            question = Question.of(qid.attributes, sensitive=self.policy.sensitive)
            before, after = (risk_of(rows, question, Run()) for rows in (self.source, released))
            pairs.append(BeforeAndAfter(before, after))
        return ReleaseRisk(tuple(pairs))

    @cached_property
    def data(self) -> Any:
        """The released rows, verified: the kind of frame that was given, or an Arrow table for a file."""
        rows = engine_of().recoded(self.source, self.recoding, Run())
        recount(open_source(rows), self.policy.quasi_identifiers).require()
        return rows

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of `data`; what `write` writes has its own."""
        rows = open_source(self.data)
        verification = recount(rows, self.policy.quasi_identifiers)
        digests = self.source.fingerprint(), rows.fingerprint()
        return Certificate.of(self.policy, verification, *digests, untouched=self.untouched)

    def at(self, step: int) -> Release:
        """The release after that many steps of a greedy method, 0 for where the search began.

        Only rows that satisfy the policy are released: an earlier state of a bottom-up search can be measured, but
        `data` and `write` raise.
        """
        if self.found.begins is None:
            raise PolicyError(
                f"The method '{self.policy.method}' keeps no release at a step; use a greedy global one, such as 'tdr'."
            )
        if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= len(self.steps):
            raise PolicyError(f"The 'step' parameter must be between 0 and {len(self.steps)}. Got {step!r}.")
        if step == len(self.steps):
            return self
        steps = self.steps[:step]
        made = replayed(self.table.attributes, steps, self.found.begins)
        kept = {
            name: getattr(self.recoding, name) for name in ("dropped", "missing", "missing_values", "missing_label")
        }
        return replace(self, found=replace(self.found, recoding=replace(made, **kept), steps=steps))

    def write(
        self, path: str | Path, *, overwrite: bool = False, sidecars: bool = True, run: Run | None = None
    ) -> Certificate:
        """Write the release, and next to it its recoding, steps and certificate.

        The rows are verified while they are written; the files appear together, and only when all is well.

        Args:
            path: Where to write; the suffix determines the format.
            overwrite: Whether existing files may be replaced.
            sidecars: Whether to write the other files too.
            run: Gets the number of rows, and is asked whether to go on.

        Raises:
            OutputError: The files cannot be written there.
            NotAnonymousError: The rows failed the recount; nothing was written.
        """
        run = run or Run()
        run.anytime = True  # there is a release: a time limit no longer ends it
        run.stage("writing")
        check_outputs(path, self.source, overwrite=overwrite, sidecars=sidecars)
        with AtomicFiles() as files, ThreadPoolExecutor(1) as pool, run.cancelling():
            fingerprint = pool.submit(self.source.fingerprint, run.check)  # while the rows are written
            witness = Witness(self.policy.quasi_identifiers)
            output = engine_of().write(self.source, self.recoding, files.open(path), witness.see, run, seen=True)
            verification = witness.verdict().require()
            digests = fingerprint.result(), output
            certificate = Certificate.of(self.policy, verification, *digests, untouched=self.untouched)
            if sidecars:
                steps = [step.to_json({*self.recoding.labels(step.attribute), None}) for step in self.steps]
                contents = (self.recoding.to_json(), steps, certificate.to_json())
                for target, content in zip(sidecar_paths(path), contents, strict=True):
                    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
                    files.open(target).write_text(text, encoding="utf-8")
        return certificate

    def preview(self, rows: int = 5) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """The quasi-identifiers of the first few rows, before and after, by column; confidential."""
        names = self.recoding.names
        first = next(self.source.batches(names, encoded=names)).slice(0, rows)
        after = next(engine_of().recode(self.source, self.recoding, Run())).slice(0, rows)
        return tuple({name: batch.column(name).to_pylist() for name in names} for batch in (first, after))  # type: ignore[return-value]

    def to_json(self) -> dict[str, Any]:
        """Everything but the rows and the steps."""
        return {
            "policy": self.policy.to_json(),
            "measures": self.measures.to_json(),
            "steps": len(self.steps),
            "facts": dict(self.found.facts),
            "released_values": {name: list(self.recoding.labels(name)) for name in self.recoding.names},
            "untouched": list(self.untouched),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


def recount(source: Source, quasi_identifiers: Sequence[QuasiIdentifier], run: Run | None = None) -> Verification:
    """What the witness finds in the rows of a source."""
    run = run or Run()
    witness = Witness(quasi_identifiers)
    for batch in source.batches(witness.columns, encoded=witness.columns):
        witness.see(batch)
        run.rows(len(batch))
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
