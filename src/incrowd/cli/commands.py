"""The command line. stdout carries data, stderr messages; heavy modules are imported when a command runs."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from incrowd.cli.options import (
    TRIAL,
    Classifier,
    Columns,
    DocsFolder,
    Encoding,
    Experiments,
    Folds,
    Header,
    IntervalsAs,
    K,
    PapersFolder,
    PolicyFile,
    PolicyOptions,
    Protocol,
    Qi,
    Quote,
    Separator,
    Split,
    TestFile,
    to_verify,
    with_policy_options,
)
from incrowd.errors import IncrowdError

if TYPE_CHECKING:
    from rich.console import Console

    from incrowd.policy import Policy

app = typer.Typer(
    name="incrowd",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Release tables about people so that everyone stands in a crowd of at least k.",
)

INTERRUPTED = 130
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


@app.command()
@with_policy_options
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
    with _user_errors():
        policy, dialect = options.read()
        _anonymize(table, output, policy, dialect, overwrite=overwrite, preview=preview, as_json=as_json)


def _anonymize(
    table: Path, output: Path, policy: Policy, dialect: dict[str, Any], *, overwrite: bool, preview: bool, as_json: bool
) -> None:
    from incrowd.cli.progress import ProgressLine
    from incrowd.engines.sources import open_source
    from incrowd.pipeline import release_of
    from incrowd.release import check_outputs

    with ProgressLine() as progress:
        source = open_source(table, **dialect)
        check_outputs(output, source, overwrite=overwrite, sidecars=True)
        release = release_of(
            source,
            policy,
            on_rows=progress.stage("reading").rows,
            on_step=progress.step,
            on_progress=lambda so_far: progress.say(f"searching: {so_far}"),
        )
        certificate = release.write(output, overwrite=overwrite, progress=progress.stage("writing").rows)
    if as_json:
        _print_json({**release.to_json(), "certificate": certificate.to_json()})
        return
    from incrowd.cli.summary import print_preview, print_release

    if preview:
        print_preview(_console(), release)
    print_release(_console(), release, output)


@app.command()
@with_policy_options
def evaluate(
    table: Input,
    options: PolicyOptions,
    test: TestFile = None,
    split: Split = None,
    folds: Folds = None,
    protocol: Protocol = "apply",
    classifier: Classifier = "tree,bayes",
    features: Columns = None,
    intervals: IntervalsAs = "midpoints",
    as_json: Json = False,
) -> None:
    """Measure what a release costs a classifier: error on the original, on the release, without quasi-identifiers.

    Nothing is written. Test rows come from --test, or are drawn: once (--split) or in folds (--folds).

    incrowd evaluate people.csv --qi age,sex,zip --k 10 --target income --folds 10
    """
    with _user_errors():
        from incrowd.cli.progress import ProgressLine
        from incrowd.engines.sources import open_source
        from incrowd.evaluation.trial import Trial
        from incrowd.words import columns_of

        policy, dialect = options.read()
        with ProgressLine() as progress:
            progress.say("reading")
            trial = Trial.of(
                open_source(table, **dialect),
                policy,
                test=None if test is None else open_source(test, **dialect),
                split=split,
                folds=folds,
                classifiers=columns_of(classifier),
                features=None if features is None else columns_of(features),
            )
            evaluation = trial.evaluate(policy, protocol=protocol, intervals=intervals, progress=progress.say)
        if as_json:
            _print_json(evaluation.to_json())
            return
        from rich.console import Console

        from incrowd.cli.summary import print_evaluation

        print_evaluation(Console(), evaluation)


def compare(
    table: Input,
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for the results.", **_OWN)],
    methods: Annotated[str, typer.Option(help="By commas; options after colons: tds,cover:objective=dm.", **_OWN)],
    ks: Annotated[str, typer.Option(help="By commas; of each quasi-identifier without a k of its own.", **_OWN)],
    options: PolicyOptions,
    time_limit_per_run: Annotated[float | None, typer.Option(help="Seconds that a run may take.", **_OWN)] = None,
    again: Annotated[bool, typer.Option("--again", help="Do also the runs that the folder has already.")] = False,
    evaluate: Annotated[bool, typer.Option("--evaluate", help="Test classifiers, too.", **TRIAL)] = False,
    test: TestFile = None,
    split: Split = None,
    folds: Folds = None,
    protocol: Protocol = "apply",
    classifier: Classifier = "tree,bayes",
    features: Columns = None,
    intervals: IntervalsAs = "midpoints",
    as_json: Json = False,
) -> None:
    """Try several methods with several k: time, memory, losses, and which settings are dominated by others.

    Writes results.csv, results.json and a plot. Finished runs are kept: after an interruption, run it again.

    incrowd compare people.csv --qi age,sex,zip --target income --methods tds,bug,mondrian --ks 5,10,50 -o comparison
    """
    with _user_errors(f"finished runs are kept in {output}; the same command goes on"):
        from incrowd.cli.summary import print_comparison
        from incrowd.comparison.command import compare_file

        rows: dict[str, Any] = {"test": test, "split": split, "folds": folds, "protocol": protocol}
        trial = {**rows, "classifier": classifier, "features": features, "intervals": intervals} if evaluate else None
        limit = time_limit_per_run
        found = compare_file(table, output, options, methods, ks, trial=trial, time_limit=limit, again=again)
        if as_json:
            _print_json(found.to_json())
        else:
            print_comparison(found)


app.command()(with_policy_options(compare, without=("k", "method")))


@app.command()
def verify(
    table: Input,
    qi: Qi = None,
    k: K = None,
    policy: PolicyFile = None,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    header: Header = None,
    as_json: Json = False,
) -> None:
    """Count the crowds in a table, whoever made it; exits with 3 if one is too small."""
    with _user_errors():
        from incrowd.cli.progress import ProgressLine
        from incrowd.engines.sources import open_source
        from incrowd.policy import Policy
        from incrowd.release import recount

        qids, dialect = to_verify(qi, k, policy)
        given = {"separator": separator, "quote": quote, "encoding": encoding, "header": header}
        dialect |= {key: value for key, value in given.items() if value is not None}
        with ProgressLine() as progress:
            source = open_source(table, **dialect)
            Policy(quasi_identifiers=qids).check_columns(source.columns, source.name)
            verification = recount(source, qids, progress.stage("counting").rows)
        if as_json:
            _print_json(verification.to_json())
        else:
            from rich.console import Console

            from incrowd.cli.summary import print_verification

            print_verification(Console(), verification)
        verification.require()


@app.command()
def apply(
    recoding: RecodingFile,
    table: Input,
    output: Output,
    qi: Qi = None,
    k: K = None,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    header: Header = None,
    overwrite: Overwrite = False,
) -> None:
    """Recode new rows the way a release was recoded; with --qi and --k also verify them.

    New rows are not k-anonymous by that alone: nobody counted them when the recoding was made.
    """
    with _user_errors():
        from incrowd.cli.progress import ProgressLine
        from incrowd.pipeline import apply_to_file
        from incrowd.policy import quasi_identifiers_of
        from incrowd.recodings.recoding import Recoding
        from incrowd.words import quasi_identifiers

        dialect = {"separator": separator, "quote": quote, "encoding": encoding, "header": header}
        require = quasi_identifiers_of(quasi_identifiers(qi, k), k) if qi else ()
        with ProgressLine() as progress:
            rows = progress.stage("writing").rows
            apply_to_file(
                Recoding.read(recoding), table, output, require=require, overwrite=overwrite, progress=rows, **dialect
            )
        verified = "verified" if require else "not verified: give --qi and --k to count the crowds"
        _console().print(f"wrote {output} ({verified})", highlight=False, soft_wrap=True)


@app.command()
def taxonomy(
    file: Annotated[Path, typer.Argument(help="A taxonomy in CSV or TOML.", show_default=False, readable=False)],
    most: Annotated[int | None, typer.Option(help="Children shown per node.", show_default=False)] = None,
) -> None:
    """Check a taxonomy and print it as a tree."""
    with _user_errors():
        from incrowd.taxonomies.taxonomy import Taxonomy

        typer.echo(Taxonomy.read(file).render(most))


@app.command()
def codebook(
    recoding: RecodingFile,
) -> None:
    """Print what every released value stands for."""
    with _user_errors():
        from incrowd.recodings.recoding import Recoding

        typer.echo(Recoding.read(recoding).codebook())


@app.command()
def methods() -> None:
    """List the searches and their options."""
    from incrowd.search import METHODS

    for name, method in METHODS.items():
        typer.echo(f"{name:<10}{method.about}")
        for option, about in method.options.items():
            choices = f" ({', '.join(about.choices)})" if about.choices else ""
            typer.echo(f"{'':<12}{option}: {about.about}{choices}")


@app.command()
def reproduce(
    names: Experiments = None,
    output: PapersFolder = Path("papers"),
    docs: DocsFolder = None,
    every: Annotated[bool, typer.Option("--all", help="Run all of them.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer points.")] = False,
) -> None:
    """Run experiments of the papers again on the shipped census data; without names, list them.

    incrowd reproduce tds-5a bug-3 -o papers
    """
    with _user_errors():
        from incrowd.reproduce.command import list_experiments, run_experiments

        if names or every:
            run_experiments(None if every else names, output, docs, quick=quick)
        else:
            list_experiments()


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put the files.", readable=False)] = Path("demo"),
    k: Annotated[int, typer.Option("--k", help="Smallest crowd.")] = 50,
) -> None:
    """Anonymize the shipped census data (Adult, 45,222 people) for predicting income."""
    with _user_errors():
        from incrowd import datasets
        from incrowd.policy import make_policy

        table, taxonomies = datasets.copy("adult", folder)
        output = folder / "release.csv"
        columns = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
        policy = make_policy(quasi_identifiers=columns, k=k, target="income", taxonomies=taxonomies)
        _console().print(
            f"incrowd anonymize {table} -o {output} --qi {','.join(columns)} --k {k} --target income "
            f"--taxonomies {taxonomies} --method tdr --preview --overwrite\n",
            highlight=False,
            soft_wrap=True,
        )
        _anonymize(table, output, policy, {}, overwrite=True, preview=True, as_json=False)


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True, markup=False)  # brackets in names and values are no markup


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=1, ensure_ascii=False))


@contextmanager
def _user_errors(kept: str = "no file was written") -> Iterator[None]:
    """One line and the designed exit code for what a user can mend; no traceback."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    except IncrowdError as error:
        typer.echo(f"error: {' '.join(str(error).splitlines())}", err=True)  # a column name may hold a line end
        raise typer.Exit(error.exit_code) from None
    except OSError as error:
        typer.echo(f"error: {error.filename}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo(f"error: interrupted; {kept}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _terminated(number: int, frame: object) -> NoReturn:
    sys.exit(128 + number)


def main() -> None:
    """Entry point; an interrupt while modules are loaded ends as one during a command does."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
