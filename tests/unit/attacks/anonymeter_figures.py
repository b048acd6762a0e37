"""What anonymeter 1.1.0 finds on tables that are released as they are; the figures are in anonymeter.json.

    python -m venv other && other/bin/pip install anonymeter==1.1.0     # it needs numpy below 2
    other/bin/python tests/unit/attacks/anonymeter_figures.py > tests/unit/attacks/anonymeter.json

Half of each table is released, the other half is the control; all columns are texts, and no two records are equal.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

DATASETS = Path(__file__).parents[3] / "src" / "incrowd" / "datasets"
ATTACKS = 1000
SEED = 5
KNOWN = {  # what is known of people, their secret, and two halves of a record that are to be linked
    "census": (
        ["marital-status", "sex", "race"],
        "income",
        (
            ["age", "education", "occupation", "workclass"],
            ["hours-per-week", "marital-status", "native-country", "race"],
        ),
    ),
    "credit": (["housing", "job"], "credit", (["age", "purpose"], ["credit-amount"])),
    "drawn": (["a", "b"], "c", (["a", "d"], ["b", "e"])),
}


def tables():
    """Each table as the half that is released and the half that is not."""
    rng = np.random.default_rng(SEED)
    drawn = {name: rng.integers(0, size, 2000) for name, size in {"a": 8, "b": 9, "d": 400, "e": 600}.items()}
    drawn["c"] = np.where(rng.random(2000) < 0.6, drawn["a"] % 3, rng.integers(0, 3, 2000))
    every = {
        "census": pd.read_csv(DATASETS / "adult" / "adult.csv.gz").drop(columns="fnlwgt"),
        "credit": pd.read_csv(DATASETS / "german" / "german.csv.gz"),
        "drawn": pd.DataFrame(drawn),
    }
    for name, table in every.items():
        table = table.astype(str).drop_duplicates().sample(frac=1, random_state=SEED).reset_index(drop=True)
        half = min(len(table) // 2, 2000)
        yield name, table[:half], table[half : 2 * half].reset_index(drop=True)


def _figures(results):
    return {
        name: {"rate": rate.value, "error": rate.error}
        for name, rate in (("attack", results.attack_rate), ("control", results.control_rate))
    }


def main():
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
    from anonymeter.evaluators.sklearn_inference_predictor import SklearnInferencePredictor
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    found = {}
    for name, people, others in tables():
        np.random.seed(SEED)  # noqa: NPY002 (it draws from there)
        known, secret, halves = KNOWN[name]
        common = {"ori": people, "syn": people, "control": others, "n_attacks": min(ATTACKS, len(people) * 4 // 5)}
        tree = make_pipeline(
            make_column_transformer((OneHotEncoder(handle_unknown="ignore"), known)),
            DecisionTreeClassifier(random_state=SEED),
        ).fit(people, people[secret])
        model = SklearnInferencePredictor(tree)
        inference = InferenceEvaluator(**common, aux_cols=known, secret=secret, inference_model=model).evaluate(
            n_jobs=1
        )
        linking = LinkabilityEvaluator(**common, aux_cols=halves).evaluate(n_jobs=1)
        singling = SinglingOutEvaluator(**common, n_cols=3, seed=SEED).evaluate("multivariate")
        parts = {"inference": inference, "linking": linking, "singling-out": singling}
        found[name] = {attack: _figures(part.results()) for attack, part in parts.items()}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
