"""What an evaluation found: how often each model errs on the original, on the release, and on neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.display import Tabular
from incrowd.evaluation.estimates import Estimate, Mistakes, difference_of, error_of
from incrowd.policy.policy import Policy


@dataclass(frozen=True)
class ClassifierErrors:
    """How often a classifier errs; of a model that predicts numbers, the share of their variance that it misses.

    Args:
        classifier: Its name.
        baseline: Error on the original table.
        anonymity: Error of what was learned from the release.
        upper: Error on the table without its quasi-identifiers.
        quality_loss: Anonymity error less baseline error: what the release lost.
        impact: Upper error less baseline error: what there was to lose.
        recoded: Error of what was learned from the release, on test rows that are recoded like it, as in the papers;
            None where that is the anonymity error itself.
    """

    classifier: str
    baseline: Estimate
    anonymity: Estimate
    upper: Estimate
    quality_loss: Estimate
    impact: Estimate
    recoded: Estimate | None = None

    @classmethod
    def of(cls, classifier: str, wrong: Mapping[str, Sequence[Mistakes]]) -> ClassifierErrors:
        """The errors from the mistakes in each fold, by table."""
        errors: dict[str, Any] = {word: error_of(folds) for word, folds in wrong.items()}
        loss = difference_of(wrong["anonymity"], wrong["baseline"])
        return cls(classifier, **errors, quality_loss=loss, impact=difference_of(wrong["upper"], wrong["baseline"]))

    def to_json(self) -> dict[str, Any]:
        return {word: part.to_json() if isinstance(part, Estimate) else part for word, part in self.__dict__.items()}


_HOW = {
    "original": "learned from the release of the training rows, tested on unseen original rows",
    "apply": "test rows recoded like the training rows",
    "together": "all rows released together, test rows too: optimistic, since the release has seen them",
}


@dataclass(frozen=True, repr=False)
class Evaluation(Tabular):
    """The result of `evaluate`. It prints as a short table.

    Args:
        policy: The policy that was tried.
        protocol: "original", "apply" or "together".
        design: Where test rows came from, for people.
        intervals: How confidence intervals were made, for people.
        train: Training rows, on average over the folds.
        test: Test rows over all folds.
        left_out: Test rows that the release left out; the majority class was guessed for them.
        errors: One entry per classifier.
        deviation: The standard deviation of the target where it is a number; times the root of an error it is the root
            mean squared error. None where the target has classes.
    """

    policy: Policy
    protocol: str
    design: str
    intervals: str
    train: int
    test: int
    left_out: int
    errors: tuple[ClassifierErrors, ...]
    deviation: float | None = None

    @property
    def how(self) -> str:
        """How models were tested, for people."""
        return _HOW[self.protocol]

    @property
    def measured(self) -> str:
        """What an error is, for people."""
        return "error" if self.deviation is None else "variance of the target that is missed (1 - R2)"

    def headline(self) -> str:
        errors = [
            f"{each.classifier} {each.anonymity.value:.1%} (original {each.baseline.value:.1%})" for each in self.errors
        ]
        return f"{self.measured} with the release: {', '.join(errors)}"

    def __getitem__(self, classifier: str) -> ClassifierErrors:
        return next(errors for errors in self.errors if errors.classifier == classifier)

    def to_rows(self) -> list[dict[str, Any]]:
        """The errors of each classifier, a row each, as shares between 0 and 1 with their intervals."""
        rows = []
        for errors in self.errors:
            row: dict[str, Any] = {"classifier": errors.classifier}
            for word in ("baseline", "anonymity", "recoded", "upper", "quality_loss", "impact"):
                part: Estimate | None = getattr(errors, word)
                if part is None:
                    continue
                row |= {word: part.value, f"{word}_low": part.low, f"{word}_high": part.high}
            rows.append(row)
        return rows

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data; errors are shares between 0 and 1."""
        parts = {"policy": self.policy.to_json(), "errors": [errors.to_json() for errors in self.errors]}
        return {"incrowd": "evaluation", **self.__dict__, "how": self.how, **parts}
