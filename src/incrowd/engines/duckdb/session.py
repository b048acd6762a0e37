"""Connections with a memory limit, and a folder of their own for what does not fit: owner-only, and gone in the end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from incrowd.engines.engine import Settings
from incrowd.formats.atomic_files import output_errors
from incrowd.formats.staging import Folder, recover_commits
from incrowd.run import Run

T = TypeVar("T")


def spill_folder(settings: Settings) -> Folder:
    """A new folder of this process, which only its owner can open.

    A run that was killed leaves its folder behind; the next run removes it.
    """
    parent = Path(settings.spill_folder or tempfile.gettempdir())
    recover_commits(parent)
    with output_errors(parent):
        return Folder(parent)


def options_in(folder: Folder, settings: Settings) -> dict[str, Any]:
    found: dict[str, Any] = {"temp_directory": str(folder.path)}
    if settings.memory_limit is not None:
        found["memory_limit"] = settings.memory_limit.replace(" ", "")
    return found


@contextmanager
def spilling(settings: Settings) -> Iterator[dict[str, Any]]:
    """The settings of a connection that may spill; the folder lives as long as what is inside."""
    folder = spill_folder(settings)
    try:
        yield options_in(folder, settings)
    finally:
        folder.remove()


def interruptible(connection: duckdb.DuckDBPyConnection | None, run: Run, work: Callable[[], T]) -> T:
    """Do what may take DuckDB long, so that an interrupt or a time limit ends it; the connection is None if unknown."""
    try:
        return run.in_thread(work)
    except BaseException:
        if connection is not None:
            connection.interrupt()
        raise
