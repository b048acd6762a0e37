"""A table to train on: is it still good for a model?

A bank wants a model that tells good loans from bad ones, trained by people who must not know the customers. The release
keeps what predicts the target, and the evaluation says what that costs, before anything is handed out.
"""

# %% The table: 1,000 loans that come with incrowd.
import csv
import gzip
import os
from itertools import islice
from pathlib import Path

import pandas
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import incrowd
from incrowd.sklearn import Anonymizer

ROWS = int(os.environ.get("ROWS", "1000"))
FOLDER = Path(os.environ.get("FOLDER", "training"))
FOLDER.mkdir(parents=True, exist_ok=True)
with gzip.open(incrowd.datasets.german(), "rt") as original, (FOLDER / "loans.csv").open("w", newline="") as file:
    csv.writer(file).writerows(islice(csv.reader(original), ROWS + 1))
known = ["age", "personal-status-sex", "job", "housing", "residence-since", "foreign-worker"]
words = {"quasi_identifiers": known, "k": 5, "target": "credit"}
words["keep"] = ["credit-amount"]  # nearly unique, but nobody outside knows it, and models need it

# %% Which method, which k? Each setting is tried, and those are marked that no other one beats.
comparison = incrowd.compare(
    FOLDER / "loans.csv",
    methods=["tdr", "mondrian"],
    ks=[5, 20],
    **{name: word for name, word in words.items() if name != "k"},
)
print(comparison)

# %% What do classifiers err: trained on the original, on the release, and without the columns at issue?
evaluation = incrowd.evaluate(FOLDER / "loans.csv", **words, folds=5)
print(evaluation)

# %% The release, with what was found in its report.
release = incrowd.anonymize(FOLDER / "loans.csv", **words)
release.write(
    FOLDER / "release.csv",
    report=FOLDER / "release.confidential" / "report.html",
    evaluation=evaluation,
    overwrite=True,
)

# %% Or inside a pipeline of scikit-learn: every fold makes its own recoding from its training rows.
loans = pandas.read_csv(FOLDER / "loans.csv")
model = make_pipeline(Anonymizer(k=5), OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(max_depth=4))
scores = cross_val_score(model, loans[known], loans["credit"], cv=3)
print(f"accuracy {scores.mean():.3f}")
