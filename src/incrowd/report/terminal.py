"""Results on the terminal, and the same as text for `print`: releases, verdicts, inspections, risks, trials."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from incrowd.advice.why import leaks_text
from incrowd.errors import many
from incrowd.measures.registry import MEASURES, OF_CLASSES
from incrowd.policy.dictionary import DICTIONARIES
from incrowd.release.files import ReleaseFiles
from incrowd.report.brief import brief, crowd_size, released_records
from incrowd.report.tables import TRIAL, cell, compared, comparison_rows, short_figure, trial_rows
from incrowd.risk.wording import notes, rows
from incrowd.verification.counts import OF_TABLE

if TYPE_CHECKING:
    from incrowd.advice.why import Why
    from incrowd.attacks.result import AttackReport
    from incrowd.comparison.comparison import Comparison
    from incrowd.display import Tabular
    from incrowd.evaluation.result import Evaluation
    from incrowd.inspection.columns import Column
    from incrowd.inspection.inspection import Inspection
    from incrowd.inspection.uniqueness import Combination
    from incrowd.release.release import Release
    from incrowd.risk.assessment import Risk
    from incrowd.verification.recipient import CertificateCheck
    from incrowd.verification.verdict import Verification

Preview = tuple[dict[str, list[Any]], dict[str, list[Any]]]
WIDTH = 100  # characters, where there is no terminal
PREVIEWED = 5  # rows
_MOST_TRIALS = 12
_TRIED = (
    "tried for the target on samples, tested on original records that were held out; * errs hardly more than the best"
)
_VERDICTS = {True: "holds", False: "DOES NOT HOLD", None: "not shown"}  # of claims
_FEW = 3  # values of a column that an inspection shows
_WORST = 2  # pairs, and triples, of columns that it shows
_NARROW = 110  # characters; an inspection on a narrower terminal shortens words, so that some values can be seen
_LONGEST = 24  # characters of a name or a value of an inspection
_LONGEST_CELL = 28  # characters of a cell of a preview
_GAP = 2  # blanks between two columns


def as_text(show: Callable[..., object], *things: Any, width: int = WIDTH) -> str:
    """What a function prints on a console, as text without trailing blanks."""
    text = io.StringIO()
    plain: dict[str, Any] = {"color_system": None, "markup": False, "emoji": False, "highlight": False}
    # In a notebook rich would draw into the cell instead, and nothing would be in the text.
    show(Console(file=text, width=width, force_terminal=False, force_jupyter=False, **plain), *things)
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip("\n").split("\n"))


def _plain_table(title: str | None = None) -> Table:
    """A table without frames, so that more of it fits on a line."""
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="")


def _say(console: Console, text: str) -> None:
    """Print a line that the terminal may wrap where it likes."""
    console.print(Text(text), soft_wrap=True)


def print_summary(console: Console, summary: Mapping[str, Any]) -> None:
    safe, done = summary["safe"], summary["done"]
    _print_crowds(console, summary)
    if safe["untouched"]:
        console.print(Text(f"passed through untouched: {', '.join(safe['untouched'])}"))
    if safe["kept"]:
        console.print(Text(f"kept on purpose, though they may name people: {', '.join(safe['kept'])}"))
    remarks = {"warning": safe["warnings"], "hint": done["hints"], "note": done["notes"]}
    for field, texts in remarks.items():
        for text in texts:
            console.print(Text(f"{field}: {text}"))
    if done["facts"]:
        line = ", ".join(f"{key} {value}" for key, value in done["facts"].items())
        console.print(Text(f"{done['method']}: {line}"))
    if done["trial"]:
        console.print()
        console.print(_trial(done["trial"]))
    console.print()
    _print_columns(console, summary["cost"])
    console.print()
    console.print(_measures(summary["cost"]))


def print_warnings(summary: Mapping[str, Any]) -> None:
    """Print the warnings of a release alone, for those who want to read nothing else."""
    console = Console(stderr=True, markup=False)
    for warning in summary["safe"]["warnings"]:
        _say(console, f"warning: {warning}")


def _trial(outcomes: Sequence[Mapping[str, Any]]) -> Table:
    """What came of the methods that were tried for a target, as `tables.trial_rows` words it."""
    table = _plain_table(_TRIED)
    for place, title in enumerate(TRIAL):
        table.add_column(title, justify="right" if place else "left")
    for row in trial_rows(outcomes):
        table.add_row(*map(Text, row))
    return table


def print_brief_release(console: Console, release: Release) -> None:
    summary = brief(release)
    console.print(Text(f"release of {release.source.name} by {release.policy.method}"))
    _print_crowds(console, summary)
    _print_columns(console, summary["cost"])


def _print_crowds(console: Console, summary: Mapping[str, Any]) -> None:
    records = summary["cost"]["records"]
    for crowd in summary["safe"]["crowds"]:
        names = ", ".join(crowd["quasi_identifier"])
        line = f"{released_records(records)}, each in a crowd of at least {crowd_size(crowd)} on {names}"
        console.print(Text(f"{line} ({', '.join(crowd['promises'])})"))
    if records["left_out"]:
        console.print(Text(f"{many(records['left_out'], 'record was', 'records were')} left out"))


def print_files(console: Console, files: ReleaseFiles, table: str | None = None) -> None:
    """Print which files there are and who may see them, and the table of a database that has the rows, if any."""
    console.print()
    if table is not None:
        _say(console, f"{'release':<13}{table}")
    shown = [("release", files.release), ("certificate", files.certificate), ("codebook", files.recoding)]
    for name, file in (*shown, *(("dictionary", files.dictionary(each)) for each in DICTIONARIES)):
        if file.exists():
            _say(console, f"{name:<13}{file}")
    if files.confidential.is_dir():
        inside = ", ".join(path.name for path in sorted(files.confidential.iterdir()))
        _say(console, f"confidential {files.confidential} ({inside}), for you alone")


def _print_columns(console: Console, cost: Mapping[str, Any]) -> None:
    table = _plain_table("changes by column")
    for title in ("attribute", "values", "loss", "released values"):
        right = title in ("values", "loss")
        table.add_column(title, justify="right" if right else "left", overflow="fold")
    for column in cost["columns"]:
        more = column["released_values"] - len(column["first_values"])
        listed = ", ".join(column["first_values"]) + (f" and {more:,} more" if more else "")
        counts = f"{column['original_values']:,} -> {column['released_values']:,}"
        table.add_row(Text(column["name"]), counts, f"{column['loss']:.3f}", Text(listed))
    console.print(table)
    if cost["more_columns"]:
        console.print(Text(f"and {many(cost['more_columns'], 'more attribute')}"))


def _measures(cost: Mapping[str, Any]) -> Table:
    table = _plain_table("crowds and losses")
    parts = cost["by_quasi_identifier"]
    rows = [(", ".join(part["quasi_identifier"]), part["values"]) for part in parts]
    if len(parts) > 1:
        table.add_column("quasi-identifier", overflow="fold")
        rows.append(("all together", {each["name"]: each["value"] for each in cost["measures"]}))
    names = [name for name in OF_CLASSES if name != "suppressed"]
    for name in names:
        table.add_column(MEASURES[name].title, justify="right")
    for title, values in rows:
        cells = [_measure(values.get(name)) for name in names]
        table.add_row(*([Text(title)] if len(parts) > 1 else []), *cells)
    return table


def _measure(value: float | None) -> str:
    if value is None:
        return "no target"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def print_verification(console: Console, verification: Verification) -> None:
    """Print what the witness found: of each quasi-identifier the crowds, and what the worst of them reaches."""
    for finding in verification.findings:
        names = ", ".join(finding.attributes)
        crowds = f"{many(verification.records, 'record')} in {many(finding.classes, 'crowd')} on {names}"
        console.print(Text(crowds))
        asked = any(model.threshold is not None for model in finding.models)
        table = _plain_table()
        titles = ("promise", "worst crowd", "crowds that are too small", "their records", "verdict")
        for title in titles if asked else ("what is counted", "worst crowd"):
            table.add_column(title, justify="right" if title in titles[1:4] else "left")
        for model in finding.models:
            cells: list[Any] = [Text(model.model), _reached(model.worst)]
            if asked:
                verdict = "holds" if model.holds else "does not hold"
                together = model.name in OF_TABLE
                cells += ["all together", ""] if together else [f"{model.bad_classes:,}", f"{model.bad_records:,}"]
                cells.append(verdict)
            table.add_row(*cells)
        console.print(table)


def _reached(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def print_evaluation(console: Console, evaluation: Evaluation) -> None:
    method, rows = evaluation.policy.method, f"{evaluation.train:,} training and {evaluation.test:,} test rows"
    for qid in evaluation.policy.quasi_identifiers:
        console.print(Text(f"{method} {qid}"))
    console.print(Text(f"{rows}: {evaluation.design}, {evaluation.how}"))
    if evaluation.left_out:
        guessed = "test rows could not be recoded like the release; for these the usual value was guessed"
        console.print(Text(f"{evaluation.left_out:,} {guessed}"))
    table = _plain_table(f"{evaluation.measured} in percent")
    table.add_column("")
    for errors in evaluation.errors:
        table.add_column(errors.classifier, justify="right")
    fields = {
        "baseline": "original (baseline)",
        "anonymity": "release (anonymity)",
        "recoded": "release, test rows recoded too",
        "upper": "no quasi-identifiers (upper)",
        "quality_loss": "release - original",
        "impact": "no quasi-identifiers - original",
    }
    if evaluation.protocol != "original":
        del fields["recoded"]
    for field, title in fields.items():
        cells = [Text(str(getattr(errors, field))) for errors in evaluation.errors]
        table.add_row(title, *cells)
        if field == "upper":
            table.add_row()
    if evaluation.deviation is not None:
        table.add_row()
        for field in ("baseline", "anonymity", "upper"):
            roots = [evaluation.deviation * getattr(errors, field).value ** 0.5 for errors in evaluation.errors]
            table.add_row(f"{fields[field]}: RMSE", *(Text(f"{root:,.4g}") for root in roots))
    console.print(table)
    _say(console, evaluation.intervals)


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print the runs of a comparison; a star marks each loss that no other run beats."""
    table = _plain_table()
    for title in ("method", "k", *compared(comparison).values()):
        table.add_column(title, justify="left" if title == "method" else "right")
    rows = comparison_rows(comparison)
    for place, (method, k, *cells) in enumerate(rows):
        marked = [Text(cell, "bold") if cell.endswith("*") else Text(f"{cell} ") for cell in cells]
        table.add_row(Text(method), k, *marked)
        if place + 1 < len(rows) and rows[place + 1][0] != method:
            table.add_row()
    console.print(table)
    caption = "* not dominated: no other setting has at least this k and loses less, or a larger k and loses no more"
    _say(console, caption)
    for run in comparison.runs:
        if run.problem:
            _say(console, f"{run}: {run.status}: {run.problem}")
    for entry in next((run.errors for run in comparison.runs if run.errors), ()):
        baseline, upper = (short_figure(entry[field]["value"]) for field in ("baseline", "upper"))
        width = (entry["anonymity"]["high"] - entry["anonymity"]["low"]) / 2
        line = f"error {entry['classifier']}: {baseline} on the original, {upper} without the quasi-identifiers"
        line += f"; 95 % intervals are about ± {width:.3f}"
        _say(console, line)


def print_rows(console: Console, result: Tabular) -> None:
    """Print any result that is a table: its headline, its rows, and what is to be known of them."""
    found = result.to_rows()
    table = _plain_table()
    for name in found[0] if found else ():
        number = all(isinstance(row[name], int | float | None) for row in found)
        table.add_column(name.replace("_", " "), justify="right" if number else "left", overflow="fold")
    for row in found:
        table.add_row(*(Text(cell(value)) for value in row.values()))
    console.print(Text(result.headline()))
    console.print(table)
    for remark in result.remarks():
        _say(console, remark)


def print_claims(console: Console, check: CertificateCheck) -> None:
    """Print what was found of every claim of a certificate."""
    table = Table(box=None, show_header=False)
    for claim in check.claims:
        table.add_row(Text(_VERDICTS[claim.holds]), Text(claim.claim), Text(claim.found))
    console.print(table)


def print_why(console: Console, why: Why) -> None:
    values = "1 value" if why.released == 1 else f"{why.released:,} values"
    console.print(Text(f"'{why.column}' lost {why.loss:.1%} of its detail ({values} in the release)"))
    for remark in why.remarks():
        console.print(Text(f"- {remark}"))
    if not why.trials:
        console.print(Text("there was no time to try anything"))
        return
    console.print()
    table = _plain_table("what was tried (each was actually run)")
    for title in ("change", f"loss of {why.column}", "total loss", "left out"):
        table.add_column(Text(title), justify="left" if title == "change" else "right")
    if why.leaks is not None:
        table.add_column("attacks that learn something", overflow="fold")
    table.add_row("current settings", f"{why.loss:.3f}", f"{why.total:.3f}", "", *_leaks(why, why.leaks))
    for trial in why.trials[:_MOST_TRIALS]:
        left_out = f"{trial.left_out:,}" if trial.left_out else ""
        leaks = _leaks(why, trial.leaks)
        table.add_row(Text(trial.change), f"{trial.column_loss:.3f}", f"{trial.loss:.3f}", left_out, *leaks)
    console.print(table)
    if not why.helpful:
        console.print(Text(f"none of these keeps more detail of '{why.column}'"))


def _leaks(why: Why, leaks: Mapping[str, float] | None) -> list[str]:
    """The cell on attacks, if any were played."""
    return [] if why.leaks is None else [leaks_text(leaks) or "not attacked"]


def print_risk(console: Console, before: Risk, after: Risk | None = None) -> None:
    shown = [rows(before)] if after is None else [rows(before), rows(after)]
    table = _plain_table(f"risk on {', '.join(before.question.attributes)}")
    table.add_column("", overflow="fold")
    for title in ("found",) if after is None else ("before", "after"):
        table.add_column(title, overflow="fold")
    for title in dict.fromkeys(name for column in shown for name in column):
        table.add_row(Text(title), *(Text(column.get(title, "-")) for column in shown))
    console.print(table)
    for note in notes(after or before):
        _say(console, note if after is None else f"after: {note}")


def print_attacks(console: Console, found: AttackReport, *, variants: bool = False) -> None:
    """Print what each attack on a release achieved, what that means, and what was not tried."""
    table = _plain_table(f"attacks on {found.release}, {many(found.people, 'record')}")
    titles = ("attack", "trials", "successes", "control", "excess", "95 % interval", "")
    for title in titles:
        table.add_column(title, justify="left" if title in ("attack", "") else "right")
    for place, result in enumerate(found.results):
        if place == 0 or result.attack.group is not found.results[place - 1].attack.group:
            table.add_row(Text(f"{result.attack.group.title}:"))
        for score in result.scores if variants else (result.worst,):
            cells = [f"{score.trials:,}", *(f"{share:.2%}" for share in (score.share, score.control_share))]
            reach = f"[{score.excess.low:.2%}, {score.excess.high:.2%}]"
            name = f"  {result.attack.name}" + (f": {_short(score.variant)}" if variants else "")
            leak = "LEAK" if score.excess.low > 0 else ""
            table.add_row(Text(name), *cells, f"{score.excess.value:+.2%}", Text(reach), leak)
    console.print(table)
    for result in found.results:
        console.print()
        _say(console, f"{result.attack.title}: {result.sentence}.")
        _say(console, f"  knows {result.attack.knows}; control: {result.attack.control}")
        if result.is_leak:
            _say(console, f"  what would help: {result.attack.group.help}")
    console.print()
    for note in found.remarks():
        _say(console, note)
    _say(console, "a low score is not a proof; intervals: Wilson and Newcombe, widened for several variants")


def print_inspection(console: Console, inspection: Inspection) -> None:
    console.print(
        Text(f"{inspection.name}: {many(inspection.records, 'record')}, {many(len(inspection.columns), 'column')}")
    )
    console.print(_inspected_columns(inspection, console.width))
    for reason in _reasons(inspection, narrow=console.width < _NARROW):
        _say(console, reason)
    if inspection.together is not None:
        noun = ("record", "records") if inspection.unit is None else ("person", "people")
        who = "" if inspection.unit is None else f", by {_short(inspection.unit)}"
        number = len(inspection.together.columns)
        line = f"unique on all {number} quasi-identifiers: {_uniques(inspection.together, noun)}{who}"
        _say(console, line)
        for combination in (*inspection.pairs[:_WORST], *inspection.triples[:_WORST]):
            if combination.uniques:
                _say(console, f"  on {', '.join(combination.columns)}: {_uniques(combination, noun)}")
    for warning in inspection.warnings:
        _say(console, f"warning: {warning}")
    for note in inspection.notes:
        _say(console, f"note: {note}")


def _inspected_columns(inspection: Inspection, width: int) -> Table:
    table, narrow = _plain_table(), width < _NARROW
    longest = _LONGEST if width >= _NARROW - _GAP * 5 else 16
    for head in (
        "column",
        "type",
        "missing",
        "distinct",
        "unique",
        "values",
        "role",
        *([] if narrow else ["how sure"]),
    ):
        right = head in ("missing", "distinct", "unique")
        table.add_column(head, justify="right" if right else "left", no_wrap=head != "values")  # the values shrink
    for column in inspection.columns:
        table.add_row(
            Text(_short(column.name, longest)),
            column.kind.partition(" ")[0] if narrow else column.kind,
            f"{column.missing:,}" if column.missing else "",
            f"{column.distinct:,}" + ("" if column.records == inspection.records else "+"),
            _share(column.alone) if column.once else "",
            Text(_distribution(column), no_wrap=True, overflow="ellipsis"),
            _role(column, narrow=narrow),
            *([] if narrow else [column.role.certainty]),
        )
    return table


def _reasons(inspection: Inspection, *, narrow: bool) -> Iterator[str]:
    """Why columns have their roles, a line for each reason; how sure that is, if the table has no room for it."""
    names: dict[tuple[str, str], list[str]] = {}
    for column in sorted(inspection.columns, key=lambda column: column.role.name):
        role = column.role
        name = _short(column.name) + (f" ({role.certainty})" if narrow and role.certainty != "sure" else "")
        names.setdefault((role.name, role.reason), []).append(name)
    yield from (f"{role}: {', '.join(columns)}: {reason}" for (role, reason), columns in names.items())


def _role(column: Column, *, narrow: bool) -> str:
    if narrow:
        return "target?" if column.role.may_be_target else column.role.name.partition("-")[0]
    return column.role.name + (" (target?)" if column.role.may_be_target else "")


def _distribution(column: Column) -> str:
    """Lowest, middle and highest value, or the most frequent ones."""
    if column.quantiles:
        values = dict(column.quantiles)
        return " .. ".join(values[percent] for percent in (0, 50, 100))
    if column.distinct and not column.top:
        return "every value once"
    shown = [f"{_short(value)} {count:,}" for value, count in column.top[:_FEW]]
    more = column.distinct - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 and shown else "")


def _short(text: str, longest: int = _LONGEST) -> str:
    """A text that fits into a column, on one line."""
    line = " ".join(text.splitlines())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _uniques(combination: Combination, noun: tuple[str, str]) -> str:
    return f"{combination.uniques:,} of {many(combination.records, *noun)} ({_share(combination.share)})"


def _share(share: float) -> str:
    """A share in percent; few are not none, and not all are not everyone."""
    if 0 < share < 0.001:
        return "<0.1 %"
    return ">99.9 %" if 0.999 < share < 1 else f"{100 * share:.1f} %"


def print_preview(console: Console, release: Release, seen: Preview | None = None) -> None:
    """Print the first few rows before and after, in as many blocks of columns as the width needs."""
    before, after = seen or release.preview(PREVIEWED)
    number = len(next(iter(before.values()), []))
    cells = {name: (list(map(_cell, before[name])), list(map(_cell, values))) for name, values in after.items()}
    for names in _blocks({name: _width(name, *both) for name, both in cells.items()}, console.width):
        table = _plain_table()
        for name in ("", *names):
            table.add_column(Text(_short(name, _LONGEST_CELL)), no_wrap=True)
        for side, title in enumerate(("before", "after")):
            for row in range(number):
                end = side == 0 and row == number - 1
                marks = [Text(_short(cells[name][side][row], _LONGEST_CELL)) for name in names]
                table.add_row(title if row == 0 else "", *marks, end_section=end)
            if side == 0:
                table.add_row("")
        console.print(table)
        console.print()
    if dropped := [name for name in before if name not in after]:
        console.print(Text(f"dropped: {', '.join(dropped)}"))


def _blocks(widths: Mapping[str, int], room: int) -> Iterator[list[str]]:
    """The columns in blocks that fit into the width."""
    block: list[str] = []
    used = margin = len("before")
    for name, width in widths.items():
        if block and used + _GAP + width > room:
            yield block
            block, used = [], margin
        block.append(name)
        used += _GAP + width
    if block:
        yield block


def _width(name: str, *columns: Sequence[str]) -> int:
    return max(
        cell_len(_short(text, _LONGEST_CELL)) for text in (name, *(text for column in columns for text in column))
    )


def _cell(value: Any) -> str:
    return "(missing)" if value is None or value == "" else str(value)
