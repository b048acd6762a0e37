"""The engines by name, and which of them suits a table.

To add one: a folder with the file names of `engines/arrow`, a class that satisfies `Engine` and takes `Settings`, and
an entry here. An engine whose library is not installed is known all the same: asking for it says what to install.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from incrowd.engines.engine import Engine, Settings
from incrowd.errors import MissingPackageError, UnknownNameError
from incrowd.formats.registry import load

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy

AUTO = "auto"


@dataclass(frozen=True)
class EngineEntry:
    """An engine in the registry.

    Args:
        about: One line for people.
        home: The class, as "module:class".
        extra: The extra of the package that brings what it needs; empty if it needs nothing more.
        library: The module that must be there.
    """

    about: str
    home: str
    extra: str = ""
    library: str | None = None

    @property
    def installed(self) -> bool:
        return self.library is None or find_spec(self.library) is not None


ENGINES: Mapping[str, EngineEntry] = {
    "arrow": EngineEntry(
        "streams Arrow batches; memory grows with the distinct tuples", "incrowd.engines.arrow.engine:ArrowEngine"
    ),
    "duckdb": EngineEntry(
        "groups rows in DuckDB, beyond memory if need be; suits its databases and relations",
        "incrowd.engines.duckdb.engine:DuckDbEngine",
        "duckdb",
        "duckdb",
    ),
    "spark": EngineEntry(
        "lets a Spark cluster touch the rows; only distinct tuples come to this machine",
        "incrowd.engines.spark.engine:SparkEngine",
        extra="spark",
        library="pyspark",
    ),
}


def check_installed(name: str) -> None:
    if not ENGINES[name].installed:
        raise MissingPackageError(f"the engine '{name}' is not installed", ENGINES[name].extra)


def engine_of(name: str = "arrow", settings: Settings | None = None) -> Engine:
    """The engine of that name; imported when it is first used."""
    if name not in ENGINES:
        raise UnknownNameError("engine", name, (AUTO, *ENGINES))
    check_installed(name)
    made: Engine = load(ENGINES[name].home)(settings or Settings())
    return made


def engine_suiting(source: Source, name: str = AUTO, settings: Settings | None = None) -> Engine:
    """The engine of that name; for "auto" the one that suits the source: where its rows are."""
    return engine_of(getattr(source, "engine", "arrow") if name == AUTO else name, settings)


def engine_for(policy: Policy, source: Source) -> Engine:
    """The engine that a policy asks for, with its settings."""
    return engine_suiting(source, policy.engine, Settings(policy.memory_limit, policy.spill_folder, policy.master))
