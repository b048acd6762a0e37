"""What `incrowd report` does, and the reports that `incrowd anonymize` writes with a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from incrowd.cli.groups import OptionGroup, option, path_option
from incrowd.cli.help import TRIAL
from incrowd.cli.messages import console, running, user_errors
from incrowd.cli.options import Input, KeyFile, Overwrite, PolicyOptions, TrialOptions
from incrowd.cli.voice import answer
from incrowd.errors import PolicyError
from incrowd.options import FILES, REPORTS, columns_of

if TYPE_CHECKING:
    from incrowd.display import Tabular
    from incrowd.evaluation.result import Evaluation
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy
    from incrowd.release.files import ReleaseFiles

_OUTPUT = "Where to write (.html, .md or .json)."
_RESULT = "Also a report for you alone (.html or .json)."
_EVALUATE = "Also measure the error of classifiers that predict the target."
_ATTACK = "Also play attackers against the release; the public report only says which."
_PACKS = "Also packs for boards, by commas: ema, hipaa, iso27559, gdpr, tehdas."
_PACK = "A pack for a board instead: ema, hipaa, iso27559, gdpr or tehdas (.html, .md)."
_PUBLIC = "Only what the released rows show, for anyone; else it is confidential."


@dataclass(frozen=True, kw_only=True)
class ReportOptions(OptionGroup):
    report: Annotated[Path | None, path_option("Also a report for you alone.", section=REPORTS)] = None
    public_report: Annotated[Path | None, path_option("Also a report for anyone.", section=REPORTS)] = None
    pack: Annotated[str | None, option(_PACKS, "--pack", section=REPORTS, noun="NAMES")] = None
    overwrite: Overwrite = False

    @property
    def packs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(columns_of(self.pack or "")))

    def check(self, source: Source, files: ReleaseFiles) -> None:
        from incrowd.report.files import Reports

        Reports(self.report, self.public_report, packs=self.packs).check(source, files, overwrite=self.overwrite)

    def tell(self) -> None:
        for path, title in ((self.report, "report, for you alone"), (self.public_report, "report, for anyone")):
            if path is not None:
                console().print(f"{title}: {path}", highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True, kw_only=True)
class ResultReport(OptionGroup):
    """The report of an inspection, a comparison or an evaluation."""

    report: Annotated[Path | None, path_option(_RESULT, section=FILES)] = None

    def check(self, table: Path, *, overwrite: bool = False) -> None:
        if self.report is not None:
            from incrowd.report.files import check_result

            check_result(self.report, inputs=[table], overwrite=overwrite)

    def write(self, result: Tabular, *, overwrite: bool = False) -> None:
        if self.report is not None:
            from incrowd.report.files import write_result

            write_result(result, self.report, overwrite=overwrite)
            where = f"wrote {self.report} (confidential, for you alone)"
            console().print(where, highlight=False, markup=False, soft_wrap=True)


def evaluation_of(source: Source, policy: Policy, trial: TrialOptions, dialect: Mapping[str, Any]) -> Evaluation:
    """What classifiers err with a release of a table; a time limit holds for one release, not for the classifiers."""
    from incrowd.evaluation.trial import Trial

    with running() as run:
        run.stage("reading")
        rows = Trial.of(source, policy, **trial.design(dialect))
        return rows.evaluate(policy, protocol=trial.protocol, intervals=trial.intervals, run=run)


def report(
    table: Input,
    options: PolicyOptions,
    output: Annotated[Path, path_option(_OUTPUT, "-o", "--output", section=FILES)],
    trial: TrialOptions,
    evaluate: Annotated[bool, option(_EVALUATE, "--evaluate", section=TRIAL)] = False,
    attack: Annotated[bool, option(_ATTACK, "--attack", section=TRIAL)] = False,
    public: Annotated[bool, option(_PUBLIC, "--public", section=FILES)] = False,
    pack: Annotated[str | None, option(_PACK, "--pack", section=FILES, noun="NAME")] = None,
    overwrite: Overwrite = False,
    key: KeyFile = None,
) -> None:
    """Report on a release without writing its rows: is it safe, what did it cost, what was done, how to check it.

    incrowd report people.csv --qi age,sex,zip --k 10 -o report.html

    incrowd report people.csv --qi age,sex,zip --k 10 --target income --evaluate -o report.html
    """
    with user_errors():
        from incrowd.formats.registry import open_source
        from incrowd.release.release import release_of
        from incrowd.report.files import check_report, checked_pack, write_report

        policy, dialect = options.read()
        if evaluate and public:
            raise PolicyError(
                "--evaluate needs the original rows, of which --public says nothing; leave one of them out"
            )
        checked_pack(pack, public=public)
        check_report(output, inputs=[table], overwrite=overwrite, pack=pack)
        source = open_source(table, **dialect)
        evaluation = evaluation_of(source, policy, trial, dialect) if evaluate else None
        with running(policy, key) as run:
            release = release_of(source, policy, run)
            found = release.attack(run=run) if attack else None
            run.stage("reporting")
            shown: dict[str, Any] = {"public": public, "evaluation": evaluation, "attacks": found, "pack": pack}
            write_report(release, output, overwrite=overwrite, context=options.policy, **shown)
        who = "for anyone" if public else "confidential, for you alone"
        answer({"public": public}, f"wrote {output} ({who})")
