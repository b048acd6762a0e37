"""Roles: what each column is to others, proposed with a reason and changed by one click, with live figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.errors import PolicyError, many
from incrowd.inspection.concepts import DEMOGRAPHIC, SURE
from incrowd.inspection.findings import RISKY
from incrowd.studio import policy_settings
from incrowd.studio.jobs import FAILED
from incrowd.studio.screens.screen import Form, Part, Screen
from incrowd.studio.studio import Studio

DEMOGRAPHIC_FINDINGS = {"age", "date of birth", "zip code", "country"}
FILTERED = 8  # more columns than that can be filtered
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
                "badges": badges(column, given[column["name"]], proposed[column["name"]]),
            }
            for column in columns
        ],
        "demographics": demographics(studio),
        "filtered": FILTERED,
        "roles": policy_settings.ROLES,
        "differs": given != proposed,
        "chosen": sum(role == policy_settings.QUASI for role in given.values()),
        "many": MANY,
        **figures(studio),
    }


def badges(column: Mapping[str, Any], now: str, proposed: str) -> list[str]:
    """What is to be looked at in a column, in a few words each."""
    changed = ["changed by you"] if now != proposed else []
    unsure = ["unsure"] if column["certainty"] != SURE and now == proposed else []
    risky = [finding["kind"] for finding in column["findings"] if finding["kind"] in RISKY]
    return [*changed, *unsure, *risky]


def demographics(studio: Studio) -> list[str]:
    """The columns that hold what everybody knows of people: age, sex, home, family."""
    return [
        column["name"]
        for column in studio.known_columns()
        if column["reason"] in DEMOGRAPHIC
        or (
            column["role"] == policy_settings.QUASI
            and DEMOGRAPHIC_FINDINGS & {each["kind"] for each in column["findings"]}
        )
    ]


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


def only_demographics(studio: Studio, form: Form) -> str:
    """Outsiders know the demographics alone; other columns that they were said to know are kept, or else dropped."""
    project, chosen = studio.project, demographics(studio)
    if not chosen:
        raise PolicyError("no column looks like demographics; choose what outsiders know one by one")
    settings, parked, given = project.settings(), project.parked, studio.roles()
    stops = {column["name"] for column in studio.known_columns() if column.get("stops")}
    for name in studio.names():
        if name in chosen and given[name] != policy_settings.QUASI:
            settings, parked = policy_settings.with_role(settings, parked, name, policy_settings.QUASI)
        elif name not in chosen and given[name] == policy_settings.QUASI:
            other = policy_settings.DROP if name in stops else policy_settings.KEEP
            settings, parked = policy_settings.with_role(settings, parked, name, other)
    project.change(_with_proposed(studio, settings), parked)
    count(studio)
    return f"Known to outsiders: {', '.join(chosen)}."


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
    actions={"give": give, "keep": keep, "several": several, "demographics": only_demographics, "propose": propose},
    parts={"figures": Part("parts/figures.html", figures)},
    needs="table",
    done=lambda studio: bool(policy_settings.quasi_columns(studio.project.settings())),
)
