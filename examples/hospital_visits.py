"""Hospital visits: people with several records.

A hospital hands a table of visits to a university. One patient may have come many times, so ten records are not ten
people: k has to count patients. And a crowd in which everybody has the same diagnosis hides nothing.
"""

# %% The table: one row per visit, made up here; some patients come often.
import csv
import os
import random
from pathlib import Path

import incrowd

ROWS = int(os.environ.get("ROWS", "5000"))
FOLDER = Path(os.environ.get("FOLDER", "hospital-visits"))
FOLDER.mkdir(parents=True, exist_ok=True)
draw = random.Random(1)
patients = [
    (
        f"P{number:05d}",
        draw.randint(1930, 2020),
        draw.choice("FM"),
        f"{draw.choice([101, 102, 117])}{draw.randint(10, 39)}",
    )
    for number in range(max(60, ROWS // 3))
]
diagnoses = ["E11.9", "I10", "J06.9", "K29.7", "M54.5", "S52.5"]
with (FOLDER / "visits.csv").open("w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["patient", "born", "sex", "zip", "day", "diagnosis"])
    for _ in range(ROWS):
        day = f"2025-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        table.writerow([*draw.choice(patients), day, draw.choice(diagnoses)])

# %% What is in it? The inspection proposes a role for each column, and says who stands out.
print(incrowd.inspect(FOLDER / "visits.csv"))

# %% The release. `unit` names the column that tells patients apart: k counts them, and the column is dropped.
# Days become months and quarters, zip codes lose digits, years of birth become intervals; every crowd has at least
# three diagnoses.
release = incrowd.anonymize(
    FOLDER / "visits.csv",
    quasi_identifiers=["born", "sex", "zip", "day"],
    k=5,
    unit="patient",
    sensitive=["diagnosis"],
    l=3,
    taxonomies={"zip": incrowd.Prefix((3,)), "day": incrowd.Calendar(("month", "quarter", "year"))},
)
print(release)

# %% The rows, their certificate and codebook, and two reports appear together, or not at all.
release.write(
    FOLDER / "release.csv",
    report=FOLDER / "release.confidential" / "report.html",
    public_report=FOLDER / "public-report.html",
    overwrite=True,
)

# %% The university checks every claim from the rows themselves; nothing of the certificate needs to be believed.
# That k counts patients is the one thing it cannot see, because the patients did not leave.
check = incrowd.check_certificate(FOLDER / "release.certificate.json", FOLDER / "release.csv")
for claim in check.claims:
    verdict = {True: "holds", False: "does not hold", None: "cannot be seen"}[claim.holds]
    print(f"{verdict:<15} {claim.claim}")
