"""What `inspect` proposes for the columns of real tables, held against roles that were labelled by hand.

python -m tests.roles                     every column of all tables, and totals
python -m tests.roles --half last         of the tables that were labelled when words and rules were final
python -m tests.roles --wrong opt loans   what is wrong in two tables
python -m tests.roles --write             to benchmarks/results/roles.md
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.roles.verdicts import HALVES, LABELS, PRIVACY, UTILITY, Verdict, verdicts

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "roles.md"
ABOUT = """# Roles that are proposed, and roles that a steward would sign

Made by `python -m tests.roles --write`: {columns} columns of {tables} real tables about people, with roles labelled by
hand from the documentation before anything was proposed for them (`tests/roles/labels.toml`). A proposal harms privacy
if it shows more than the label allows: a quasi-identifier or something sensitive that leaves as it is, the number of a
person that is not used as the unit, but also something sensitive that is taken for a quasi-identifier, which is
generalized without being kept diverse (in brackets). It harms utility if it hides more. Where stewards may differ,
either is right.

Words and rules were chosen on the tables *tuned*. *Held out* were looked at when that was done, though their names had
been seen by whoever labelled them: 12.0 % harmed privacy and 12.6 % utility. What was learned from them was tried on
*fresh* ones: 14.3 % and 8.8 %, half of the former in one table whose names are codes. What was learned from those was
tried on the *last* ones, after which nothing was changed. So only the line *last* is of tables that no word or rule was
chosen on. *Before* is what was proposed when everything unknown was a quasi-identifier, as were 94 % of all columns.

"""
BEFORE = {"tuned": "13.9 / 50.3", "held out": "23.7 / 33.8", "fresh": "17.7 / 15.0", "last": "17.5 / 33.3"}


def shares(found: Sequence[Verdict]) -> tuple[str, str, str]:
    """The share that harms privacy, that of it which is only not kept diverse, and the share that harms utility."""
    private = [each for each in found if each.harm == PRIVACY]
    wrong = (len(private), sum(each.proposed == "qi" for each in private), sum(e.harm == UTILITY for e in found))
    first, second, third = (f"{100 * number / len(found):.1f}" for number in wrong)
    return first, second, third


def totals(name: str, found: Sequence[Verdict]) -> str:
    privacy, diverse, utility = shares(found)
    return (
        f"{name:17}{len(found):5} columns   harms privacy: {privacy:>4} % ({diverse} %)   harms utility: {utility:>4} %"
    )


def line(each: Verdict) -> str:
    proposed = each.proposed + ("?" if each.may_be_target else "")
    return f"{each.table:17}{each.column:30}{proposed:14}{each.sure:8}{each.labelled:24}{each.harm:15}{each.reason}"


def page(found: Sequence[Verdict]) -> Iterator[str]:
    yield ABOUT.format(columns=len(found), tables=len(LABELS))
    yield _head("tables", "columns", "harms privacy, %", "harms utility, %", "before, privacy / utility")
    for half in HALVES:
        here = [each for each in found if each.half == half]
        privacy, diverse, utility = shares(here)
        tables = len({each.table for each in here})
        yield f"| {half} ({tables}) | {len(here)} | {privacy} ({diverse}) | {utility} | {BEFORE[half]} |\n"
    marked = [each for each in found if each.may_be_target]
    right, hit = sum(each.is_target for each in marked), len({each.table for each in marked if each.is_target})
    known = sum("target" in about for about in LABELS.values())
    yield f"\nTargets: {len(marked)} columns are marked as what models may predict, {right} of them rightly; "
    yield f"in {hit} of the {known} tables that have one, one is found.\n\n## By table\n\n"
    yield _head("table", "", "columns", "harms privacy", "harms utility")
    for name, about in LABELS.items():
        here = [each for each in found if each.table == name]
        harms = [sum(each.harm == harm for each in here) for harm in (PRIVACY, UTILITY)]
        yield f"| {name} | {about['about']} | {len(here)} | {harms[0]} | {harms[1]} |\n"
    yield "\n## Every column\n\n" + _head("table", "column", "proposed", "", "labelled", "verdict")
    for each in found:
        yield f"| {each.table} | `{each.column}` | {each.proposed} | {each.sure} | {each.labelled} | {each.harm} |\n"


def _head(*names: str) -> str:
    return f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=[half.replace(" ", "-") for half in HALVES])
    parser.add_argument("--wrong", action="store_true", help="only what is wrong")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("tables", nargs="*")
    asked = parser.parse_args()
    halves = HALVES if asked.half is None else [asked.half.replace("-", " ")]
    names = asked.tables or [name for name, about in LABELS.items() if about["half"] in halves]
    found = [each for name in names for each in verdicts(name)]
    if asked.write:
        RESULTS.write_text("".join(page(found)))
        return
    print(*(line(each) for each in found if each.harm or not asked.wrong), sep="\n")
    for half in HALVES:
        if here := [each for each in found if each.half == half]:
            print(totals(half, here))


if __name__ == "__main__":
    main()
