"""Documents: files that are too large, too deep, ambiguous, changed, or something else."""

import json
import os

import pytest

from incrowd.errors import DataError
from incrowd.schemas.documents import Document
from incrowd.schemas.shapes import Anything, Text

NOTE = Document("note", 3, "write one", megabytes=1)
SHAPE = NOTE.shape({"text": Text(), "more": Anything()})
GOOD = NOTE.sealed({"text": "a", "more": [1, 2.5, None, {"b": "ü"}]})


def read(folder, content):
    data = content if isinstance(content, bytes) else content.encode()
    (folder / "x.json").write_bytes(data)
    return NOTE.read(folder / "x.json", SHAPE)


def test_what_was_written_is_read(tmp_path):
    assert read(tmp_path, json.dumps(GOOD)) == GOOD
    turned = dict(reversed(GOOD.items()))
    assert read(tmp_path, json.dumps(turned, indent=3)) == GOOD  # the digest is that of the content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a note written by incrowd; write one"),
        (b"\xff", "is not a note written by incrowd; write one"),
        ("[1]", "is not a note written by incrowd; write one"),
        ('{"incrowd": "risk"}', "is not a note written by incrowd; write one"),
        ('{"incrowd": "note", "format": 2}', "is a note of format 2; this version reads format 3"),
        ('{"incrowd": "note", "format": []}', r"\(The 'text' field must be there\); write one"),
        ("[" * 200_000, r"\(it is nested too deeply\); write one"),
        (" " * (1 << 20) + "{}", r"\(it is larger than 1 megabytes\); write one"),
        ('{"incrowd": "note", "incrowd": "note"}', "is not a note written by incrowd; write one"),
        (f'{{"incrowd": "note", "format": {"9" * 5000}}}', "is not a note written by incrowd; write one"),
        (json.dumps(GOOD).replace("2.5", "NaN"), "is not a note written by incrowd; write one"),
        (json.dumps(GOOD).replace("2.5", "2.50"), None),
        (
            json.dumps(GOOD).replace("2.5", "2.6"),
            "was changed after it was written: its digest is another one; write one",
        ),
        (json.dumps(GOOD).replace("sha256:", "md5:"), r"The 'digest' field must be a digest such as"),
    ],
)
def test_what_is_strange_is_refused_in_one_line(tmp_path, content, message):
    if message is None:
        assert read(tmp_path, content) == GOOD
        return
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match=r"cannot read the note .*No such file"):
        NOTE.read(tmp_path / "no.json", SHAPE)
    with pytest.raises(DataError, match=r"cannot read the note .*Is a directory"):
        NOTE.read(tmp_path, SHAPE)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file")
def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path):
    with (tmp_path / "note.json").open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    with pytest.raises(DataError, match="larger than 1 megabytes"):
        NOTE.read(tmp_path / "note.json", SHAPE)


def test_a_device_is_no_file():
    with pytest.raises(DataError, match="not a regular file"):
        NOTE.read("/dev/zero", SHAPE)
