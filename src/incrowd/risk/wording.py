"""A risk in plain words: the rows of its table, and notes below it. The terminal and `print` show the same."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from incrowd.errors import many
from incrowd.population.estimates import AT_MOST, COUNTED, ESTIMATED
from incrowd.population.uniqueness import Estimate

if TYPE_CHECKING:
    from incrowd.risk.assessment import Risk
    from incrowd.risk.attackers import Attacker

_UNKNOWN = "not known: no fraction, weights, population"
_MOST = 3  # columns that are listed of those that contribute


def rows(risk: Risk) -> dict[str, str]:
    people = risk.question.unit is not None
    found = {
        "people" if people else "records": f"{risk.records:,}",
        "crowds (records that are equal on the quasi-identifier)": f"{risk.classes:,}",
        f"smallest crowd{', in people' if people else ''}": f"{risk.smallest_class:,}",
        f"alone in the table{' in one of their crowds' if people else ''} (sample uniques)": _part(
            risk.uniques.records, risk.records
        ),
        **_attacker("prosecutor", "knows who is in the table", risk.prosecutor, risk),
        **_attacker("journalist", "does not know who is in it", risk.journalist, risk),
        "marketer (links everybody): right links": _how(risk.journalist) + percent(risk.marketer),
        "special uniques (alone by few columns): highest score": _special(risk),
    }
    for each in risk.homogeneity:
        title = f"all of a crowd have the same '{each.column}'"
        found[title] = (
            f"{many(each.classes, 'crowd')}, {_part(each.records, risk.records)}, not alone {each.in_crowds:,}"
        )
    for estimate in risk.population_uniques:
        found[f"alone in the population ({estimate.estimator})"] = _estimate(estimate)
    if risk.match_is_right is not None:
        found["a match with a record that is alone is right"] = percent(risk.match_is_right)
    return found


def notes(risk: Risk) -> list[str]:
    """What is to be known of the figures, and which columns to look at."""
    said = []
    if any(risk.special.contributions.values()):
        most = sorted(risk.special.contributions.items(), key=lambda item: -item[1])[:_MOST]
        listed = ", ".join(f"{name} ({percent(share)})" for name, share in most)
        said.append(f"columns that make records special, by their share in all scores: {listed}")
    if not risk.special.complete:
        said.append(f"special uniques: only sets of up to {risk.special.largest} columns were searched")
    said += [*_about_the_threshold(risk), *_about_the_journalist(risk)]
    if risk.question.unit is not None:
        said.append("whoever is in several crowds counts once, with the worst of them")
    for estimate in risk.population_uniques:
        if estimate.applies:
            caution = f"; {estimate.caution}" if estimate.caution else ""
            said.append(f"{estimate.estimator} assumes {estimate.assumes}{caution}")
    for found in risk.safe_harbour:
        said.append(f"HIPAA safe harbour: column '{found.column}' ({found.number}: {found.title}): {found.why}")
    return said


def highest(risk: Risk) -> str:
    """The risk of whoever is easiest to find, and how many are alone, in a few words."""
    noun = ("record", "records") if risk.question.unit is None else ("person", "people")
    most = "" if risk.prosecutor.how == COUNTED else "at most "
    return f"highest {most}{percent(risk.prosecutor.highest)}, {many(risk.uniques.records, *noun)} unique"


def _attacker(name: str, knows: str, attacker: Attacker | None, risk: Risk) -> dict[str, str]:
    if attacker is None:
        return {f"{name} ({knows})": _UNKNOWN}
    noun = "records" if risk.question.unit is None else "people"
    how, above = _how(attacker), above_threshold(risk.question.threshold, risk.question.crowd)
    highest = "" if attacker.how == COUNTED else "at most "
    return {
        f"{name} ({knows}): highest risk": highest + percent(attacker.highest),
        f"{name}: average risk": how + percent(attacker.average),
        f"{name}: {noun} with a risk above {above}": how + _part(attacker.at_risk, risk.records),
    }


def above_threshold(threshold: Fraction | float, crowd: int) -> str:
    """A threshold with its crowd size: 9 %: in a crowd smaller than 12."""
    return f"{100 * float(threshold):.4g} % (in a crowd smaller than {crowd:,})"


def _how(attacker: Attacker | None) -> str:
    return {ESTIMATED: "about ", AT_MOST: "at most "}.get("" if attacker is None else attacker.how, "")


def _about_the_journalist(risk: Risk) -> list[str]:
    attacker = risk.journalist
    if attacker is None or attacker.how == COUNTED:
        return []
    if attacker.how == AT_MOST:
        return [f"journalist and marketer: not estimated, since {attacker.reason}; at most, since {attacker.assumes}"]
    return [
        f"journalist and marketer: estimated, which assumes {attacker.assumes}; which records are meant, nobody knows"
    ]


def _about_the_threshold(risk: Risk) -> list[str]:
    """A threshold that looks like 1 / k, but is a little less, flags crowds of k, too."""
    threshold, crowd = risk.question.threshold, risk.question.crowd - 1
    digits = next((d for d in range(1, 10) if (threshold * 10**d).denominator == 1), 0)
    if not digits or threshold.numerator == 1 or not crowd or round(Fraction(1, crowd), digits) != threshold:
        return []
    written = f"{float(threshold):g}"
    return [
        f"{written} is less than 1/{crowd}, so crowds of {crowd} are above it; for a crowd of {crowd} write 1/{crowd}"
    ]


def _special(risk: Risk) -> str:
    if not risk.special.highest:
        return "0"
    first = risk.special.highest[0]
    by = " or ".join(", ".join(columns) for columns in first.columns[:2])
    return f"{first.score:,} (row {first.row:,}, alone by {by})"


def _estimate(estimate: Estimate) -> str:
    if estimate.uniques is None or estimate.share is None or estimate.chance is None:
        return f"does not apply: {estimate.reason}"
    about = "" if estimate.estimator == COUNTED else "about "
    people = f"{about}{many(round(estimate.uniques), 'person', 'people')} ({100 * estimate.share:.3g} %)"
    return f"{people}; of records alone in the table {100 * estimate.chance:.3g} %"


def _part(records: int, all_records: int) -> str:
    return f"{records:,} ({percent(Fraction(records, all_records))})"


def percent(share: float | Fraction) -> str:
    return "below 0.01 %" if 0 < share < Fraction(1, 10_000) else f"{100 * float(share):.3g} %"
