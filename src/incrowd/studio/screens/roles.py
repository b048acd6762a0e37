"""Roles: what each column is to others, proposed with a reason and changed by one click, with live figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.errors import PolicyError, many
from incrowd.studio import policy_settings
from incrowd.studio.jobs import FAILED
from incrowd.studio.screens.screen import Form, Part, Screen
from incrowd.studio.studio import Studio

MANY = 15  # columns of a quasi-identifier that cost much of what the table is for


def asked(studio: Studio) -> dict[str, Any]:
    """What is to be counted: on which columns, by whom, in which look at the table; nothing before there was one."""
    looked, known = studio.inspection(), studio.project.result("inspection")
    if looked is None or known is None:
        return {}
    names, settings = studio.names(), studio.project.settings()
    chosen = [name for name in policy_settings.quasi_columns(settings) if name in names]
    unit = settings.get("unit")
    return {"columns": chosen, "unit": unit if unit in names else None, "of": known["digest"]}


def _is_of(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a count, or what it was known, is of what is asked."""
    return bool(wanted) and all(known.get(option) == value for option, value in wanted.items())


def count(studio: Studio) -> None:
    """Start counting who stands alone on the columns that others may know, unless that is known already."""
    wanted, found = asked(studio), studio.inspection()
    known, running = studio.project.result("uniques"), studio.jobs.running("uniques")
    if not wanted or found is None or (running is not None and _is_of(running.request, wanted)):
        return
    if known is not None and _is_of(known["data"], wanted):
        return
    names = studio.names()
    unit = [] if wanted["unit"] is None else [wanted["unit"]]
    places = [names.index(name) for name in (*wanted["columns"], *unit)]
    sizes = [found["sizes"][place] for place in places]
    request = {"folder": str(studio.project.folder_of("inspection")), "places": places, "sizes": sizes, **wanted}
    studio.run("uniques", request, "Counting unique people")


def show(studio: Studio) -> dict[str, Any]:
    columns = studio.known_columns()
    count(studio)
    given = studio.roles()
    proposed = policy_settings.roles((studio.inspection() or {})["proposal"], studio.names())
    on_purpose = policy_settings.kept(studio.project.settings())
    return {
        "columns": [
            {
                **column,
                "now": given[column["name"]],
                "proposed": proposed[column["name"]],
                "stops": column.get("stops") if given[column["name"]] in policy_settings.PASSING else None,
                "kept": column["name"] in on_purpose,
            }
            for column in columns
        ],
        "roles": policy_settings.ROLES,
        "differs": given != proposed,
        "chosen": sum(role == policy_settings.QUASI for role in given.values()),
        "many": MANY,
        **figures(studio),
    }


def figures(studio: Studio) -> dict[str, Any]:
    """What is known of who stands alone; a count that failed is said, and begun again with the screen."""
    wanted, job = asked(studio), studio.jobs.latest("uniques")
    if job is None or job.state != FAILED or not _is_of(job.request, wanted):
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
    settings, parked = policy_settings.with_role(project.settings(), project.parked, column, form.one("role"))
    if form.one("role") == policy_settings.QUASI and column not in parked:
        settings = _with_proposed(studio, settings)
    project.change(settings, parked)
    count(studio)
    return f"{column}: {policy_settings.ROLES[form.one('role')][0]}."


def keep(studio: Studio, form: Form) -> str:
    names, project = studio.names(), studio.project
    column = names[form.place("column", len(names))]
    wanted = form.one("keep") == "yes"
    project.change(policy_settings.with_kept(project.settings(), column, keep=wanted), project.parked)
    return f"{column}: {'kept on purpose' if wanted else 'not kept on purpose'}."


def several(studio: Studio, form: Form) -> str:
    text, role, project = form.one("contains").strip().casefold(), form.one("role"), studio.project
    meant = [name for name in studio.names() if text and text in name.casefold()]
    if not meant:
        raise PolicyError("no column has such a name; type a part of the names of the columns")
    if role in (policy_settings.TARGET, policy_settings.UNIT) and len(meant) > 1:
        raise PolicyError(f"only one column can have this role, but {len(meant)} have such a name")
    settings, parked = project.settings(), project.parked
    for name in meant:
        settings, parked = policy_settings.with_role(settings, parked, name, role)
    project.change(_with_proposed(studio, settings), parked)
    count(studio)
    return f"{many(len(meant), 'column')}: {policy_settings.ROLES[role][0]}."


def _with_proposed(studio: Studio, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with the proposed hierarchies of columns that others may know and that have none."""
    proposed = (studio.inspection() or {}).get("proposal", {}).get("taxonomies", {})
    if isinstance(settings.get("taxonomies", {}), dict):
        for name in policy_settings.quasi_columns(settings):
            if name in proposed:
                settings.setdefault("taxonomies", {}).setdefault(name, proposed[name])
    return settings


def propose(studio: Studio, form: Form) -> str:
    settings, proposal = studio.project.settings(), (studio.inspection() or {})["proposal"]
    kept = {option: value for option, value in settings.items() if option in ("k", "csv", "method", "suppress")}
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
    done=lambda studio: bool(policy_settings.quasi_columns(studio.project.settings())),
)
