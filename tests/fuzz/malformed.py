"""Files from outside, broken in random ways: each is refused in one line, or read for what it says.

Tables, policies and taxonomies are broken byte by byte; recodings, certificates and commitments also field by field,
with their digest renewed, so that the schema is what is tried.
"""

import functools
import json
import random
import signal
import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
from tests.command_line import GOOD
from tests.faults.mutations import STRANGE, changed, places

import incrowd
from incrowd.errors import IncrowdError
from incrowd.policy.making import make_policy
from incrowd.policy.toml import read_policy
from incrowd.recodings.reading import read_recoding
from incrowd.schemas.documents import digest_of
from incrowd.verification.certificate import Certificate, Commitment

SECONDS = 60  # longer than that is a hang
WORDS = {"quasi_identifiers": ["age", "sex", "job"], "k": 5, "method": "tdr"}
POLICY = """k = 5
target = "income"
identifiers = ["name"]
method = "tdr"
[[quasi_identifiers]]
attributes = ["age", "sex"]
k = 4
[sensitive.ill]
l = 2
[taxonomies]
zip = {prefix = [3, 1]}
[csv]
separator = ";"
"""
PATHS = "clerk;office;*\nnurse;care;*\nsmith;craft;*\nguard;office;*\n"
TREE = json.dumps({"*": {"office": ["clerk", "guard"], "care": ["nurse"]}})
PIECES = (
    b"\0",
    b'"',
    b"'",
    b",",
    b";",
    b"\n",
    b"\r",
    b"\xff",
    b"\xef\xbb\xbf",
    b"[",
    b"{",
    b"9" * 400,
    b"[" * 20_000,
    b'{"a":' * 3_000,
    b"a." * 5_000,
    b"1234567890123456789",
    b"nan",
    b"=",
    b"\t",
)


@functools.cache
def originals():
    """What is broken: each file as bytes, and how it is read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "people.csv").write_text(GOOD)
        table = arrow_csv.read_csv(folder / "people.csv")
        pq.write_table(table, folder / "people.parquet")
        unusual = table.set_column(2, "sex", table["sex"].cast(pa.string_view()))
        unusual = unusual.append_column(
            "paid", pa.array([Decimal(i % 7) for i in range(len(table))], pa.decimal32(5, 2))
        )
        with pa.ipc.new_file(folder / "people.arrow", unusual.schema) as file:
            file.write_table(unusual)
        lines = "".join(json.dumps({**row, "paid": [1.5, {"x": 2}]}) + "\n" for row in table.to_pylist())
        release = incrowd.anonymize(folder / "people.csv", identifiers=["name"], **WORDS)
        cover = incrowd.anonymize(folder / "people.csv", identifiers=["name"], **{**WORDS, "method": "mondrian"})
        return {
            "people.csv": (GOOD.encode(), read_table),
            "people.parquet": ((folder / "people.parquet").read_bytes(), read_table),
            "people.arrow": ((folder / "people.arrow").read_bytes(), read_table),
            "people.jsonl": (lines.encode(), read_table),
            "policy.toml": (
                POLICY.encode(),
                lambda path: make_policy(**{"quasi_identifiers": ["age"], **read_policy(path)[0]}),
            ),
            "job.csv": (PATHS.encode(), incrowd.Taxonomy.read),
            "job.json": (TREE.encode(), incrowd.Taxonomy.read),
            "x.recoding.json": (json.dumps(release.recoding.to_json()).encode(), read_recoding),
            "y.recoding.json": (json.dumps(cover.recoding.to_json()).encode(), read_recoding),
            "x.certificate.json": (json.dumps(release.certificate.to_json()).encode(), Certificate.read),
            "commitment.json": (json.dumps(release.certificate.secret.to_json()).encode(), Commitment.read),
        }


def read_table(path):
    """Make a release of a table, and count its classes."""
    rows = incrowd.anonymize(path, identifiers=["name"], **WORDS).data.to_pylist()
    crowds = Counter(tuple(row[name] for name in WORDS["quasi_identifiers"]) for row in rows)
    assert min(crowds.values()) >= WORDS["k"], "a class is too small"


def trial(seed):
    """One trial: which file was broken and what came of it, and what is wrong with that."""
    draw = random.Random(seed)
    name = draw.choice(list(originals()))
    content, read = originals()[name]
    by_field = name.endswith(".json") and "." in name.removesuffix(".json") and draw.random() < 0.5
    broken = _field(draw, content) if by_field else _bytes(draw, content)
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(broken)
        try:
            read(path)
        except IncrowdError as error:
            short = "\n" not in str(error) and len(str(error)) < 1200
            return "refused", [] if short else [f"{name}: {str(error)[:200]}"]
        except Exception as error:
            return "failed", [f"{name}: {type(error).__name__}: {str(error)[:200]}"]
        finally:
            signal.alarm(0)
    return "read", []


def _too_long(*_):
    raise TimeoutError(f"it took more than {SECONDS} seconds")


def _bytes(draw, content):
    """Cut off, doubled, or with some bytes changed, put in or taken out."""
    data = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 5])):
        at, length = draw.randrange(len(data) + 1), draw.randrange(1, 40)
        change = draw.randrange(6)
        if change == 0:
            del data[at:]
        elif change == 1:
            del data[at : at + length]
        elif change == 2:
            data[at:at] = draw.choice(PIECES)
        elif change == 3:
            data[at:at] = data[at : at + length]
        elif change == 4:
            data[at : at + 1] = bytes([draw.randrange(256)])
        else:
            data[at:at] = draw.randbytes(length)
    return bytes(data)


def _field(draw, content):
    """One or two fields gone or replaced, and the digest renewed."""
    document = json.loads(content)
    for _ in range(draw.choice([1, 1, 2])):
        where = draw.choice(list(places(document)) or [("x",)])
        if draw.random() < 0.2:
            document = changed(document, where, lambda parent, key: parent.pop(key))
        else:
            put = draw.choice([strange for strange in STRANGE if strange != "\ud800"])
            document = changed(document, where, lambda parent, key, put=put: parent.__setitem__(key, put))
    if "digest" in document and draw.random() < 0.8:
        document["digest"] = digest_of(document)
    return json.dumps(document).encode()
