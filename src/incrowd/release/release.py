"""A release: the recoded rows, how they came about, and what can be said about them.

Rows leave a release only after the witness has checked them: `data` and `write` recount the classes of what they hand
out and raise before anyone sees rows that do not satisfy the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd import display
from incrowd.advice.warnings import form_warnings, warnings_of
from incrowd.advice.why import Why, hints, why
from incrowd.attacks.attack import attack
from incrowd.attacks.result import AttackReport
from incrowd.display import Displayed
from incrowd.engines.engine import Engine
from incrowd.engines.plan import ReleasePlan
from incrowd.engines.reading import compressed
from incrowd.errors import IncrowdError, PolicyError
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import Look, look_at, steady_warning
from incrowd.key import Key
from incrowd.ledger.outgoing import Outgoing, outgoing
from incrowd.measures.distortion import Distortion, release_distortion
from incrowd.measures.hierarchical_distance import HEIGHT, Weights
from incrowd.measures.measures import Measures, measure
from incrowd.pipeline import Draft, draft, publish, verified
from incrowd.policy.dictionary import dictionaries
from incrowd.policy.policy import Policy
from incrowd.population.table import Everyone, released_population
from incrowd.recodings.learned_hierarchies import grown_bounds
from incrowd.recodings.recoding import FROM_POLICY, Recoding
from incrowd.recodings.replay import replayed
from incrowd.recodings.steps import Step
from incrowd.release.changes import Changes
from incrowd.release.number_columns import as_numbers, frame_of
from incrowd.release.weighted_loss import WeightedLoss, weighted_loss
from incrowd.risk.assessment import ReleaseRisk, release_risk
from incrowd.run import Run
from incrowd.search.leaving_out import released_after
from incrowd.search.registry import METHODS
from incrowd.table.attributes import NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.missing import listed
from incrowd.table.out_of_core import OutOfCoreTable
from incrowd.verification.certificate import Certificate
from incrowd.verification.guarantee import Guarantee

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.evaluation.result import Evaluation
    from incrowd.table.grouping import Counts
    from incrowd.taxonomies.rules import Bounds
    from incrowd.verification.witness import Verdict


@dataclass(frozen=True, repr=False)
class Release(Displayed, Draft):
    """The result of `anonymize`. All of it is data: it can be pickled and sent to another process.

    What it holds are properties; what has to be computed, tried out or played are methods.
    """

    def headline(self) -> str:
        return display.headline_of(self)

    @property
    def policy(self) -> Policy:
        """What it satisfies: what was asked for, with what was decided for this table."""
        return self.settled.policy

    @property
    def recoding(self) -> Recoding:
        """What became of every value, or of every tuple."""
        return self.found.recoding

    @property
    def method_about(self) -> str:
        """What the method does, in one line."""
        return METHODS[self.policy.method].about

    @property
    def untouched(self) -> tuple[str, ...]:
        """The columns without a role, which pass through as they are."""
        return self.policy.untouched(self.source.columns)

    @cached_property
    def checked(self) -> Look:
        """What the columns that leave as they are look like; rows are handed out and written only where none stops it.

        Raises:
            NamesPeopleError: One of them may name people, and is not kept on purpose.
        """
        if self.look is not None:
            return self.look
        return look_at(self.source, self.policy, Run()).require(self.policy.keep, self.source.name)

    def loses(self, column: str) -> bool:
        """Whether a column of a quasi-identifier says less than it did, in any released row."""
        parts = self.recoding.parts(self.table)
        there = parts.records > 0 if parts.kept is None else (parts.records > 0) & parts.kept
        return bool((parts.losses[column][parts.cells[column][there]] > 0).any())

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is risky: columns that pass through and look like names or ids, people with several rows, and so on."""
        return warnings_of(self)

    @property
    def public_warnings(self) -> tuple[str, ...]:
        """Those that every recipient should know; they are in the certificate."""
        return (*(steady_warning(name) for name in self.checked.steady), *form_warnings(self.policy))

    def why(self, column: str, run: Run | None = None, *, attack: bool = False) -> Why:
        """Why a column says so little, and what would help, tried out.

        Args:
            column: A column of a quasi-identifier.
            run: Asked between trials whether to go on; by default there is half a minute for them.
            attack: Whether to play attackers as well, on this release and on what the four changes give that help most:
                it names the attacks that surely learn something from each, and takes as long as these do.
        """
        return why(self, column, run, attack=attack)

    @cached_property
    def hints(self) -> tuple[str, ...]:
        """For each column that says next to nothing, one line on what forbids to tell more."""
        return hints(self)

    @property
    def grown(self) -> dict[str, Bounds]:
        """The hierarchies that a top-down search grew for numbers: rules to look at, to edit, and to give back."""
        numbers = [attribute for attribute in self.table.attributes if isinstance(attribute, NumberAttribute)]
        found = {attribute.name: grown_bounds(attribute, self.steps) for attribute in numbers}
        return {name: rule for name, rule in found.items() if rule is not None}

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the search, for a greedy method."""
        return self.found.steps

    @cached_property
    def measures(self) -> Measures:
        """What the release has lost."""
        labels, target = None, self.policy.target
        if target is not None and not self.recoding.by_row and (parts := self.recoding.parts(self.table)).is_split:
            sizes = len(parts.records)
            labels = self.engine.label_counts(self.source, self.recoding, target, self.table.labels, sizes, Run())
        return measure(self.table, self.recoding, self.policy.requirements, labels)

    @cached_property
    def released_values(self) -> dict[str, tuple[str | None, ...]]:
        """The values that the released rows have, by quasi-identifier column; None for an empty cell."""
        parts = self.recoding.parts(self.table)
        there = parts.records > 0 if parts.kept is None else (parts.records > 0) & parts.kept
        return {
            name: self.recoding.labels_of(name, np.unique(cells[there]).tolist()) for name, cells in parts.cells.items()
        }

    def distortion(self, weights: Weights = HEIGHT) -> Distortion:
        """How far the values were generalized in their hierarchies."""
        return release_distortion(self.table, self.recoding, weights)

    def weighted_loss(self, weights: str) -> WeightedLoss:
        """The loss for the people that records stand for, by a column of survey weights; k stays as it is."""
        return weighted_loss(self, weights)

    def risk(self) -> ReleaseRisk:
        """Assess what an attacker could do before and after; people are counted where there is a unit or population."""
        population = self.settled.population
        everyone = None if population is None else Everyone(*self.released_population, population.name)
        return release_risk(self.original, self.rows_with_owners(), self.policy, everyone)

    def attack(self, **options: Any) -> AttackReport:
        """Play attackers against this release, also such as make it again; see `incrowd.attack`.

        With `again=None` nobody makes it again, which is faster.
        """
        return attack(self, **{"again": made_again(self.policy), **options})

    def rows_with_owners(self) -> Source:
        """The released rows, each with the unit that it belongs to, where the policy has one; then confidential."""
        import pyarrow as pa

        rows, unit = open_source(self.rows), self.policy.unit
        if unit is None:
            return rows
        shown: list[pa.RecordBatch] = []
        plan = ReleasePlan(hidden_columns=(unit,), keep_order=self.policy.keep_order)
        self.engine.recoded(*self.outgoing, Run(), plan, shown.append)
        return open_source(pa.Table.from_batches(shown))

    @cached_property
    def data(self) -> Any:
        """The released rows, verified: the kind of frame that was given, or an Arrow table for a file.

        Raises:
            PolicyError: There is a ledger, which rows must be entered in when they leave.
        """
        if self.settled.earlier is not None:
            raise PolicyError(
                "rows leave with a ledger only when they are entered in it: use write, and read the file that it writes"
            )
        return self.rows

    @property
    def rows(self) -> Any:
        """The same rows, to be measured or attacked by those who hand out none."""
        return self._verified[0]

    @cached_property
    def _verified(self) -> tuple[Any, Verdict]:
        _ = self.checked
        rows, recoding = self.outgoing
        return verified(self, lambda see, plan: self.engine.recoded(rows, recoding, Run(), plan, see))

    @cached_property
    def released_population(self) -> tuple[pa.RecordBatch, Counts]:
        """What people of the population would be released as, and how many each row stands for."""
        return released_population(self.table, self.policy, self.recoding, partial(compressed, self.engine))

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of `data`; what `write` writes has its own."""
        rows, verdict = self._verified
        return self.certified(verdict, self.original.fingerprint(), open_source(rows).fingerprint())

    def certified(self, verdict: Verdict, original: str, released: str) -> Certificate:
        """The certificate of rows that were verified, given the digests of the table and of these rows."""
        policy, earlier = self.policy, self.settled.earlier
        if self.settled.chosen is not None:  # how often a search starts again tells how many tuples the table has
            told = {name: value for name, value in policy.options.items() if name != "restarts"}
            policy = replace(policy, options=told)
        guarantee = self.guarantee
        return Certificate.of(
            policy,
            verdict,
            original,
            released,
            untouched=self.untouched,
            warnings=self.public_warnings,
            releases=None if earlier is None else earlier.certified,
            guarantee=None if guarantee is None else guarantee.require(),
            salt=None if earlier is None else earlier.ledger.salt(earlier.number),
        )

    @property
    def guarantee(self) -> Guarantee | None:
        """What the release guarantees as differential privacy; None if it is not differentially private."""
        return Guarantee.of(self.found.facts, min(qid.k for qid in self.policy.quasi_identifiers))

    @property
    def original(self) -> Source:
        """The whole table; where a ledger has a say, `source` is what is new of it."""
        return self.source if self.settled.earlier is None else self.settled.earlier.original

    @cached_property
    def sent(self) -> Outgoing | None:
        """The rows that leave, where a ledger has a say in it."""
        return None if self.settled.earlier is None else outgoing(self, Run())

    @property
    def outgoing(self) -> tuple[Source, Recoding]:
        """The rows to hand out, and the recoding to do it by."""
        return (self.source, self.recoding) if self.sent is None else self.sent.source(self)

    def at(self, step: int) -> Release:
        """The release after that many steps of a greedy method, 0 for where the search began.

        Only rows that satisfy the policy are released: an earlier state of a bottom-up search can be measured, but
        `data` and `write` raise.
        """
        if self.found.begins is None:
            raise PolicyError(
                f"The method '{self.policy.method}' keeps no release at a step; use a greedy global one, such as 'tdr'."
            )
        if self.policy.secrets and self.policy.options.get("suppress"):
            raise PolicyError(
                "Where records may be left out and something is promised about a sensitive column, only the last step "
                "can be released: what else is left out, so that this does not tell a secret, is decided there."
            )
        if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= len(self.steps):
            raise PolicyError(f"The 'step' parameter must be between 0 and {len(self.steps)}. Got {step!r}.")
        if step == len(self.steps):
            return self
        steps = self.steps[:step]
        made = replayed(self.table.attributes, steps, self.found.begins)
        if self.found.begins == "general" and "suppressed_records" in self.found.facts:
            made = released_after(self.table, self.policy.requirements, made)
        kept = {name: getattr(self.recoding, name) for name in FROM_POLICY}
        return replace(self, found=replace(self.found, recoding=replace(made, **kept), steps=steps))

    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        sidecars: bool = True,
        confidential: bool = False,
        report: str | Path | None = None,
        public_report: str | Path | None = None,
        evaluation: Evaluation | None = None,
        packs: Iterable[str] = (),
        context: Mapping[str, Any] | str | Path | None = None,
        run: Run | None = None,
        before: Callable[[], object] | None = None,
    ) -> Certificate:
        """Write the release, and next to it its certificate and the recoding of a global method, which is its codebook.

        What is for you alone goes to the folder `<stem>.confidential`, which only its owner may read. The rows are read
        back from the bytes that were written and verified there; the files appear together, and only when all is well.

        Args:
            path: Where to write; the suffix determines the format.
            overwrite: Whether existing files may be replaced.
            sidecars: Whether to write the other files too.
            confidential: Whether to write the recoding of a local method too, which holds the original tuples; it is
                needed to `apply` it to new rows.
            report: Where to write a report for you alone, which appears with the release (see `Release.report`).
            public_report: Where to write a report for anyone.
            evaluation: What `incrowd.evaluate` found, for the report.
            packs: For which bodies to write a pack to the confidential folder, such as "ema".
            context: Answers for the packs, or the policy file whose table [context] has them.
            run: Gets the number of rows, and is asked whether to go on.
            before: Called when all is written and verified, before the files appear: if it raises, none does.

        Raises:
            OutputError: The files cannot be written there, or do not hold what was to be written.
            NotAnonymousError: The rows failed the recount; nothing was written.
        """
        asked = packs, context, dictionaries(self.policy.dictionary)
        return publish(
            self,
            path,
            overwrite=overwrite,
            sidecars=sidecars,
            confidential=confidential,
            reports=display.reports_of(report, public_report, evaluation, *asked),
            run=run or Run(),
            before=before,
        )

    def preview(self, rows: int = 5) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """The first few released rows, before and after, all columns in order; confidential.

        Columns that are dropped are only there before.
        """
        batches = self.engine.preview(self.source, self.recoding, rows)
        before, after = ({name: listed(batch.column(name)) for name in batch.schema.names} for batch in batches)
        return before, after

    def to_frame(self, kind: str | None = None, *, intervals: str | None = None) -> Any:
        """The released rows as a dataframe.

        Args:
            kind: "pandas", "polars" or "pyarrow"; the first of them that is installed if None.
            intervals: What intervals of numbers and dates become, as in `incrowd.as_numbers`: "midpoint", "bounds",
                "interval" (in pandas `Interval`) or "category" (ordered); they stay text if None.
        """
        frame = frame_of(self.data, display.kind_of_frame(kind))
        return frame if intervals is None else as_numbers(frame, form=intervals)

    def changes(self) -> Changes:
        """What became of each quasi-identifier column, a row each; it prints as a table, and converts to a frame."""
        rows: list[dict[str, Any]] = []
        for attribute, part in zip(self.table.attributes, self.measures.attributes, strict=True):
            values = self.released_values[attribute.name]
            counts = {"values_before": attribute.size, "values_after": len(values)}
            rows.append({"column": attribute.name, **counts, "ncp": part.ncp, "released_values": list(values)})
        return Changes(self.source.name, tuple(rows))

    def summary(self) -> str:
        """What a steward wants to know, as text: the crowds, changes by column, losses, notes, warnings."""
        return display.summary_of(self)

    def report(
        self,
        path: str | Path,
        *,
        public: bool = False,
        overwrite: bool = False,
        evaluation: Evaluation | None = None,
        attacks: AttackReport | None = None,
        pack: str | None = None,
        context: Mapping[str, Any] | str | Path | None = None,
    ) -> Path:
        """Write a report: is it safe, what did it cost, what was done, and how can anyone check it.

        The steward's report shows the original table, so it is marked as confidential, and only its owner may read the
        file. The public one is made from the released rows and the certificate alone, and may go out with them.

        Args:
            path: Where to; the suffix .html, .md or .json says what it is.
            public: Whether it is for anyone.
            overwrite: Whether an existing file may be replaced.
            evaluation: What `incrowd.evaluate` found, to show in the steward's report what classifiers err.
            attacks: What `attack` found, for the steward's report; the public one only says which were played.
            pack: Write the pack for a body instead, such as "ema"; then the suffix is .html or .md.
            context: Answers for the pack, or the policy file whose table [context] has them.

        Raises:
            OutputError: The file cannot be written there.
        """
        settings: dict[str, Any] = {"public": public, "overwrite": overwrite, "pack": pack, "context": context}
        settings |= {"evaluation": evaluation, "attacks": attacks}
        return display.write_report(self, path, **settings)

    def to_json(self) -> dict[str, Any]:
        """Everything but the rows and the steps."""
        return {
            "policy": self.policy.to_json(),
            "measures": self.measures.to_json(),
            "steps": len(self.steps),
            "facts": dict(self.found.facts),
            "released_values": {name: list(labels) for name, labels in self.released_values.items()},
            "untouched": list(self.untouched),
            "warnings": list(self.warnings),
            "hints": list(self.hints),
            "notes": list(self.notes),
        }


def release_of(
    source: Source,
    policy: Policy,
    run: Run | None = None,
    *,
    engine: Engine | None = None,
    table: CompressedTable | OutOfCoreTable | None = None,
    look: Look | None = None,
) -> Release:
    """The release of an open source; see `pipeline.draft`."""
    run = run or Run(time_limit=policy.time_limit)
    return Release(**vars(draft(source, policy, run, engine=engine, table=table, look=look)))


def made_again(policy: Policy) -> Callable[[pa.Table], pa.Table | None] | None:
    """How an attacker who knows the method releases a table, or gets None; with another key each time.

    None for policies that need more than a table: earlier releases, or a population.
    """
    if policy.ledger is not None or policy.population_table is not None:
        return None
    numbers = count()

    def again(table: pa.Table) -> pa.Table | None:
        try:
            run = Run(key=Key.for_experiments(next(numbers)))
            rows: pa.Table = release_of(open_source(table), policy, run, look=Look()).rows
        except IncrowdError:
            return None
        return rows

    return again
