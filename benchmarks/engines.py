"""The same tables through every engine and through the floor: CPU seconds, seconds on the clock and peak memory.

    python -m benchmarks.engines                        # 1, 3 and 10 M rows; writes results/engines.md and .svg
    python -m benchmarks.engines --rows 100000000       # needs 8 GB of disk
    python -m benchmarks.engines --spilling 10000000    # as many distinct tuples as rows, under --memory-limit

The table has eight quasi-identifying columns and 172,206 distinct tuples at 10 M rows. The floor reads the file,
groups it once by the eight columns and writes it back; polars holds the table for that, and is left out where there are
more than 50 M rows. Spark has a floor of its own, which also counts what was written; its start-up, of a JVM, is not
counted on either side. Every run is a process of its own, and engines take turns; the
fastest run counts. Processes that an engine starts (a JVM) count with it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
COLUMNS = ("age", "sex", "zip", "job", "edu", "race", "state", "hours")
DISTINCT = tuple(f"c{place}" for place in range(8))
SPARK_FLOOR, MASTER = "floor (Spark)", "local[2]"
FLOOR = ("floor (DuckDB)", "floor (polars)", SPARK_FLOOR)
MOST_HELD = 50_000_000  # rows of a table that polars is asked to hold, 400 bytes each
K = 50


def generate(path: Path, rows: int, *, distinct: bool = False) -> None:
    """Write a table by DuckDB, the same for the same number of rows; skewed, as people are."""
    import duckdb

    def draw(number: int, size: int) -> str:
        return f"((hash(i, {number}) >> 1)::BIGINT % {size})"

    if distinct:  # the row's number in base 40, so that no two rows are alike
        columns = ", ".join(f"((i // {40**place}) % 40)::SMALLINT AS c{place}" for place in range(8))
        columns += ", (i % 2)::TINYINT AS income"
    else:
        skewed = f"least({draw(1, 50)}, {draw(2, 50)})"
        columns = f"""(17 + {skewed})::SMALLINT AS age, 'fm'[1 + {draw(3, 2)}] AS sex,
          (10000 + 7 * least({draw(4, 60)}, {draw(5, 60)}))::VARCHAR AS zip,
          'job ' || least({draw(6, 14)}, {draw(7, 14)}) AS job, 'level ' || {draw(8, 4)} AS edu,
          'r' || least({draw(9, 5)}, {draw(10, 5)}, {draw(11, 5)}) AS race, 's' || ((17 + {skewed}) % 3) AS state,
          ({skewed} // 10 * 8)::SMALLINT AS hours, {draw(12, 100_000)} AS wage,
          CASE WHEN {draw(13, 100)} < 20 + {skewed} THEN 'high' ELSE 'low' END AS income"""
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY (SELECT {columns} FROM range({rows}) AS r(i)) TO '{path}' (FORMAT parquet)")


def floor(engine: str, path: Path, output: Path) -> dict[str, int]:
    """Read, group once, write back."""
    names = ", ".join(COLUMNS)
    if engine == SPARK_FLOOR:
        session = spark()
        groups = session.read.parquet(str(path)).groupBy(*COLUMNS).count().toArrow().num_rows
        session.read.parquet(str(path)).write.parquet(str(output))
        session.read.parquet(str(output)).groupBy(*COLUMNS).count().toArrow()
        return {"tuples": groups}
    if "polars" in engine:
        import polars as pl

        table = pl.read_parquet(path)
        groups = len(table.group_by(COLUMNS).len())
        table.write_parquet(output)
        return {"tuples": groups}
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"CREATE TABLE grouped AS SELECT {names}, count(*) FROM '{path}' GROUP BY ALL")
        connection.execute(f"COPY (SELECT * FROM '{path}') TO '{output}'")
        found = connection.execute("SELECT count(*) FROM grouped").fetchone()
    return {"tuples": int(found[0]) if found else 0}


def spark() -> Any:
    """A session of Spark that has counted something."""
    from incrowd.engines.spark.session import session_of

    session = session_of(MASTER)
    session.range(1_000).groupBy().count().toArrow()
    return session


def ours(engine: str, path: Path, output: Path, words: dict[str, Any]) -> dict[str, Any]:
    """Make a release, verified and written."""
    import incrowd

    columns = DISTINCT if path.name.startswith("distinct") else COLUMNS
    release = incrowd.anonymize(
        path, quasi_identifiers=list(columns), k=K, target="income", method="tdr", engine=engine, **words
    )
    release.write(output, overwrite=True)
    return {"tuples": len(release.table.counts), "steps": len(release.steps), "ncp": release.measures.total.ncp}


def one(arguments: argparse.Namespace) -> None:
    """One run in this process; prints what it cost."""
    if arguments.one in FLOOR[:2]:  # imports are not counted
        importlib.import_module("polars" if "polars" in arguments.one else "duckdb")
    else:
        importlib.import_module("benchmarks.ours").import_all()
    if arguments.one in (SPARK_FLOOR, "spark"):
        spark()
    words = {"keep_order": arguments.keep_order, "memory_limit": arguments.memory_limit}
    words = {
        **words,
        "most_tuples": arguments.most_tuples,
        "spill_folder": arguments.spill,
        "master": MASTER if arguments.one == "spark" else None,
    }
    words = {name: value for name, value in words.items() if value is not None}
    wall = time.perf_counter()
    cpu = sum(seconds for seconds, _ in _processes())
    found: dict[str, Any]
    if arguments.one in FLOOR:
        found = floor(arguments.one, arguments.path, arguments.output)
    else:
        found = ours(arguments.one, arguments.path, arguments.output, words)
    costs = list(_processes())
    spent = {"wall": time.perf_counter() - wall, "cpu": sum(seconds for seconds, _ in costs) - cpu}
    print(json.dumps({**found, **spent, "peak": sum(peak for _, peak in costs)}))


def _processes() -> Iterator[tuple[float, float]]:
    """CPU seconds and peak megabytes of this process and of all that it started and that still run."""
    tick, mine = os.sysconf("SC_CLK_TCK"), {os.getpid()}
    usage = resource.getrusage(resource.RUSAGE_SELF)
    yield usage.ru_utime + usage.ru_stime, _peak(os.getpid())
    for entry in sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()):
        try:
            fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) in mine and entry not in mine:
                mine.add(entry)
                yield (int(fields[11]) + int(fields[12])) / tick, _peak(entry)
        except OSError:
            continue


def _peak(process: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def measure(engine: str, path: Path, output: Path, *options: str) -> dict[str, Any]:
    """One run in a process of its own."""
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), root])}
    command = [
        sys.executable,
        "-m",
        "benchmarks.engines",
        "--one",
        engine,
        "--path",
        str(path),
        "--output",
        str(output),
    ]
    done = subprocess.run([*command, *options], env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:200]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(folder: Path, rows: int, engines: list[str], repeat: int) -> list[dict[str, Any]]:
    """Every engine and the floor on one table, in turns."""
    path = folder / f"people-{rows}.parquet"
    if not path.exists():
        generate(path, rows)
    kept = folder / f"results-{rows}.json"
    best: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    for _ in range(repeat):
        floors = [*FLOOR[: 2 if rows <= MOST_HELD else 1], *([SPARK_FLOOR] if "spark" in engines else [])]
        for engine in (*floors, *engines):
            orders: tuple[tuple[str, ...], ...] = ((),) if engine in FLOOR else (("--keep-order",), ())
            for options in orders:
                name = engine if engine in FLOOR else f"{engine}, {'kept order' if options else 'shuffled'}"
                if repeat == 1 and name in best:  # of a run that was cut off
                    continue
                output = folder / f"out-{engine}.parquet"
                _remove(output)
                found = measure(engine, path, output, *options)
                _remove(output)
                print(f"{rows:>11,} {name:24} {found}", flush=True)
                if "failed" not in found and (name not in best or found["cpu"] < best[name]["cpu"]):
                    best[name] = {"rows": rows, "engine": name, **found}
                    kept.write_text(json.dumps(best))
    return list(best.values())


def _remove(path: Path) -> None:
    """A release that was a file, or a folder."""
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def table_of(results: list[dict[str, Any]]) -> str:
    """The results in Markdown; ratios are to the cheaper floor on the same table, those of Spark to its own."""
    lines = [
        "| rows | engine | tuples | CPU s | clock s | peak MB | CPU / floor | clock / floor |",
        "|--:|--|--:|--:|--:|--:|--:|--:|",
    ]
    for run in results:
        known = (SPARK_FLOOR,) if "park" in run["engine"] else FLOOR[:2]
        floors = [other for other in results if other["rows"] == run["rows"] and other["engine"] in known]
        ratios = [run[word] / min(other[word] for other in floors) for word in ("cpu", "wall")]
        lines.append(
            f"| {run['rows']:,} | {run['engine']} | {run['tuples']:,} | {run['cpu']:.1f} | {run['wall']:.1f} | "
            f"{run['peak']:,.0f} | {ratios[0]:.2f} | {ratios[1]:.2f} |"
        )
    return "\n".join(lines)


def plot(results: list[dict[str, Any]], path: Path) -> None:
    """CPU seconds and peak memory over rows, a line per engine."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "incrowd"
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    for name in dict.fromkeys(run["engine"] for run in results):
        runs = [run for run in results if run["engine"] == name]
        style = {"marker": "o", "label": name, "linestyle": "--" if name in FLOOR else "-"}
        for axis, word in zip(axes, ("cpu", "peak"), strict=True):
            axis.loglog([run["rows"] for run in runs], [run[word] for run in runs], **style)
    for axis, title in zip(axes, ("CPU seconds", "peak memory, MB"), strict=True):
        axis.set(xlabel="rows", title=title)
        axis.grid(visible=True, which="both", alpha=0.3)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="lower center", ncols=4, fontsize=8, frameon=False)  # below, where no line is
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.savefig(path, metadata={"Date": None})


def spilling(folder: Path, rows: int, limit: str) -> None:
    """As many distinct tuples as rows, under a memory limit of DuckDB, beside the Arrow engine, which has none."""
    path = folder / f"distinct-{rows}.parquet"
    if not path.exists():
        generate(path, rows, distinct=True)
    limited = ("--memory-limit", limit, "--spill", str(folder), "--keep-order")
    for name, engine, options in (
        ("duckdb, tuples stay there", "duckdb", (*limited, "--most-tuples", "1")),
        ("duckdb", "duckdb", limited),
        ("arrow", "arrow", ("--keep-order",)),
    ):
        found = measure(engine, path, folder / "out.parquet", *options)
        print(f"{rows:,} distinct tuples, {name}: {found}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="*", default=None, help="those that are installed, by default")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None, help="keeps the tables, and runs that are finished")
    parser.add_argument("--spilling", type=int, default=None)
    parser.add_argument("--memory-limit", default=None)
    parser.add_argument("--dry", action="store_true", help="write no results")
    for word in ("one", "path", "output", "spill"):  # of a process that is measured
        parser.add_argument(f"--{word}", type=str if word == "one" else Path, help=argparse.SUPPRESS)
    parser.add_argument("--most-tuples", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--keep-order", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments)
        return
    from incrowd.engines.registry import ENGINES

    installed = [name for name, entry in ENGINES.items() if entry.installed]
    engines = installed if arguments.engines is None else arguments.engines
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if arguments.spilling:
            spilling(folder, arguments.spilling, arguments.memory_limit or "2GB")
            return
        results = [run for rows in arguments.rows for run in compare(folder, rows, engines, arguments.repeat)]
    print(table_of(results))
    if not arguments.dry:
        told = " ".join(sys.argv[1:]).replace(f"--folder {arguments.folder}", "").strip()  # where is nobody's business
        command = f"python -m benchmarks.engines {told}"
        about = f"`{command.strip()}`, DuckDB {version('duckdb')}, pyarrow {version('pyarrow')}, {os.cpu_count()} cores"
        text = (
            f"# Engines\n\n{about}. k = {K}, eight quasi-identifiers, tdr, Parquet in and out.\n\n{table_of(results)}\n"
        )
        (RESULTS / "engines.md").write_text(text, encoding="utf-8")
        plot(results, RESULTS / "engines.svg")


if __name__ == "__main__":
    main()
