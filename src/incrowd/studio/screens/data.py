"""Data: choose a table, see what is in it, and correct how it is read."""

from __future__ import annotations

from typing import Any

from incrowd.errors import PolicyError
from incrowd.formats.registry import FORMATS
from incrowd.studio import policy_settings
from incrowd.studio.jobs import Job
from incrowd.studio.paths import tables
from incrowd.studio.screens.screen import Form, Screen
from incrowd.studio.studio import CSV_OPTIONS, Studio

_SEPARATORS = {"": "detected", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_QUOTES = {"": "detected", '"': "double quote", "'": "single quote"}


def look(studio: Studio) -> Job:
    """Start looking at the table; a policy is proposed where there is none yet."""
    project = studio.project
    dialect = {option: value for option, value in project.settings().get("csv", {}).items() if option in CSV_OPTIONS}

    def finish(job: Job, data: dict[str, Any]) -> None:
        project.keep("inspection", data, made_from, state)
        settings, names = project.settings(), [column["name"] for column in data["columns"]]
        if not policy_settings.named_columns(settings) or not policy_settings.named_columns(settings) <= set(names):
            project.change({**data["proposal"], **({"csv": dialect} if dialect else {})}, {})
        studio.changed()

    made_from, state = project.made_from(), project.table_state()
    request = {"table": str(project.table_path), "folder": str(project.folder_of("inspection")), "dialect": dialect}
    return studio.jobs.start("inspect", request, finish, "Inspecting the table")


def show(studio: Studio) -> dict[str, Any]:
    project, job = studio.project, studio.jobs.latest("inspect")
    found = studio.inspection()
    if found is None and project.table is not None and (job is None or job.state == "done"):
        job = look(studio)  # the file has changed, or the studio was ended while it looked
    csv = project.settings().get("csv", {}) if project.table else {}
    return {
        "found": found,
        "job": job if job is not None and (not job.is_over or found is None) else None,
        "tables": tables(project.root, project.folder),
        "csv": csv,
        "formats": [each.about for each in FORMATS.values()],
        "separators": _SEPARATORS,
        "quotes": _QUOTES,
        "is_csv": found is not None and bool(found["dialect"]),
    }


def choose(studio: Studio, form: Form) -> str:
    studio.take(form.one("path").strip())
    look(studio)
    return "The table is being inspected."


def dialect(studio: Studio, form: Form) -> str:
    given: dict[str, Any] = {}
    for option in ("separator", "quote"):
        if mark := form.one(option):
            given[option] = mark
    if encoding := form.one("encoding").strip():
        given["encoding"] = encoding
    if (header := form.one("header")) in ("yes", "no"):
        given["header"] = header == "yes"
    if form.has("strip"):
        given["strip"] = True
    from incrowd.formats.reader_options import check_options

    check_options(given)
    project = studio.project
    settings = project.settings()
    if (settings.get("csv") or {}) == given and studio.inspection() is not None:
        return "Nothing has changed."
    project.forget("inspection")
    project.change({**settings, "csv": given})
    look(studio)
    return "The table is being read again."


def again(studio: Studio, form: Form) -> str:
    if studio.project.table is None:
        raise PolicyError("no table yet; choose one")
    look(studio)
    return "The table is being inspected."


SCREEN = Screen(
    "data",
    "Data",
    "Choose a table and see what is in it.",
    show,
    actions={"choose": choose, "dialect": dialect, "again": again},
    done=lambda studio: studio.inspection() is not None,
)
