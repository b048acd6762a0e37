"""Attacks on what goes out with a release, each with its figure: what an attacker gets now, and what the mistake gave.

    python -m benchmarks.attacks

What each attack is, and what stops it, is told in `docs/security.md`.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import incrowd
from benchmarks.journalist import trial
from benchmarks.range_bounds import FEW, releases
from benchmarks.range_bounds import guessed as guesses
from benchmarks.register import guessed, undone
from incrowd.errors import OutputError, PolicyError
from incrowd.formats import read_back
from incrowd.search import leaving_out
from incrowd.search.registry import METHODS
from incrowd.verification.certificate import Commitment

K = 5
PEOPLE = 3_000
TABLES = 6  # random tables per method, for the attack on codebooks


@dataclass(frozen=True)
class Found:
    """What an attacker got.

    Args:
        attack: What was tried.
        meant: What the release tells anyway.
        mistake: What the mistake gave, if it can still be made.
        now: What is got now.
    """

    attack: str
    meant: str
    mistake: str
    now: str


# Row order


def sorted_people() -> pa.Table:
    """People of the census, sorted by age."""
    table = pa.csv.read_csv(
        incrowd.datasets.adult(), parse_options=pa.csv.ParseOptions(delimiter=","), read_options=pa.csv.ReadOptions()
    )
    names = ["age", "education", "marital-status", "sex", "race"]
    draw = random.Random(1)
    rows = sorted(draw.sample(range(len(table)), PEOPLE))
    return table.select(names).take(rows).sort_by("age")


def row_order() -> Iterator[Found]:
    """Whoever has a register in the order of the original takes the record at a person's place for the person's."""
    table = sorted_people()
    words = {"quasi_identifiers": table.column_names, "k": K}
    for method in ("cover", "mondrian"):
        kept, mixed = (
            incrowd.anonymize(table, method=method, keep_order=keep, **words).attack(only=["order"])["order"].worst
            for keep in (True, False)
        )
        shares = f"{kept.control_share:.0%} by chance", f"{kept.share:.0%} of records", f"{mixed.share:.0%}"
        yield Found(f"order of rows in a table sorted by age, {method}", *shares)


# Knowledge of the method, and several releases


def boxes() -> Iterator[Found]:
    """Whoever knows that nobody is in a box who fits a cheaper one subtracts cheaper boxes from wide ones."""
    table = sorted_people()
    words = {"quasi_identifiers": table.column_names, "k": K}
    for method, options in (("cover", {"effort": 0}), ("cover", {}), ("kaca", {}), ("mondrian", {})):
        found = incrowd.anonymize(table, method=method, **options, **words).attack(only=["downcoding"])["downcoding"]
        told = f"{found.worst.share:.0%} of generalized cells narrowed"
        name = f"{method}{' without effort' if options else ''}"
        yield Found(f"subtracting cheaper boxes, {name}", f"{found.worst.control_share:.0%} by chance", "", told)


def two_releases() -> Iterator[Found]:
    """Whoever has two releases of the same people, with other quasi-identifiers, intersects their crowds."""
    census = pa.csv.read_csv(incrowd.datasets.adult())
    table = census.take(random.Random(4).sample(range(len(census)), PEOPLE))
    table = table.select(["age", "education", "marital-status", "race", "sex", "occupation"])
    halves = (["age", "sex", "education"], ["age", "marital-status", "race"])
    rows = [
        incrowd.anonymize(
            table.select([*names, "occupation"]),
            quasi_identifiers=names,
            k=K,
            method="mondrian",
            sensitive=["occupation"],
        ).data
        for names in halves
    ]
    words = {"quasi_identifiers": table.column_names[:5], "k": K, "sensitive": ["occupation"], "only": ["releases"]}
    for score in incrowd.attack(rows[0], table, others=[rows[1]], **words)["releases"].scores:
        name = "an occupation is certain" if "certain" in score.variant else "people below k"
        yield Found(
            f"two releases of {PEOPLE:,} people, {name}", f"{score.control_share:.0%}", "", f"{score.share:.0%}"
        )


# The certificate


def certificate(folder: Path) -> Iterator[Found]:
    """Whoever knows all rows but one tries all values of that one against what the certificate says of the original."""
    draw = random.Random(2)
    header = "age,sex,zip\n"
    rows = [f"{draw.randrange(20, 60)},{draw.choice('fm')},{draw.randrange(12300, 12303)}\n" for _ in range(200)]
    (folder / "people.csv").write_text(header + "".join(rows))
    release = incrowd.anonymize(folder / "people.csv", quasi_identifiers=["age", "sex", "zip"], k=K, method="tdr")
    release.write(folder / "out.csv")
    public = "".join(path.read_text() for path in folder.glob("out.*") if path.is_file())
    original = json.loads((folder / "out.confidential" / "commitment.json").read_text())["original"]
    known, guesses, plain, salted = header + "".join(rows[:-1]), 0, 0, 0
    for age, sex, code in itertools.product(range(20, 60), "fm", range(12300, 12303)):
        guesses += 1
        digest = "sha256:" + hashlib.sha256(f"{known}{age},{sex},{code}\n".encode()).hexdigest()
        plain += digest == original
        salted += digest in public or Commitment(b"", digest).public in public
    yield Found(
        f"hash of the original, {guesses} guesses of one record",
        "0 confirmed",
        f"{plain} confirmed",
        f"{salted} confirmed",
    )


# Records that are left out


def left_out(folder: Path) -> Iterator[Found]:
    """Public files are searched for values that only a left-out person has."""
    named = releases = 0
    for method, seed in itertools.product(METHODS, range(TABLES)):
        if "suppress" not in METHODS[method].options:
            continue
        table = with_a_stranger(seed)
        limit = {"time_limit": 3} if method == "optimal" else {}
        words = {"quasi_identifiers": ["age", "job"], "k": 4, "method": method, "suppress": 0.05, **limit}
        release = incrowd.anonymize(table, **words)
        if len(release.data) == len(table):
            continue
        path = folder / f"{method}-{seed}.parquet"
        release.write(path)
        shown = b"".join(file.read_bytes() for file in folder.glob(f"{method}-{seed}.*") if file.is_file())
        shown += str(release.recoding).encode()
        releases += 1
        named += b"777001" in shown or b"zzyzx" in shown
    yield Found(f"values of left-out people in public files, {releases} releases", "0", "67 of 173", str(named))


def with_a_stranger(seed: int) -> pa.Table:
    """Crowds of equal people, and one who is like nobody; text columns know all values."""
    draw = random.Random(seed)
    crowds = [(draw.randrange(20, 60), draw.choice(["clerk", "nurse", "smith", "guard"])) for _ in range(12)]
    rows = [crowd for crowd in crowds for _ in range(draw.randrange(4, 9))] + [(777001, "zzyzx")]
    draw.shuffle(rows)
    jobs = pa.array([job for _, job in rows]).dictionary_encode()
    return pa.table({"age": [age for age, _ in rows], "job": jobs, "kind": jobs})


def containers(folder: Path) -> Iterator[Found]:
    """The bytes of released files and frames are searched for what stands in dictionaries only."""
    table = with_a_stranger(0)
    found, tried = 0, 0
    for frame in (table, table.to_pandas()):
        release = incrowd.anonymize(frame, quasi_identifiers=["age"], k=4, method="bug", suppress=0.05)
        rows = release.data if isinstance(release.data, pa.Table) else pa.Table.from_pandas(release.data)
        assert len(rows) < len(table)
        with pa.ipc.new_stream(sink := pa.BufferOutputStream(), rows.schema) as stream:
            stream.write_table(rows)
        pq.write_table(rows, folder / "frame.parquet")
        release.write(folder / "dictionary.parquet", overwrite=True)
        for data in (
            sink.getvalue().to_pybytes(),
            (folder / "frame.parquet").read_bytes(),
            (folder / "dictionary.parquet").read_bytes(),
        ):
            tried += 1
            found += b"zzyzx" in data
    yield Found(f"values in unused dictionary entries, {tried} files", "0", "every file", str(found))


def transformer() -> Iterator[Found]:
    """Rows that a release leaves out must not come back from the scikit-learn transformer."""
    from incrowd.sklearn import Anonymizer

    alone = 0
    tried = 0
    for method in ("bug", "incognito", "datafly", "samarati", "tdr", "genetic"):
        frame = with_a_stranger(1).select(["age", "job"]).to_pandas()
        options = {"suppress": 0.05} if method != "genetic" else {"evaluations": 50}
        tried += 1
        try:
            rows = Anonymizer(["age", "job"], 4, method=method, options=options).fit_transform(frame)
        except PolicyError:
            continue
        sizes = Counter(map(tuple, rows.astype(str).to_numpy().tolist()))
        alone += sum(n for n in sizes.values() if n < 4)
    yield Found(f"rows below k from the scikit-learn transformer, {tried} methods", "0", "1 a release", str(alone))


# Which record went where, with a register of everyone's quasi-identifiers


DEALT = ["workclass", "education", "marital-status", "occupation", "race", "sex"]
REGISTER = 10_000  # people


def dealing() -> Iterator[Found]:
    """Whoever knows everyone's quasi-identifiers tries to rebuild which of several equal records went where."""
    table = pa.csv.read_csv(incrowd.datasets.adult())
    people = table.take(random.Random(1).sample(range(len(table)), REGISTER))
    trees = {name: path for name, path in incrowd.datasets.taxonomies("adult").items() if name in DEALT}
    others = [name for name in people.column_names if name not in DEALT]
    for method, k in itertools.product(("kaca", "cover"), (5, 10)):
        words = {"quasi_identifiers": DEALT, "k": k, "taxonomies": trees, "keep": others, "method": method}
        release = incrowd.anonymize(people, **words, **({"effort": 1} if method == "cover" else {}))
        figures = []
        for key in (bytes(32), release.recoding.key, _rebuilt_key(release.recoding)):
            found = undone(release.data, release.recoding, key, k)
            figures.append("nothing" if found.refuted else f"{found.below} below k, {found.unique} of them alone")
        yield Found(f"which of {len(people):,} records went where, {method}, k = {k}", *figures)


def _rebuilt_key(recoding: Any) -> bytes:
    """What the key once was: a hash of what a register holder knows."""
    mapping = recoding.mapping
    digest = hashlib.blake2b(b"0", digest_size=32)
    digest.update(np.ascontiguousarray(mapping.tuples).tobytes())
    digest.update(np.add.reduceat(mapping.part_records, mapping.first_part[:-1]).tobytes())
    for hierarchy in mapping.hierarchies:
        digest.update(repr(hierarchy.taxonomy.labels).encode())
    return digest.digest()


# What being left out tells


def being_left_out() -> Iterator[Found]:
    """Whoever sees who is not in a release guesses what these people have; without decoys, and with them."""
    census = pa.csv.read_csv(incrowd.datasets.adult())
    census = census.take(random.Random(3).sample(range(len(census)), 4_000))
    credit = pa.csv.read_csv(incrowd.datasets.german())
    tables = {
        "census": (census, ["age", "education", "marital-status", "race", "sex"], "income"),
        "credit": (credit, ["age", "job", "housing", "purpose"], "credit"),
        "families": (census, ["age", "occupation", "hours-per-week"], "relationship"),
    }
    for (name, (table, columns, secret)), method in itertools.product(tables.items(), ("bug", "incognito", "kaca")):
        table = table.select([*columns, secret]).append_column("row", pa.array(range(len(table))))
        words = {"quasi_identifiers": columns, "k": K, "sensitive": [secret], "l": 2, "keep": ["row"]}
        figures = []
        for reveals in (lambda *_: False, leaving_out._reveals):
            with patch("incrowd.search.leaving_out._reveals", reveals):
                release = incrowd.anonymize(table, method=method, suppress=0.1, **words)
            found = guessed(table, release.data, secret, "row")
            share = f"{found.right / found.people:.0%}" if found.people else "none"
            figures.append(f"{found.right} of {found.people} ({share}; prior {float(found.prior):.0%})")
        yield Found(f"the secret of left-out people, {name}, {method}", "at most 10 points above the prior", *figures)


# Ranges, names, writers and risks


def ranges() -> Iterator[Found]:
    """Whoever sees a range guesses that somebody has its bounds; as often as at other values of it, or more."""
    for method in ("mondrian", "argus"):
        figures = []
        for bounds in ("exact", "round"):
            found = guesses(releases(FEW, method, K, bounds=bounds))
            figures.append(f"{found.at_bounds:.0%} right (elsewhere {found.elsewhere:.0%})")
        yield Found(f"people at the bounds of {found.ranges:,} ranges, {method}", "as elsewhere in a range", *figures)


NAMING: dict[str, Any] = {
    "who": lambda n: f"{('Anna', 'Carl', 'Eva', 'Tom')[n % 4]} {'ABCDE'[n % 5]}",
    "surname": lambda n: ("Xu", "Yu", "Wu")[n % 3],
    "contact": lambda n: f"x{n}@example.org",
    "call": lambda n: f"+49 30 {n:07}",
    "file": lambda n: f"P-{n:06}",
    "ssn": lambda n: n % 3,
    "home": lambda n: f"{n} Main Street",
    "link": lambda n: f"https://example.org/people/{n}",
    "remark": lambda n: f"came in with pain number {n} again",
    "cost": lambda n: n * 3.7,
}


def naming() -> Iterator[Found]:
    """Columns that name people and that nobody mentioned must stop a release."""
    plain = {"age": [20 + n % 4 for n in range(200)], "sex": ["fm"[n % 2] for n in range(200)]}
    released = 0
    for name, value in NAMING.items():
        table = pa.table({**plain, name: [value(n) for n in range(200)]})
        try:
            incrowd.anonymize(table, quasi_identifiers=["age", "sex"], k=K)
        except PolicyError:
            continue
        released += 1
    yield Found(f"columns that name people, without a role, {len(NAMING)} kinds", "0", "all", f"{released} released")


def writers(folder: Path) -> Iterator[Found]:
    """A writer changes one cell of a column that nobody counts; what it wrote must not appear."""
    table = pa.table({"age": [20 + n % 4 for n in range(200)], "note": [f"text {n % 7}" for n in range(200)]})
    release = incrowd.anonymize(table, quasi_identifiers=["age"], k=K)
    tried = appeared = 0
    for suffix in ("csv", "csv.gz", "tsv", "parquet", "arrow", "jsonl", "xlsx", "dta", "sav"):
        tried += 1
        path = folder / f"wrong.{suffix}"
        with (
            contextlib.suppress(OutputError),
            patch.object(read_back.RowDigest, "add", _wrong(read_back.RowDigest.add)),
        ):
            release.write(path, sidecars=False)
        appeared += path.exists()
    yield Found(
        f"files that hold another cell than was to be written, {tried} formats", "0", "every file", str(appeared)
    )


def _wrong(add: Any) -> Any:
    """What was to be written differs in one cell from what the writer gets: to the check, the writer has erred."""

    def changed(self: Any, batch: pa.RecordBatch, *, written: bool = False) -> Any:
        if not written:
            place = batch.schema.get_field_index("note")
            notes = ["another", *batch.column(place).to_pylist()[1:]]
            batch = batch.set_column(place, batch.schema.field(place), pa.array(notes).cast(batch.schema.types[place]))
        return add(self, batch, written=written)

    return changed


def samples() -> Iterator[Found]:
    """The journalist's risk that is said of a 2 % sample of a known population, against the truth."""
    table = pa.csv.read_csv(incrowd.datasets.adult())
    found = trial("adult", table, DEALT, 0.02, 1)
    yield Found(
        "the journalist's risk of a 2 % sample", f"{found.truth:.3f}", f"{found.plain:.3f}", f"{found.said:.3f}"
    )


# The last record


def last_record() -> Iterator[Found]:
    """Whoever knows all records but one makes the release with guesses of that one, and compares."""
    draw = random.Random(2)
    rows = [(draw.randrange(20, 60), draw.choice("fm"), draw.randrange(12300, 12303)) for _ in range(200)]
    table = pa.table(dict(zip(("age", "sex", "zip"), zip(*rows, strict=True), strict=True)))
    words = {"quasi_identifiers": table.column_names, "k": K}
    for method, options in (("tdr", {}), ("mondrian", {}), ("cover", {"effort": 0})):

        def again(people: pa.Table, method: str = method, options: Any = options) -> pa.Table:
            return incrowd.anonymize(people, method=method, **options, **words).data

        found = incrowd.attack(again(table), table, again=again, only=["last-record"], **words)["last-record"].worst
        shares = f"{found.control_share:.0%} right by the labels", f"{found.share:.0%} of {found.trials}"
        yield Found(f"the last record from all others, {method}", shares[0], "", shares[1])


def main() -> None:
    """Run the attacks and print a table."""
    print("| attack | what the release tells anyway | with the mistake | now |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for found in itertools.chain(
            row_order(),
            boxes(),
            two_releases(),
            certificate(folder),
            left_out(folder),
            containers(folder),
            transformer(),
            dealing(),
            ranges(),
            naming(),
            writers(folder),
            samples(),
            being_left_out(),
            last_record(),
        ):
            print(f"| {found.attack} | {found.meant} | {found.mistake} | {found.now} |", flush=True)


if __name__ == "__main__":
    main()
