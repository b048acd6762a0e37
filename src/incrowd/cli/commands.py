"""The command line. stdout carries data, stderr messages; heavy modules are imported when a command runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.groups import with_options
from incrowd.cli.inspect import inspect
from incrowd.cli.messages import Commands, console, interrupted, print_json, running, user_errors
from incrowd.cli.options import (
    TRIAL,
    CsvOptions,
    K,
    PolicyFile,
    PolicyOptions,
    Qi,
    TrialOptions,
    to_verify,
)
from incrowd.cli.risk import RiskOptions, assess_file

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy

app = typer.Typer(
    name="incrowd",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Release tables about people so that everyone stands in a crowd of at least k.",
)

_TABLE = "CSV or Parquet file."

# Paths are not checked for being readable here: typer would answer with a box, and incrowd does with one line.
Input = Annotated[Path, typer.Argument(help=_TABLE, show_default=False, readable=False)]
Output = Annotated[
    Path, typer.Option("-o", "--output", help="Where to write (.csv or .parquet).", show_default=False, readable=False)
]
RecodingFile = Annotated[
    Path, typer.Argument(help="The .recoding.json of a release.", show_default=False, readable=False)
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables on stderr.")]
_OWN: Any = {"show_default": False, "readable": False}


app.command()(with_options(inspect))


@app.command()
@with_options
def anonymize(
    table: Input,
    output: Output,
    options: PolicyOptions,
    overwrite: Overwrite = False,
    preview: Annotated[bool, typer.Option("--preview", help="Show a few rows before and after.")] = False,
    as_json: Json = False,
) -> None:
    """Make a k-anonymous release of a table.

    incrowd anonymize people.csv -o release.csv --qi age,sex,zip --k 10 --target income
    """
    with user_errors():
        policy, dialect = options.read()
        _anonymize(table, output, policy, dialect, overwrite=overwrite, preview=preview, as_json=as_json)


def _anonymize(
    table: Path, output: Path, policy: Policy, dialect: dict[str, Any], *, overwrite: bool, preview: bool, as_json: bool
) -> None:
    from incrowd.formats.registry import open_source
    from incrowd.pipeline import release_of
    from incrowd.release import check_outputs

    with running(policy) as run:
        source = open_source(table, **dialect)
        check_outputs(output, source, overwrite=overwrite, sidecars=True)
        release = release_of(source, policy, run)
        certificate = release.write(output, overwrite=overwrite, run=run)
    if as_json:
        print_json({**release.to_json(), "certificate": certificate.to_json()})
        return
    from incrowd.report.terminal import print_preview, print_release

    if preview:
        print_preview(console(), release)
    print_release(console(), release, output)


@app.command()
@with_options
def evaluate(
    table: Input,
    options: PolicyOptions,
    trial: TrialOptions,
    as_json: Json = False,
) -> None:
    """Measure what a release costs a classifier: error with the original, the release, and no quasi-identifiers.

    Nothing is written. Test rows come from --test, or are drawn at random, once (--split) or in folds (--folds).

    incrowd evaluate people.csv --qi age,sex,zip --k 10 --target income --folds 10
    """
    with user_errors():
        from incrowd.evaluation.trial import Trial
        from incrowd.formats.registry import open_source

        policy, dialect = options.read()
        with running() as run:  # a time limit holds for one release, not for the classifiers
            run.stage("reading")
            rows = Trial.of(open_source(table, **dialect), policy, **trial.words(dialect))
            evaluation = rows.evaluate(policy, protocol=trial.protocol, intervals=trial.intervals, run=run)
        if as_json:
            print_json(evaluation.to_json())
            return
        from rich.console import Console

        from incrowd.report.terminal import print_evaluation

        print_evaluation(Console(), evaluation)


def compare(
    table: Input,
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for the results.", **_OWN)],
    methods: Annotated[
        str, typer.Option(help="Separated by commas, options after colons: tds,cover:objective=dm.", **_OWN)
    ],
    ks: Annotated[str, typer.Option(help="Separated by commas; for quasi-identifiers without their own k.", **_OWN)],
    options: PolicyOptions,
    *,
    time_limit_per_run: Annotated[float | None, typer.Option(help="Seconds that each run may take.", **_OWN)] = None,
    again: Annotated[bool, typer.Option("--again", help="Repeat the runs that the folder already has.")] = False,
    evaluate: Annotated[bool, typer.Option("--evaluate", help="Also test classifiers.", **TRIAL)] = False,
    trial: TrialOptions,
    as_json: Json = False,
) -> None:
    """Try several methods with several k: time, memory, losses, and which settings are dominated by others.

    Writes results.csv, results.json and a plot. Finished runs are kept: run it again to continue after an interruption.

    incrowd compare people.csv --qi age,sex,zip --target income --methods tds,bug,mondrian --ks 5,10,50 -o comparison
    """
    with user_errors(f"finished runs are kept in {output}; run the same command again to continue"):
        from incrowd.cli.compare import compare_file
        from incrowd.report.terminal import print_comparison

        found = compare_file(
            table,
            output,
            options,
            methods,
            ks,
            trial=trial if evaluate else None,
            time_limit=time_limit_per_run,
            again=again,
        )
        if as_json:
            print_json(found.to_json())
        else:
            print_comparison(found)


app.command()(with_options(compare, without=("k", "method")))


@app.command()
@with_options
def verify(
    table: Input,
    csv: CsvOptions,
    qi: Qi = None,
    k: K = None,
    policy: PolicyFile = None,
    as_json: Json = False,
) -> None:
    """Count the crowds in any table; the exit code is 3 if one is too small."""
    with user_errors():
        from incrowd.formats.registry import open_source
        from incrowd.policy.policy import Policy
        from incrowd.release import recount

        qids, dialect = to_verify(qi, k, policy)
        with running() as run:
            source = open_source(table, **{**dialect, **csv.dialect()})
            Policy(quasi_identifiers=qids).check_columns(source.columns, source.name)
            run.stage("counting")
            verification = recount(source, qids, run)
        if as_json:
            print_json(verification.to_json())
        else:
            from rich.console import Console

            from incrowd.report.terminal import print_verification

            print_verification(Console(), verification)
        verification.require()


@app.command()
@with_options
def risk(
    table: Input,
    options: RiskOptions,
    csv: CsvOptions,
    as_json: Json = False,
) -> None:
    """Tell what an attacker could do with a table: who stands out, how sure a match is, and what it would tell.

    incrowd risk people.csv --qi age,sex,zip --sensitive diagnosis --sampling-fraction 0.05
    """
    with user_errors():
        assess_file(table, options, csv.dialect(), as_json=as_json)


@app.command()
@with_options
def apply(
    recoding: RecodingFile,
    table: Input,
    output: Output,
    csv: CsvOptions,
    qi: Qi = None,
    k: K = None,
    overwrite: Overwrite = False,
) -> None:
    """Recode new rows the way a release was recoded; with --qi and --k also verify them.

    This alone does not make new rows k-anonymous: they were not counted when the recoding was made.
    """
    with user_errors():
        from incrowd.existing import apply_to_file
        from incrowd.policy.typed import quasi_identifiers
        from incrowd.policy.words import quasi_identifiers_of
        from incrowd.recodings.recoding import read_recoding

        require = quasi_identifiers_of(quasi_identifiers(qi, k), k) if qi else ()
        with running() as run:
            run.stage("writing")
            words = {"require": require, "overwrite": overwrite, **csv.dialect()}
            apply_to_file(read_recoding(recoding), table, output, run, **words)
        verified = "verified" if require else "not verified; give --qi and --k to count the crowds"
        console().print(f"wrote {output} ({verified})", highlight=False, soft_wrap=True)


@app.command()
def taxonomy(
    file: Annotated[Path, typer.Argument(help="A taxonomy in CSV or TOML.", show_default=False, readable=False)],
    most: Annotated[int | None, typer.Option(help="Most children to show per node.", show_default=False)] = None,
) -> None:
    """Check a taxonomy and print it as a tree."""
    with user_errors():
        from incrowd.taxonomies.taxonomy import Taxonomy

        typer.echo(Taxonomy.read(file).render(most))


@app.command()
def codebook(
    recoding: RecodingFile,
) -> None:
    """Print what every released value stands for."""
    with user_errors():
        from incrowd.recodings.recoding import read_recoding

        typer.echo(read_recoding(recoding).codebook())


@app.command()
def methods() -> None:
    """List the methods and their options."""
    from incrowd.search.registry import METHODS

    for name, method in METHODS.items():
        typer.echo(f"{name:<10}{method.about}")
        for option, about in method.options.items():
            choices = f" ({', '.join(about.kind.choices)})" if about.kind.choices else ""
            typer.echo(f"{'':<12}{option}: {about.about}{choices}")


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put the files.", readable=False)] = Path("demo"),
    k: Annotated[int, typer.Option("--k", help="Size of the smallest crowd.")] = 50,
) -> None:
    """Anonymize the census data that comes with incrowd (Adult, 45,222 people) to predict income."""
    with user_errors():
        from incrowd import datasets
        from incrowd.policy.words import make_policy

        table, taxonomies = datasets.copy("adult", folder)
        output = folder / "release.csv"
        columns = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
        policy = make_policy(quasi_identifiers=columns, k=k, target="income", taxonomies=taxonomies)
        console().print(
            f"incrowd anonymize {table} -o {output} --qi {','.join(columns)} --k {k} --target income "
            f"--taxonomies {taxonomies} --method tdr --preview --overwrite\n",
            highlight=False,
            soft_wrap=True,
        )
        _anonymize(table, output, policy, {}, overwrite=True, preview=True, as_json=False)


def main() -> None:
    """Entry point; an interrupt while modules are loading ends like one during a command."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(interrupted().exit_code)
