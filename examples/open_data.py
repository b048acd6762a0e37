"""Open data: a table for everyone.

What is put on the web stays there, and nobody knows who will look at it with which knowledge. k alone hides who is who;
l and t also say what a crowd may not give away. Here is what each of them costs, on census data that come with incrowd.
"""

# %% The table: 45,222 people, of which the first are taken; the income is what nobody should learn.
import csv
import gzip
import os
from itertools import islice
from pathlib import Path

import incrowd

ROWS = int(os.environ.get("ROWS", "20000"))
FOLDER = Path(os.environ.get("FOLDER", "open-data"))
FOLDER.mkdir(parents=True, exist_ok=True)
columns = ["age", "workclass", "education", "marital-status", "race", "sex", "income"]
with gzip.open(incrowd.datasets.adult(), "rt") as original, (FOLDER / "people.csv").open("w", newline="") as file:
    people = csv.DictWriter(file, columns, extrasaction="ignore")
    people.writeheader()
    people.writerows(islice(csv.DictReader(original), ROWS))

trees = incrowd.datasets.taxonomies("adult")
words = {
    "quasi_identifiers": columns[:-1],
    "k": 10,
    "sensitive": ["income"],
    "taxonomies": {name: tree for name, tree in trees.items() if name in columns},
    "method": "mondrian",
}

# %% k alone, then l = 2 (both incomes are in every crowd), then t = 0.2 (their shares are nearly those of all).
promises = {"k = 10": {}, "and l = 2": {"l": 2}, "and t = 0.2": {"l": 2, "t": 0.2}}
releases = {name: incrowd.anonymize(FOLDER / "people.csv", **words, **more) for name, more in promises.items()}
for name, release in releases.items():
    given_away = sum(crowds.records for crowds in release.risk().quasi_identifiers[0].after.homogeneity)
    print(f"{name:<12} loss {release.measures.total.ncp:.3f}, income given away by {given_away:,} records")

# %% The strictest goes out, with a report that anyone may read: it is made from the released rows and their
# certificate, and from nothing else.
release = releases["and t = 0.2"]
release.write(FOLDER / "release.csv", public_report=FOLDER / "about-the-data.html", overwrite=True)

# %% Whoever downloads it can count every promise again, without a certificate too.
found = incrowd.verify(FOLDER / "release.csv", quasi_identifiers=columns[:-1], k=10, sensitive=["income"], l=2, t=0.2)
print(found)
assert found.holds
