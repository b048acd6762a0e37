"""Inputs that change, block, or are large in a way that nobody thought of."""

import os
import time

import pytest
from tests.faults.processes import MORE, anonymize, names, one_line, people, run

import incrowd
from incrowd.errors import DataError
from incrowd.formats.csv_dialect import SAMPLE_BYTES, detect


@pytest.mark.parametrize("how", ["write", "replace"])
def test_rows_that_change_between_two_passes_with_the_same_size_and_time(tmp_path, how):
    people(tmp_path)
    table = tmp_path / "people.csv"
    release = incrowd.anonymize(table, quasi_identifiers=["age", "sex", "job"], k=5, keep=["name"])
    before = table.stat()
    text = table.read_text().replace("nurse", "clerk")
    if how == "write":
        table.write_text(text)
    else:
        (tmp_path / "new").write_text(text)
        os.replace(tmp_path / "new", table)
    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (table.stat().st_size, table.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(DataError, match="changed while it was being read"):
        release.write(tmp_path / "r.csv")
    assert names(tmp_path) == ["people.csv"]


def test_rows_that_change_right_after_the_file_was_written(tmp_path):
    people(tmp_path)
    table = tmp_path / "people.csv"
    text = table.read_text()
    table.write_text(text)  # just now
    source = incrowd.formats.registry.open_source(table)
    before = table.stat()
    table.write_text(text.replace("nurse", "clerk"))
    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DataError, match="changed"):
        source.check_unchanged()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_a_table_that_is_a_pipe_or_a_device(tmp_path, make):
    make(tmp_path / "people.csv")
    found = run(*anonymize(tmp_path), timeout=60)
    one_line(found, 1, "is not a regular file, and rows are read more than once; save them to a file first")


PIPES = {
    "policy": lambda folder, pipe: anonymize(folder, "--policy", pipe),
    "taxonomy": lambda folder, pipe: anonymize(folder, "--taxonomy", f"job={pipe}"),
    "recoding": lambda folder, pipe: ("apply", pipe, folder / "people.csv", "-o", folder / "r.csv"),
    "certificate": lambda folder, pipe: ("verify", folder / "people.csv", "--certificate", pipe),
}


@pytest.mark.parametrize("kind", PIPES)
def test_a_pipe_instead_of_any_other_file(tmp_path, kind):
    people(tmp_path)
    os.mkfifo(tmp_path / "pipe.toml")
    found = run(*PIPES[kind](tmp_path, tmp_path / "pipe.toml"), timeout=60)
    one_line(found, 2 if kind == "policy" else 1, "it is not a regular file")


@pytest.mark.parametrize("pattern", ["x,'", "','", ",'a", "''", 'x,"', '""', "\n", "',\n'"])
def test_quotes_are_found_in_time_that_grows_with_the_file_and_not_with_its_square(pattern):
    def seconds(size):
        head = ("a,b\n" + pattern * (size // len(pattern))).encode()[:size]
        began = time.process_time()
        for whole in (True, False):
            try:
                detect(head, whole, "x", {})
            except DataError:
                continue
        return time.process_time() - began

    assert seconds(SAMPLE_BYTES) < 10


def test_a_table_of_many_quasi_identifiers(tmp_path):
    columns = 700 if MORE == 1 else 2_000
    rows = ["".join(str((row * column) % 3) + "," for column in range(columns))[:-1] for row in range(40)]
    header = ",".join(f"c{column}" for column in range(columns))
    (tmp_path / "people.csv").write_text("\n".join([header, *rows]) + "\n")
    words = ("--qi", header, "--k", 5, "--method", "tdr")
    assert run("anonymize", tmp_path / "people.csv", "-o", tmp_path / "r.csv", *words, timeout=110).returncode == 0
