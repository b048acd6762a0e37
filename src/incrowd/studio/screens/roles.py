"""Roles: what each column is to others, proposed with a reason and changed by one click, with live figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.errors import PolicyError, many
from incrowd.studio import policy_words
from incrowd.studio.jobs import FAILED
from incrowd.studio.screens.screen import Form, Part, Screen
from incrowd.studio.studio import Studio

MANY = 15  # columns of a quasi-identifier that cost much of what the table is for


def asked(studio: Studio) -> dict[str, Any]:
    """What is to be counted: on which columns, by whom, in which look at the table; nothing before there was one."""
    looked, known = studio.inspection(), studio.project.result("inspection")
    if looked is None or known is None:
        return {}
    names, words = studio.names(), studio.project.words()
    chosen = [name for name in policy_words.quasi_columns(words) if name in names]
    unit = words.get("unit")
    return {"columns": chosen, "unit": unit if unit in names else None, "of": known["digest"]}


def _is_of(told: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a count, or what it was told, is of what is asked."""
    return bool(wanted) and all(told.get(word) == value for word, value in wanted.items())


def count(studio: Studio) -> None:
    """Start counting who stands alone on the columns that others may know, unless that is known already."""
    wanted, found = asked(studio), studio.inspection()
    known, running = studio.project.result("uniques"), studio.jobs.running("uniques")
    if not wanted or found is None or (running is not None and _is_of(running.words, wanted)):
        return
    if known is not None and _is_of(known["data"], wanted):
        return
    names = studio.names()
    unit = [] if wanted["unit"] is None else [wanted["unit"]]
    places = [names.index(name) for name in (*wanted["columns"], *unit)]
    sizes = [found["sizes"][place] for place in places]
    words = {"folder": str(studio.project.folder_of("inspection")), "places": places, "sizes": sizes, **wanted}
    studio.run("uniques", words, "Counting unique people")


def show(studio: Studio) -> dict[str, Any]:
    columns = studio.known_columns()
    count(studio)
    given = studio.roles()
    proposed = policy_words.roles((studio.inspection() or {})["proposal"], studio.names())
    on_purpose = policy_words.kept(studio.project.words())
    return {
        "columns": [
            {
                **column,
                "now": given[column["name"]],
                "proposed": proposed[column["name"]],
                "stops": column.get("stops") if given[column["name"]] in policy_words.PASSING else None,
                "kept": column["name"] in on_purpose,
            }
            for column in columns
        ],
        "roles": policy_words.ROLES,
        "differs": given != proposed,
        "chosen": sum(role == policy_words.QUASI for role in given.values()),
        "many": MANY,
        **figures(studio),
    }


def figures(studio: Studio) -> dict[str, Any]:
    """What is known of who stands alone; a count that failed is said, and begun again with the screen."""
    wanted, job = asked(studio), studio.jobs.latest("uniques")
    if job is None or job.state != FAILED or not _is_of(job.words, wanted):
        count(studio)
        job = studio.jobs.latest("uniques")
    found = studio.project.result("uniques")
    fresh = found is not None and _is_of(found["data"], wanted)
    return {
        "uniques": found["data"] if found is not None else None,
        "fresh": fresh,
        "counting": job if job is not None and not job.is_over else None,
        "count_problem": job.problem if job is not None and job.state == "failed" and not fresh else "",
    }


def give(studio: Studio, form: Form) -> str:
    names, project = studio.names(), studio.project
    column = names[form.place("column", len(names))]
    words, parked = policy_words.with_role(project.words(), project.parked, column, form.one("role"))
    if form.one("role") == policy_words.QUASI and column not in parked:
        words = _with_proposed(studio, words)
    project.change(words, parked)
    count(studio)
    return f"{column}: {policy_words.ROLES[form.one('role')][0]}."


def keep(studio: Studio, form: Form) -> str:
    """Keep a column as it is on purpose, though it looks as if it named people; or no longer."""
    names, project = studio.names(), studio.project
    column = names[form.place("column", len(names))]
    wanted = form.one("keep") == "yes"
    project.change(policy_words.with_kept(project.words(), column, keep=wanted), project.parked)
    return f"{column}: {'kept on purpose' if wanted else 'not kept on purpose'}."


def several(studio: Studio, form: Form) -> str:
    """Give all columns whose names contain something a role."""
    text, role, project = form.one("contains").strip().casefold(), form.one("role"), studio.project
    meant = [name for name in studio.names() if text and text in name.casefold()]
    if not meant:
        raise PolicyError("no column has such a name; type a part of the names of the columns")
    if role in (policy_words.TARGET, policy_words.UNIT) and len(meant) > 1:
        raise PolicyError(f"only one column can have this role, but {len(meant)} have such a name")
    words, parked = project.words(), project.parked
    for name in meant:
        words, parked = policy_words.with_role(words, parked, name, role)
    project.change(_with_proposed(studio, words), parked)
    count(studio)
    return f"{many(len(meant), 'column')}: {policy_words.ROLES[role][0]}."


def _with_proposed(studio: Studio, words: dict[str, Any]) -> dict[str, Any]:
    """The words with the proposed hierarchies of columns that others may know and that have none."""
    proposed = (studio.inspection() or {}).get("proposal", {}).get("taxonomies", {})
    if isinstance(words.get("taxonomies", {}), dict):
        for name in policy_words.quasi_columns(words):
            if name in proposed:
                words.setdefault("taxonomies", {}).setdefault(name, proposed[name])
    return words


def propose(studio: Studio, form: Form) -> str:
    words, proposal = studio.project.words(), (studio.inspection() or {})["proposal"]
    kept = {word: value for word, value in words.items() if word in ("k", "csv", "method", "suppress")}
    studio.project.change({**proposal, **kept})
    count(studio)
    return "All columns have the proposed roles."


SCREEN = Screen(
    "roles",
    "Roles",
    "Say which columns outsiders may know, which must be dropped and which need protection.",
    show,
    actions={"give": give, "keep": keep, "several": several, "propose": propose},
    parts={"figures": Part("parts/figures.html", figures)},
    needs="table",
    done=lambda studio: bool(policy_words.quasi_columns(studio.project.words())),
)
