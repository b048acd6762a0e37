"""What stands under the headings of packs: figures of the release, answers of the steward, and blanks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.policy.context import CONTEXT
from incrowd.report import tables
from incrowd.report.labels import shown
from incrowd.report.packs.pack import Answer, Block, Case, Grid, Item, Paragraph
from incrowd.report.tables import count, figure, percent

_KEPT = {"insensitive": "Harmless", "keep": "Kept on purpose"}


def ask(*questions: str) -> Block:
    """What the steward answered to questions of the context."""
    for name in questions:
        assert name in CONTEXT, name
    return lambda case: [Answer(CONTEXT[name].title, CONTEXT[name].about, case.context.get(name)) for name in questions]


def blank(title: str, about: str) -> Block:
    """What nobody asked the steward, and incrowd cannot know."""
    return lambda case: [Answer(title, about, None)]


def say(text: str) -> Block:
    return lambda case: [Paragraph(text)]


def scope(case: Case) -> list[Item]:
    """Which data it is about."""
    records, check = case.summary["cost"]["records"], case.summary["check"]
    return [
        Grid(
            ("Release", ""),
            [
                ("Original table", check["original"]["name"]),
                ("Records of the original table", count(records["original"])),
                ("Records released", count(records["released"])),
                ("Records left out", count(records["left_out"])),
                ("Promise", case.summary["safe"]["promise"]),
            ],
        )
    ]


def techniques(case: Case) -> list[Item]:
    """What was done with each column."""
    policy, safe = case.policy, case.summary["safe"]
    columns = {column["name"]: column for column in case.summary["cost"]["columns"]}
    unit = policy.get("unit")
    rows: list[Sequence[str | None]] = [
        (shown(name), "Direct identifier", "Removed", "–", "–") for name in policy.get("identifiers", ())
    ]
    rows += [(shown(unit), "Person ID", "Removed; crowds were counted in people", "–", "–")] if unit else []
    rows += [_generalized(name, column) for name, column in columns.items()]
    if more := case.summary["cost"]["more_columns"]:
        rows.append((f"and {count(more)} more", "Quasi-identifier", "See the codebook of the release", "–", "–"))
    promised = _promises(safe["requirements"])
    for name in policy.get("sensitive", ()):
        promise = promised.get(shown(name), "nothing is promised about it")
        rows.append((shown(name), "Sensitive", f"Released as it is; {promise}", "–", "–"))
    if policy.get("target") and policy["target"] not in policy.get("sensitive", ()):
        rows.append((shown(policy["target"]), "To be predicted", "Released as it is", "–", "–"))
    rows += [
        (shown(name), role, "Released as it is", "–", "–")
        for option, role in _KEPT.items()
        for name in policy.get(option, ())
    ]
    rows += [(name, "No role", "Released as it is", "–", "–") for name in safe["untouched"]]
    return [Grid(("Column", "Role", "Technique", "Values before", "Values after"), rows, (3, 4))]


def _generalized(name: str, column: Mapping[str, Any]) -> Sequence[str]:
    before, after = column["original_values"], column["released_values"]
    told = "Generalized" if column["loss"] else "No value was generalized"
    loss = f" (loss of detail {percent(column['loss'])})" if column["loss"] else ""
    return name, "Quasi-identifier", told + loss, count(before), count(after)


def _promises(requirements: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for each in requirements:
        if each["column"] is not None:
            found.setdefault(each["column"], []).append(each["promise"])
    return {column: "promised: " + ", ".join(dict.fromkeys(models)) for column, models in found.items()}


def threshold(case: Case) -> list[Item]:
    """How large every crowd has to be, and the risk that this allows."""
    rows = []
    for asked, risk in zip(case.policy["quasi_identifiers"], case.summary["safe"]["risks"], strict=True):
        k = asked["k"]
        chance = percent(1 / k) if k > 1 else "not set"
        names = ", ".join(risk["quasi_identifier"])
        rows.append((names, count(k), chance, count(risk["smallest_crowd"]), percent(risk["prosecutor_highest"])))
    titles = ("Quasi-identifier", "k asked", "Risk allowed (1/k)", "Smallest crowd", "Highest risk found")
    return [Grid(titles, rows, (1, 2, 3, 4)), *ask("threshold_reason")(case)]


def promises(case: Case) -> list[Item]:
    """Every promise with what the witness counted."""
    rows = [
        (
            each["promise"],
            ", ".join(each["quasi_identifier"]),
            each["column"] or "–",
            figure(each["asked"]),
            figure(each["reached"]),
            "holds" if each["holds"] else "does not hold",
        )
        for each in case.summary["safe"]["requirements"]
    ]
    return [
        Paragraph("Counted in the released rows by a witness that shares no code with the search."),
        Grid(("Promise", "Quasi-identifier", "Column", "Asked", "Worst crowd", "Verdict"), rows, (3, 4)),
    ]


def attackers(case: Case) -> list[Item]:
    """The residual risk by attacker, on each quasi-identifier."""
    safe = case.summary["safe"]
    found: list[Item] = []
    for before, after in zip(safe["risks_before"], safe["risks"], strict=True):
        found.append(Paragraph(f"What an attacker could do who knows {', '.join(after['quasi_identifier'])}:"))
        found.append(Grid(("Attacker", "Before", "After"), tables.risk_rows(after, before), (1, 2)))
    return found


def attacks(case: Case) -> list[Item]:
    """What attackers achieved who were played, if any were."""
    rows = case.summary["safe"]["attacks"]
    if not rows:
        about = "None was played for this pack; 'incrowd report --attack' and 'incrowd attack' play attackers."
        return [Answer("Results of attacks", about, None)]
    return [
        Paragraph("A success counts only above a control. A low score is not a proof."),
        Grid(tables.ATTACK_TITLES, tables.attack_rows(rows), (1, 2, 3)),
    ]


def shared(case: Case) -> list[Item]:
    """Crowds in which everyone has the same sensitive value."""
    safe = case.summary["safe"]
    if not safe["homogeneity"]:
        return [Paragraph("The policy names no sensitive column, so no crowd was searched for one that it shares.")]
    told = "Anyone who is known to be in a crowd that shares one sensitive value is known to have it."
    numbers = tuple(range(1, len(tables.shared_titles(safe))))
    return [Paragraph(told), Grid(tables.shared_titles(safe), tables.shared_rows(safe), numbers)]


def passing(case: Case) -> list[Item]:
    """Columns that leave as they are, and what that means."""
    safe, policy = case.summary["safe"], case.policy
    left = [*policy.get("sensitive", ()), policy.get("target"), *policy.get("insensitive", ()), *policy.get("keep", ())]
    names = dict.fromkeys((*(shown(name) for name in left if name), *safe["untouched"]))
    text = f"Columns that left as they are: {', '.join(names) or 'none'}."
    return [Paragraph(text), *(Paragraph(f"Warning: {warning}") for warning in safe["warnings"])]


def features(case: Case) -> list[Item]:
    """The quasi-identifiers by the three principles of the guidance of HHS; two are for the expert to judge."""
    rows = [
        (
            each["name"],
            None,
            None,
            f"{count(each['original_values'])} values before, {count(each['released_values'])} after",
        )
        for each in case.summary["cost"]["columns"]
    ]
    return [Grid(("Feature", "Replicability", "Availability elsewhere", "Distinguishability"), rows)]


def utility(case: Case) -> list[Item]:
    """What the release has lost."""
    cost = case.summary["cost"]
    found: list[Item] = [Grid(("Measure", "Value", "Meaning"), tables.measure_rows(cost["measures"]), (1,))]
    if cost["errors"]:
        rows = [
            (each["classifier"], *(percent(each[data]["value"]) for data in ("original", "released", "without")))
            for each in cost["errors"]
        ]
        titles = ("Errors of classifiers", "Original", "Released", "Without quasi-identifiers")
        found.append(Grid(titles, rows, (1, 2, 3)))
    return found


def method(case: Case) -> list[Item]:
    """How the release was made, so that it can be made again."""
    done, check = case.summary["done"], case.summary["check"]
    about = f": {done['about_method']}" if done["about_method"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in check["versions"].items())
    return [
        Paragraph(f"Method {done['method']}{about}."),
        Paragraph(f"Made with {versions}. The policy and the key of the release make the very same rows again."),
    ]


def limits(case: Case) -> list[Item]:
    """What is not promised."""
    return [Paragraph(text) for text in case.summary["safe"]["not_promised"]]


def approval(case: Case) -> list[Item]:
    """Who answers for it, until when, and what exactly was approved."""
    check = case.summary["check"]
    rows = [("Digest of the release", check["release"]), ("Commitment to the original", check["commitment"])]
    return [
        *ask("approver", "approved", "expires")(case),
        Grid(("What was assessed", ""), rows),
        Answer("Signature", "Signed by hand here, or with 'incrowd sign' in a file beside this one.", None),
    ]
