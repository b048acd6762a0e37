"""Monthly extracts: one register, released every month for a year.

An office publishes its register every month. People come and go, and whoever keeps the extracts can subtract one from
the next: a single newcomer would be plain to see. A ledger keeps the promise for all extracts together.
"""

# %% The register: people of the census, and a number for each. It begins with two thirds of them.
import csv
import gzip
import os
import random
from pathlib import Path

import incrowd
from incrowd.ledger.store import Ledger
from incrowd.report.notebook import releases_svg

ROWS = int(os.environ.get("ROWS", "6000"))
FOLDER = Path(os.environ.get("FOLDER", "monthly-extracts"))
FOLDER.mkdir(parents=True, exist_ok=True)
NAMES = ["age", "education", "marital-status", "sex", "occupation"]
draw = random.Random(1)
with gzip.open(incrowd.datasets.adult(), "rt") as file:
    everyone = [[row[name] for name in NAMES] for row in csv.DictReader(file)]
waiting = [[f"P{number:05d}", *row] for number, row in enumerate(draw.sample(everyone, ROWS))]
register = [waiting.pop() for _ in range(2 * ROWS // 3)]

# %% Twelve months: every month some people come, and one in a hundred leaves. The policy never changes. `unit` says who
# is who; newcomers may wait for up to three months until enough of them have come to stand in fine crowds. Whoever
# waits, and whoever has left but whose row has to stay until others leave as well, is counted in the summary.
for month in range(1, 13):
    with (FOLDER / "register.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["person", *NAMES], *register])
    release = incrowd.anonymize(
        FOLDER / "register.csv",
        quasi_identifiers=["age", "education", "marital-status", "sex"],
        k=5,
        unit="person",
        sensitive=["occupation"],
        l=2,
        method="mondrian",
        ledger=FOLDER / "ledger",
        wait=3,
    )
    release.write(FOLDER / f"extract-{month:02d}.csv", overwrite=True)
    entry = Ledger.read(FOLDER / "ledger").releases[-1]
    print(
        f"month {month:2}: {entry.records:,} rows, {entry.entered:,} of them new; "
        f"{entry.waiting:,} people wait, {entry.held:,} rows stay for now"
    )
    register = [row for row in register if draw.random() > 0.01]
    register += [waiting.pop() for _ in range(ROWS // 36)]

# %% What the notes say of the last one.
for note in release.notes:
    print(note)

# %% A picture of the year: what each extract lost, who waited, and whose rows stayed.
(FOLDER / "year.svg").write_text(releases_svg(Ledger.read(FOLDER / "ledger").over_time()), encoding="utf-8")
