"""Imports a project of another tool: chosen by what its file is called, and written beside each other or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from incrowd.errors import DataError
from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.migration.arx import copy_table, read_arx
from incrowd.migration.imported import Imported
from incrowd.migration.sdcmicro import read_sdcmicro
from incrowd.policy.making import make_policy
from incrowd.policy.toml import settings_in
from incrowd.schemas.toml import parsed_toml
from incrowd.taxonomies.taxonomy import Taxonomy

_OWNER = 0o600  # labels and hierarchies may be confidential
_OWNERS_FOLDER = 0o700
READERS: Mapping[str, Callable[[Path, float | None], Imported]] = {".deid": read_arx, ".r": read_sdcmicro}


def read_project(path: Path, sampling_fraction: float | None = None) -> Imported:
    """Read a project of another tool.

    Raises:
        DataError: It cannot be read, or is no project that is known.
    """
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise DataError(f"cannot tell from its name what {path.name} is; projects end in {', '.join(READERS)}")
    return READERS[suffix](path, sampling_fraction)


def _check(imported: Imported, text: str, policy: Path) -> None:
    """Whether the text is a policy, with the hierarchies that will be beside it."""
    settings, _ = settings_in(parsed_toml(text), policy)
    trees = {column: Taxonomy.from_paths(each.paths, column) for column, each in imported.hierarchies.items()}
    settings["taxonomies"] = {**imported.settings.get("taxonomies", {}), **trees}
    if not imported.has_promise:
        settings["k"] = 2  # the line about it says that one has to be added
    make_policy(**settings)


def write_project(
    project: Path, imported: Imported, policy: Path, *, table: Path | None = None, overwrite: bool = False
) -> list[Path]:
    """Write a policy, its hierarchy files, and the table of the project if that is asked for; all or nothing.

    Raises:
        OutputError: Something is in the way.
        DataError: There is no table in the project.
    """
    if table is not None and READERS[project.suffix.lower()] is not read_arx:
        raise DataError(f"{project.name} holds no table, only projects of ARX do; leave out --table")
    hierarchies = imported.files(policy)
    for path, suffix in ((policy, ".toml"), *([(table, ".csv")] if table else ())):
        check_output(path, inputs=[project], overwrite=overwrite, suffixes=(suffix,))
    text = imported.policy_toml(policy)
    _check(imported, text, policy)
    with AtomicFiles(overwrite=overwrite) as files:
        files.open(policy, mode=_OWNER).write_text(text, encoding="utf-8")
        for column, path in hierarchies.items():
            target = files.open(path, mode=_OWNER, folder=_OWNERS_FOLDER)
            target.write_text(imported.hierarchies[column].text, encoding="utf-8", newline="")
        if table is not None:
            copy_table(project, files.open(table, mode=_OWNER))
    return [policy, *hierarchies.values(), *([table] if table else ())]
