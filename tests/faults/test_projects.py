"""Projects come from anywhere: what is hostile or damaged is refused with one line, and nothing is written."""

import random
import stat
import time
import zipfile
import zlib

import pytest
from tests.arx_projects import assignment, config, files, hospital, write_project
from tests.command_line import only_line, run

from incrowd.errors import IncrowdError
from incrowd.migration.importing import read_project

KIN = [assignment("kin", "qi", hierarchy=True)]


def refused(path, *, seconds=5):
    """The line with which an import ends, which leaves nothing behind."""
    began = time.monotonic()
    before = sorted(path.parent.iterdir())
    done = run("import", path, "-o", path.parent / "release.toml", "--table", path.parent / "input.csv")
    assert done.exit_code in (1, 2), done.output
    assert sorted(path.parent.iterdir()) == before
    assert time.monotonic() - began < seconds
    return only_line(done.stderr)


@pytest.mark.parametrize("entry", ["input/config.xml", "input/hierarchies/kin.csv", "data/input.csv"])
def test_a_small_archive_that_unpacks_to_a_huge_file(tmp_path, monkeypatch, entry):
    monkeypatch.setattr("incrowd.migration.archive.MOST_BYTES", 1 << 20)
    path = write_project(tmp_path / "bomb.deid", files(KIN, {"kin": "a;b;*"}) | {entry: "a" * (20 << 20)})
    assert path.stat().st_size < 1 << 16
    assert "unpacks to more than" in refused(path)


def test_a_size_that_is_declared_wrong_is_not_believed(tmp_path):
    path = write_project(tmp_path / "small.deid", files(KIN, {"kin": "a;b;*\n" * 1000}))
    data, size = path.read_bytes(), (6000).to_bytes(4, "little")
    path.write_bytes(data.replace(size, (10).to_bytes(4, "little")))
    assert "damaged" in refused(path)
    path.write_bytes(data.replace(size, (1 << 30).to_bytes(4, "little")))
    assert read_project(path).hierarchies["kin"].paths == [("a", "b", "*")]


@pytest.mark.parametrize(
    "name", ["../evil.xml", "/etc/evil", "a/../../b", "C:/evil", "a\\..\\b", "./x", "input/hierarchies/../../x.csv"]
)
def test_entries_that_lead_out_of_the_archive(tmp_path, name):
    path = write_project(tmp_path / "p.deid", files(KIN, {"kin": "a;b;*"}))
    with zipfile.ZipFile(path, "a") as archive:
        entry = zipfile.ZipInfo("placeholder" * 3)
        entry.filename = name
        archive.writestr(entry, "x")
    assert "leads out of the archive" in refused(path)


def test_links_devices_and_entries_that_come_twice(tmp_path):
    for kind in (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO):
        path = write_project(tmp_path / "p.deid", files(KIN, {"kin": "a;b;*"}))
        with zipfile.ZipFile(path, "a") as archive:
            entry = zipfile.ZipInfo("link")
            entry.external_attr = (kind | 0o777) << 16
            archive.writestr(entry, "/etc/passwd")
        assert "is a link or a device" in refused(path)
    for name in ("input/definition.xml", "INPUT/config.xml"):
        path = write_project(tmp_path / "p.deid", files(KIN, {"kin": "a;b;*"}) | {"input/definition_xml": "", name: ""})
        path.write_bytes(path.read_bytes().replace(b"input/definition_xml", b"input/definition.xml"))
        assert "two entries of the same name" in refused(path)


def test_more_entries_than_any_project_has(tmp_path, monkeypatch):
    monkeypatch.setattr("incrowd.migration.archive.MOST_ENTRIES", 10)
    path = write_project(tmp_path / "p.deid", {f"{number}": "" for number in range(11)})
    assert "entries, more than any project" in refused(path)


def test_archives_that_are_encrypted_or_packed_in_unusual_ways(tmp_path):
    path = tmp_path / "p.deid"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("input/config.xml", config())
    assert "is packed in an unusual way" in refused(path)
    write_project(path, {"input/config.xml": config()})
    data = path.read_bytes()
    place = data.index(b"PK\x01\x02") + 8
    path.write_bytes(data[:place] + b"\x01" + data[place + 1 :])
    assert "is encrypted" in refused(path)


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><config>&b;</config>',
        '<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]><config>&x;</config>',
        '<!DOCTYPE c SYSTEM "http://localhost/x.dtd"><config></config>',
    ],
)
def test_document_types_and_entities(tmp_path, text):
    path = write_project(tmp_path / "p.deid", files(KIN, {"kin": "a;b;*"}, config_xml=text))
    assert "document type or entities" in refused(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<config>",
        "no xml",
        "<a>" * 100_000,
        "<other/>",
        "<config><relativeMaxOutliers>much</relativeMaxOutliers></config>",
    ],
)
def test_xml_that_is_damaged_nested_or_of_something_else(tmp_path, text):
    entries = files(KIN, {"kin": "a;b;*"}) | {"input/config.xml": text}
    refused(write_project(tmp_path / "p.deid", entries))


@pytest.mark.parametrize(
    "rows",
    [
        b"\xff\xfe\x00a;b",  # not UTF-8
        "a;b\nc",  # ragged
        'a;"b\n',  # a quote that is open
        ";".join("a" * 500),  # too many levels
        "a;x;1\nb;x;2",  # no hierarchy
        "a;b\n" * 3 + "a;c\n",  # a value in two groups
        "a;\x00b\n",
    ],
)
def test_hierarchies_that_are_none(tmp_path, rows):
    refused(write_project(tmp_path / "p.deid", files(KIN, {"kin": rows})))


def test_what_is_no_project(tmp_path):
    for content in (b"", b"PK", b"PK\x05\x06" + bytes(18), random.Random(0).randbytes(3000), zlib.compress(b"x" * 99)):
        path = tmp_path / "p.deid"
        path.write_bytes(content)
        refused(path)
    refused(tmp_path / "missing.deid")
    assert "cannot tell from its name" in refused(write_project(tmp_path / "p.zip", {}))


def test_projects_with_random_damage_are_refused_or_read(tmp_path):
    """Every byte counts: whatever is damaged, there is a result or a refusal, never anything else."""
    path = write_project(tmp_path / "p.deid", hospital(20))
    data, chance = path.read_bytes(), random.Random(1)
    ends = {"read": 0, "refused": 0}
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 3, 30))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged[: chance.choice((len(damaged), chance.randrange(len(damaged))))])
        try:
            read_project(path)
            ends["read"] += 1
        except IncrowdError:
            ends["refused"] += 1
    assert min(ends.values()) > 0
