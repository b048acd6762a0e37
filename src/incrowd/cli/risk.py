"""What `incrowd risk` does: from what was typed to a table of risks, or to JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from incrowd.cli.groups import OptionGroup, option, path_option
from incrowd.cli.help import RISK
from incrowd.cli.messages import running
from incrowd.cli.voice import VOICE, show_result
from incrowd.errors import PolicyError
from incrowd.options import FILES, columns_of

if TYPE_CHECKING:
    from incrowd.risk.assessment import Question

_THRESHOLD = "Count records with a higher risk: 0.2 (default) or 1/5 are crowds smaller than five."
_MAX_SIZE = "Largest sets of columns searched for special uniques."


@dataclass(frozen=True, kw_only=True)
class RiskOptions(OptionGroup):
    qi: Annotated[
        str | None,
        option("Columns that an attacker may know, by commas.", "--qi", "--quasi-identifiers", noun="COLUMNS"),
    ] = None
    unit: Annotated[str | None, option("Person ID, such as patient_id: crowds count people.", noun="COLUMN")] = None
    sensitive: Annotated[str | None, option("Columns nobody should learn, by commas.", noun="COLUMNS")] = None
    weights: Annotated[str | None, option("Column with survey weights.", noun="COLUMN")] = None
    sampling_fraction: Annotated[
        float | None, option("Share of the population that is in the table.", section=RISK, noun="SHARE")
    ] = None
    population: Annotated[
        Path | None,
        path_option("Everyone that the records were drawn from.", "--population", "--population-table", section=RISK),
    ] = None
    threshold: Annotated[str, option(_THRESHOLD, section=RISK, noun="SHARE")] = "0.2"
    max_size: Annotated[int | None, option(_MAX_SIZE, section=RISK, noun="N")] = None
    released: Annotated[
        Path | None, path_option("A release of the table, to show before and after.", section=FILES)
    ] = None
    recoding: Annotated[Path | None, path_option("Its .recoding.json, to recode the population by.", section=FILES)] = (
        None
    )

    def question(self) -> Question:
        from incrowd.risk.assessment import Question

        if self.qi is None:
            raise PolicyError("no columns to assess; give --qi with the columns that an attacker may know")
        return Question.of(
            columns_of(self.qi),
            threshold=self.threshold,
            sensitive=columns_of(self.sensitive or ""),
            sampling_fraction=self.sampling_fraction,
            weights=self.weights,
            max_size=self.max_size,
            population_table=self.population,
            unit=self.unit,
        )

    def question_of_release(self) -> Question:
        if self.recoding is None:
            return self.question()
        if self.released is None or self.population is None:
            raise PolicyError(
                "a recoding says what a population would be released as; give --released and --population"
            )
        return replace(self.question(), recoding=self.recoding)


def assess_file(table: Path, options: RiskOptions, dialect: dict[str, Any]) -> None:
    from incrowd.formats.registry import open_as_release, open_source
    from incrowd.risk.assessment import BeforeAndAfter, risk_of

    question, asked = options.question(), options.question_of_release()
    with running() as run:
        source, after = open_source(table, **dialect), None
        released = None if options.released is None else open_as_release(options.released, dialect)
        if released is not None and question.unit not in (None, *released.columns):
            question.check_columns(source.columns, source.name)
            VOICE.note(
                f"{released.name} has no column '{question.unit}': both sides count records, "
                "so that they compare; the steward's report of a release counts people"
            )
            question, asked = replace(question, unit=None), replace(asked, unit=None)
        before = risk_of(source, question, run)
        if released is not None:
            after = risk_of(released, asked, run)
    show_result(before if after is None else BeforeAndAfter(before, after))
