"""The command line. stdout carries data, stderr messages; heavy modules are imported when a command runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.anonymize import anonymize, demo
from incrowd.cli.attack import attack
from incrowd.cli.certificate import check_file
from incrowd.cli.groups import option, path_option, with_options
from incrowd.cli.help import TRIAL
from incrowd.cli.import_project import import_
from incrowd.cli.inspect import inspect
from incrowd.cli.ledger import ledger
from incrowd.cli.messages import (
    Command,
    Commands,
    console,
    interrupted,
    reraise_lost_signals,
    running,
    user_errors,
)
from incrowd.cli.methods import methods
from incrowd.cli.numbers import numbers
from incrowd.cli.options import (
    CsvOptions,
    EngineOptions,
    Input,
    Output,
    Overwrite,
    PolicyOptions,
    RowsToVerify,
    TrialOptions,
    VerifyOptions,
)
from incrowd.cli.report import ResultReport, evaluation_of, report
from incrowd.cli.risk import RiskOptions, assess_file
from incrowd.cli.sign import check_signed, sign
from incrowd.cli.standard_streams import prepare_streams
from incrowd.cli.studio import studio
from incrowd.cli.voice import VOICE, answer, name_of, show_result, speaking
from incrowd.cli.why import why
from incrowd.options import FILES, SEARCH

app = typer.Typer(
    name="incrowd",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(function: Callable[..., None], *, without: Collection[str] = (), silent: tuple[str, ...] = ()) -> None:
    """Make a function a command, with the options of its groups and of its voice."""
    app.command(name_of(function), cls=Command)(speaking(with_options(function, without), silent=silent))


RecodingFile = Annotated[
    Path, typer.Argument(help="The recoding.json of a release.", show_default=False, readable=False)
]


def _version(asked: bool) -> None:
    if asked:
        from incrowd import __version__

        typer.echo(f"incrowd {__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = (
        False
    ),
) -> None:
    """Release tables about people so that everyone stands in a crowd of at least k."""


command(inspect)
command(anonymize)
command(why)
command(report)


@command
def evaluate(
    table: Input,
    options: PolicyOptions,
    trial: TrialOptions,
    page: ResultReport,
) -> None:
    """Measure what a release costs a classifier: error with the original, the release, and no quasi-identifiers.

    Nothing is written. Test rows come from --test, or are drawn at random, once (--split) or in folds (--folds).

    incrowd evaluate people.csv --qi age,sex,zip --k 10 --target income --folds 10
    """
    with user_errors():
        from incrowd.formats.registry import open_source

        policy, dialect = options.read()
        page.check(table)
        evaluation = evaluation_of(open_source(table, **dialect), policy, trial, dialect)
        page.write(evaluation)
        show_result(evaluation)


def compare(
    table: Input,
    output: Annotated[Path, path_option("A folder for the results.", "-o", "--output", section=FILES, noun="FOLDER")],
    methods: Annotated[
        str, option("By commas, options after colons: tds,cover:objective=dm.", section=SEARCH, noun="NAMES")
    ],
    ks: Annotated[str, option("By commas; for quasi-identifiers without their own k.", section=SEARCH, noun="NUMBERS")],
    options: PolicyOptions,
    *,
    time_limit_per_run: Annotated[
        float | None, option("Time that each run may take.", section=SEARCH, noun="SECONDS")
    ] = None,
    again: Annotated[bool, option("Repeat the runs that the folder already has.", "--again", section=FILES)] = False,
    attack: Annotated[bool, option("Also play attackers; the worst excess.", "--attack", section=TRIAL)] = False,
    evaluate: Annotated[bool, option("Also test classifiers.", "--evaluate", section=TRIAL)] = False,
    trial: TrialOptions,
    page: ResultReport,
) -> None:
    """Try several methods with several k: time, memory, losses, and which settings are dominated by others.

    Writes results.csv, results.json and a plot. Finished runs are kept: run it again to continue after an interruption.

    incrowd compare people.csv --qi age,sex,zip --target income --methods tds,bug,mondrian --ks 5,10,50 -o comparison
    """
    with user_errors(f"finished runs are kept in {output}; run the same command again to continue"):
        from incrowd.cli.compare import compare_file

        page.check(table)
        found = compare_file(
            table,
            output,
            options,
            methods,
            ks,
            trial=trial if evaluate else None,
            attacked=attack,
            time_limit=time_limit_per_run,
            again=again,
        )
        page.write(found)
        show_result(found)


command(compare, without=("k", "method"))


@command
def verify(
    table: Input,
    csv: CsvOptions,
    asked: VerifyOptions,
    certificate: Annotated[
        Path | None, path_option("The .certificate.json of the release: check its claims.", section=FILES)
    ] = None,
    recoding: Annotated[
        Path | None, path_option("The .recoding.json of the release, to recode the population by.", section=FILES)
    ] = None,
    signature: Annotated[
        Path | None, path_option("The .signature.json of the file: who signed it, and what.", section=FILES)
    ] = None,
    signer: Annotated[
        str | None, option("The fingerprint of whoever must have signed it.", section=FILES, noun="FINGERPRINT")
    ] = None,
    population: Annotated[Path | None, path_option("Short for --population-table.", section=FILES, hidden=True)] = None,
) -> None:
    """Count the crowds in any table; the exit code is 3 if one is too small.

    Without --k and without a promise about sensitive columns, it reports what holds. With --certificate it checks that
    the file is the one that was certified, and every claim of the certificate. With --signature and --signer it checks
    who signed it.
    """
    with user_errors():
        if signature is not None or signer is not None:
            others = (asked.given["quasi_identifiers"], asked.policy, certificate, recoding)
            check_signed(signature, table, signer, alone=not any(others))
            return
        if population is not None:
            asked = replace(
                asked, given={**asked.given, "population_table": asked.given["population_table"] or population}
            )
        if certificate is not None:
            against = {"population_table": asked.settings().get("population_table"), "recoding": recoding}
            alone = not asked.given["quasi_identifiers"] and asked.policy is None
            check_file(certificate, table, csv.dialect(), against, alone=alone)
            return
        from incrowd.formats.registry import open_as_release
        from incrowd.verification.verify import verification_of

        settings, dialect = asked.read()
        with running() as run:
            source = open_as_release(table, dialect, **csv.dialect())
            if asked.given["unit"] is None and settings.get("unit") not in (None, *source.columns):
                unit = settings.pop("unit")
                VOICE.note(f"{source.name} has no column '{unit}': k counts records here")
            run.stage("counting")
            verification = verification_of(source, {**settings, "recoding": recoding}, run)
        show_result(verification)
        verification.require()


@command
def risk(
    table: Input,
    options: RiskOptions,
    csv: CsvOptions,
) -> None:
    """Assess what an attacker could do with a table: who stands out, how certain a match is, and what it would reveal.

    incrowd risk people.csv --qi age,sex,zip --sensitive diagnosis --sampling-fraction 0.05
    """
    with user_errors():
        assess_file(table, options, csv.dialect())


@command
def apply(
    recoding: RecodingFile,
    table: Input,
    output: Output,
    csv: CsvOptions,
    engine: EngineOptions,
    rows: RowsToVerify,
    overwrite: Overwrite = False,
) -> None:
    """Recode new rows the way a release was recoded; with --qi and --k also verify them.

    This alone does not make new rows k-anonymous: they were not counted when the recoding was made.
    """
    with user_errors():
        from incrowd.policy.making import quasi_identifiers_of
        from incrowd.recodings.reading import read_recoding
        from incrowd.release.apply import apply_to_file

        settings = rows.settings()
        unit, sets, k = settings.get("unit"), settings.pop("quasi_identifiers", None), settings.pop("k", None)
        require = quasi_identifiers_of(sets, k) if sets else ()
        used, limits = engine.chosen()
        with running() as run:
            run.stage("writing")
            settings |= {"require": require, "overwrite": overwrite, "engine": used, "settings": limits}
            rest = apply_to_file(read_recoding(recoding), table, output, run, **settings, **csv.dialect())
        counted = "verified" if unit is None else f"verified, crowds in people by {unit}"
        verified = counted if require else "not verified; give --qi and --k to count the crowds"
        if rest:
            console().print(rest, highlight=False, soft_wrap=True)
        answer({"verified": bool(require)}, f"wrote {output} ({verified})")


@command
def taxonomy(
    file: Annotated[Path, typer.Argument(help="A taxonomy in CSV or TOML.", show_default=False, readable=False)],
    most: Annotated[int | None, typer.Option(help="Most children to show per node.", show_default=False)] = None,
) -> None:
    """Check a taxonomy and print it as a tree."""
    with user_errors():
        from incrowd.taxonomies.taxonomy import Taxonomy

        tree = Taxonomy.read(file)
        answer(tree.to_json(), show=lambda: typer.echo(tree.render(most)))


@command
def codebook(
    recoding: RecodingFile,
) -> None:
    """Print what every released value means."""
    with user_errors():
        from incrowd.recodings.reading import read_recoding

        found = read_recoding(recoding)
        book = {name: dict(zip(found.labels(name), found.meanings(name), strict=True)) for name in found.names}
        answer(book, show=lambda: typer.echo(found.codebook()))


command(attack)
command(import_)
command(sign)
command(numbers)
command(methods)
command(ledger)
command(studio, silent=("as_json",))
command(demo)


def main() -> None:
    """Entry point; an interrupt while modules are loading ends like one during a command."""
    try:
        prepare_streams()
        reraise_lost_signals()
        app()
    except KeyboardInterrupt:
        sys.exit(interrupted().exit_code)
