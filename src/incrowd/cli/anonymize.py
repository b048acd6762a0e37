"""What `incrowd anonymize` and `incrowd demo` do: make a release, show it, and say which files it has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.groups import option
from incrowd.cli.messages import console, running, user_errors
from incrowd.cli.options import Input, KeyFile, Output, PolicyOptions
from incrowd.cli.report import ReportOptions
from incrowd.cli.voice import VOICE, answer
from incrowd.datasets.demonstration import K
from incrowd.options import FILES, REPORTS

if TYPE_CHECKING:
    from incrowd.key import Key
    from incrowd.policy.policy import Policy
    from incrowd.release.release import Release

_CONFIDENTIAL = "Also keep the recoding of a local method, which holds the original tuples."
_DRY_RUN = "Read and check everything, say what would be done, and write nothing."


@dataclass(frozen=True, kw_only=True)
class OutputOptions(ReportOptions):
    confidential: Annotated[bool, option(_CONFIDENTIAL, "--confidential", section=REPORTS)] = False
    preview: Annotated[bool, option("Show a few rows before and after.", "--preview", section=REPORTS)] = False
    key: KeyFile = None
    dry_run: Annotated[bool, option(_DRY_RUN, "--dry-run", section=FILES)] = False


def anonymize(table: Input, options: PolicyOptions, output: Output, shown: OutputOptions) -> None:
    """Make a k-anonymous release of a table.

    incrowd anonymize people.csv -o release.csv --qi age,sex,zip --k 10 --target income
    """
    with user_errors():
        policy, dialect = options.read()
        release_file(table, output, policy, dialect, shown, context=options.policy)


def release_file(
    table: Path,
    output: Path,
    policy: Policy,
    dialect: dict[str, Any],
    shown: OutputOptions,
    key: Key | None = None,
    context: Path | None = None,
) -> None:
    from incrowd.engines.registry import engine_for
    from incrowd.formats.registry import open_source
    from incrowd.release.files import ReleaseFiles
    from incrowd.release.release import release_of

    with running(policy, key or shown.key) as run:
        source = open_source(table, **dialect)
        place = engine_for(policy, source).output(output, overwrite=shown.overwrite)
        files = ReleaseFiles.of(output if place is None else place.beside)
        files.check(source, overwrite=shown.overwrite, rows=place is None)
        shown.check(source, files)
        if shown.dry_run:
            from incrowd.cli.dry_run import plan_of, print_plan

            plan = plan_of(source, policy, files, run)
            if place is not None:
                plan["files"]["release"] = place.name
        else:
            release = release_of(source, policy, run)
            seen: dict[str, Any] = {}
            certificate = release.write(
                output,
                overwrite=shown.overwrite,
                confidential=shown.confidential,
                report=shown.report,
                public_report=shown.public_report,
                packs=shown.packs,
                context=context,
                run=run,
                before=lambda: seen.update(_before_writing(release, shown)),
            )
    if shown.dry_run:
        answer(plan, "nothing was written", show=lambda: print_plan(plan))
        return
    VOICE.notes += seen["notes"]
    answer({**seen["json"], "certificate": certificate.to_json()} if VOICE.as_json else None, seen["headline"])
    if VOICE.as_json:
        return
    from incrowd.report.terminal import print_files, print_preview, print_summary, print_warnings

    if not VOICE.says("info"):
        print_warnings(seen["summary"])
    if shown.preview:
        print_preview(console(), release, seen["preview"])
    print_summary(console(), seen["summary"])
    print_files(console(), files, None if place is None else place.name)
    shown.tell()


def _before_writing(release: Release, shown: OutputOptions) -> dict[str, Any]:
    """What is said of a release, made before it appears: the table may be gone afterwards."""
    from incrowd.report.brief import brief
    from incrowd.report.terminal import PREVIEWED

    said = {"headline": release.headline(), "notes": list(release.notes)}
    if VOICE.as_json:
        return {**said, "json": release.to_json()}
    return {**said, "summary": brief(release), "preview": release.preview(PREVIEWED) if shown.preview else None}


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put the files.", readable=False)] = Path("demo"),
    k: Annotated[int, option("Size of the smallest crowd.", "--k", section=FILES, noun="N")] = K,
) -> None:
    """Anonymize the census data that comes with incrowd (Adult, 45,222 people)."""
    with user_errors():
        from incrowd import datasets
        from incrowd.datasets.demonstration import command_of, policy_of
        from incrowd.key import Key

        table, taxonomies = datasets.copy("adult", folder)
        output = folder / "release.csv"
        console().print(command_of(table, output, taxonomies, k) + "\n", highlight=False, soft_wrap=True)
        shown = OutputOptions(overwrite=True, preview=True)
        everyones = Key.for_experiments(0)  # the table is public, and everyone sees the same release
        release_file(table, output, policy_of(taxonomies, k), {}, shown, everyones)
