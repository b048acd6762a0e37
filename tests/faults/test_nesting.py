"""Lists and objects in each other, deeper than anything can read, wherever text can nest: one line, no crash."""

import json

import pyarrow as pa
import pytest
from tests.faults.processes import run as run_process

import incrowd
from incrowd.errors import DataError, IncrowdError
from incrowd.formats import json_lines
from incrowd.formats.registry import open_source
from incrowd.policy.toml import read_policy
from incrowd.recodings.reading import read_recoding
from incrowd.verification.certificate import Certificate

DEPTHS = [51, 200, 1000, 5000, 10_000, 100_000]
SHAPES = {
    "lists": lambda depth: "[" * depth + "]" * depth,
    "objects": lambda depth: '{"a":' * depth + "1" + "}" * depth,
    "never closed": lambda depth: "[" * depth,
    "over lines": lambda depth: "[\n" * depth + "]\n" * depth,
    "objects over lines": lambda depth: '{"a":\n' * depth + "1" + "\n}" * depth,
    "between texts": lambda depth: '["]]",' * depth + '"]"' + "]" * depth,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("depth", DEPTHS)
def test_lines_of_json(tmp_path, depth, shape):
    good = '{"age": 30, "x": []}\n'
    (tmp_path / "p.jsonl").write_text(good * 3 + '{"age": 30, "x": ' + SHAPES[shape](depth) + "}\n" + good)
    with pytest.raises(DataError, match=r"more than 50 lists or objects in each other|not a JSON object") as found:
        open_source(tmp_path / "p.jsonl")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("command", ["anonymize", "inspect", "verify", "risk"])
def test_no_command_crashes(tmp_path, command):
    (tmp_path / "p.jsonl").write_text('{"age": 30, "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    more = {"anonymize": ("-o", tmp_path / "r.csv", "--k", "2"), "inspect": ()}.get(command, ())
    qi = () if command == "inspect" else ("--qi", "age")
    found = run_process(command, tmp_path / "p.jsonl", *more, *qi)
    assert (found.returncode, found.stderr.count("\n")) == (1, 1), found.stderr[-300:]


def test_what_can_be_read_is_read(tmp_path, monkeypatch):
    rows = [{"age": 30, "x": [[["a]]}}"]]], "text": "[" * 200}, {"age": 31, "x": [], "text": '\\"{"' * 100}] * 40
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for size in (1 << 10, json_lines.BLOCK_BYTES):
        monkeypatch.setattr(json_lines, "BLOCK_BYTES", size)
        assert pa.Table.from_batches(list(open_source(tmp_path / "p.jsonl").batches())).to_pylist() == rows
    (tmp_path / "deep.jsonl").write_text('{"age": 30, "x": ' + "[" * 49 + "]" * 49 + "}\n")
    assert open_source(tmp_path / "deep.jsonl").columns == ("age", "x")


LONG = 12345678901234567
NUMBERS = {
    "an id beside a large fraction": ([{"id": LONG, "x": 1.5e17}, {"id": LONG + 2, "x": 2.5}], None),
    "an exact whole number": ([{"x": 1 << 60}, {"x": 0.5}], None),
    "a whole number among fractions": ([{"id": LONG, "x": 1.5}, {"id": 1, "x": LONG}], "x"),
    "in a list": ([{"id": LONG, "x": [1.5, LONG]}], "x"),
    "in an object": ([{"id": LONG, "x": {"y": 1.5}}, {"id": 1, "x": {"y": LONG}}], "x"),
    "in another line": ([{"id": 1, "x": LONG}] * 50 + [{"id": LONG, "x": 1.5}] * 50, "x"),
    "longer than any type": ([{"id": 1, "x": 10**30 + 1}], "x"),
}


@pytest.mark.parametrize("size", [64, 1 << 24])
@pytest.mark.parametrize("case", NUMBERS)
def test_long_numbers_are_found_by_column(tmp_path, monkeypatch, case, size):
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", size)
    rows, bad = NUMBERS[case]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if bad is None:
        found = pa.Table.from_batches(list(open_source(tmp_path / "p.jsonl").batches()))
        assert found.to_pylist() == rows
        return
    with pytest.raises(DataError, match=f"column '{bad}' of p.jsonl has numbers with more digits than can be kept"):
        open_source(tmp_path / "p.jsonl")


READERS = {
    "policy": ("toml", lambda path: read_policy(path)),
    "taxonomy in TOML": ("toml", incrowd.Taxonomy.read),
    "recoding": ("json", read_recoding),
    "certificate": ("json", Certificate.read),
}
TEXTS = {
    "toml": [
        lambda n: f"k = {'[' * n}{']' * n}\n",
        lambda n: f"k = {'{a = ' * n}1{'}' * n}\n",
        lambda n: f"a{'.a' * n} = 1\n",
        lambda n: f"[a{'.a' * n}]\n",
        lambda n: f"""x = {{"a"{".'a'" * n} = 1}}\n""",
    ],
    "json": [SHAPES["lists"], SHAPES["objects"], lambda n: f'{{"kind": {"[" * n}{"]" * n}}}'],
}


@pytest.mark.parametrize("depth", [2000, 50_000])
@pytest.mark.parametrize("kind", READERS)
def test_other_files(tmp_path, kind, depth):
    ending, read = READERS[kind]
    for text in TEXTS[ending]:
        path = tmp_path / f"x.{ending}"
        path.write_text(text(depth))
        with pytest.raises(IncrowdError) as found:
            read(path)
        assert "nested too deeply" in str(found.value)
        assert "\n" not in str(found.value)
        assert len(str(found.value)) < 1200


def test_names_of_deep_types_are_cut_off(tmp_path):
    kind = pa.int64()
    for _ in range(45):
        kind = pa.list_(kind)
    table = pa.table({"age": [1, 1], "x": pa.nulls(2, kind)})
    release = incrowd.anonymize(table, quasi_identifiers=["age"], k=2, keep=["x"], method="tdr")
    with pytest.raises(IncrowdError) as found:
        release.write(tmp_path / "r.csv")
    assert len(str(found.value)) < 300


def test_labels_of_any_length_make_no_message_of_any_length(tmp_path):
    (tmp_path / "job.csv").write_text(f"a;*\nb;{'x' * 100_000}\n")
    with pytest.raises(IncrowdError) as found:
        incrowd.Taxonomy.read(tmp_path / "job.csv")
    assert len(str(found.value)) < 1200
