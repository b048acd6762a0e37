"""What an attack is, and what it gives: the declaration, the score of each variant, and the result in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.attacks.intervals import CONFIDENCE, Interval, above, independent, paired
from incrowd.display import Rows, Tabular
from incrowd.errors import NotAnonymousError, many, shorten

if TYPE_CHECKING:
    import numpy.typing as npt

    from incrowd.attacks.problem import Problem
    from incrowd.run import Run

    Shares = npt.NDArray[Any]  # of success, one per trial: 0 or 1, or how likely it is

FEW_TRIALS = 30  # below, an interval is too wide to comfort anybody


class NotApplicableError(Exception):
    """An attack has nothing to attack; its text says what is missing."""


class Group(Enum):
    """What a success of an attack means: a title, and what would help."""

    K = "what k promises", "a larger k"
    SECRETS = "what l and t are for", "l or t for this column, or a larger k"
    UNTOUCHED = "untouched columns", "make these columns quasi-identifiers, or drop them"
    METHOD = "what the method tells", "another method, or other settings of it"
    SEVERAL = "several releases", "a ledger, or a unit if people have several records"

    def __init__(self, title: str, help: str) -> None:
        self.title, self.help = title, help

    @property
    def place(self) -> int:
        """Where it is shown."""
        return list(Group).index(self)


LEAK = (  # what that means
    "LEAK: the whole interval is above 0, so that the attacker surely learned something; k only protects from attacks "
    f"under '{Group.K.title}'"
)


@dataclass(frozen=True)
class Score:
    """How one variant of an attack did.

    Args:
        variant: What is particular about it, such as the columns that were known.
        trials: How often it was tried.
        successes: How often it succeeded; where chance decides, the expected number.
        control_trials: The same attack where it cannot have learned anything from the release about its target;
        control_successes: how often it succeeded nevertheless. 0 trials if the share is known without trying.
        baseline: The share that anybody reaches with what everybody knows.
        excess: The share of successes above the control, or above the baseline if there is no control.
        facts: Other figures.
    """

    variant: str
    trials: int
    successes: float
    control_trials: int
    control_successes: float
    baseline: float
    excess: Interval
    facts: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return self.successes / self.trials

    @property
    def control_share(self) -> float:
        return self.control_successes / self.control_trials if self.control_trials else self.baseline

    @classmethod
    def above(
        cls,
        variant: str,
        shares: Shares,
        baseline: float,
        *,
        looks: int = 1,
        counts_as: float | None = None,
        simulated: float | None = None,
        **facts: float,
    ) -> Score:
        """A score above a share that is known without a control, such as 1/k.

        Args:
            variant: See above.
            shares: The success of each trial.
            baseline: That share.
            looks: How many variants compete for the worst: intervals are widened for it (Bonferroni).
            counts_as: As how many independent trials they count, if they depend on each other.
            simulated: The share that is known, where that is not the baseline.
            **facts: Other figures.
        """
        known = baseline if simulated is None else simulated
        trials, successes = len(shares), float(np.sum(shares))
        scale = 1.0 if counts_as is None else counts_as / trials
        excess = above(successes * scale, trials * scale, known, _confidence(looks))
        of_control = (0, 0.0) if simulated is None else (trials, simulated * trials)
        return cls(variant, trials, successes, *of_control, baseline, excess, facts)

    @classmethod
    def against_others(
        cls, variant: str, shares: Shares, others: Shares, baseline: float, *, looks: int = 1, **facts: float
    ) -> Score:
        """A score above that against other people, who are not in the table."""
        successes, theirs = float(np.sum(shares)), float(np.sum(others))
        excess = independent(successes, len(shares), theirs, len(others), _confidence(looks))
        return cls(variant, len(shares), successes, len(others), theirs, baseline, excess, facts)

    @classmethod
    def against_same(
        cls,
        variant: str,
        shares: Shares,
        without: Shares,
        baseline: float,
        *,
        looks: int = 1,
        counts_as: float | None = None,
        **facts: float,
    ) -> Score:
        """A score above that on the same people, had the release not held their records."""
        one, other = np.asarray(shares, float), np.asarray(without, float)
        trials, both, first, second = len(one), float(one @ other), float(one.sum()), float(other.sum())
        scale = 1.0 if counts_as is None else counts_as / trials
        only = (first - both) * scale, (second - both) * scale
        excess = paired(both * scale, *only, (trials - first - second + both) * scale, _confidence(looks))
        return cls(variant, trials, first, trials, second, baseline, excess, facts)


def _confidence(looks: int) -> float:
    return 1 - (1 - CONFIDENCE) / max(looks, 1)


@dataclass(frozen=True)
class Attack:
    """The declaration of an attack.

    Args:
        name: What people type.
        title: What people read.
        group: What a success means.
        knows: What the attacker is assumed to know.
        success: What counts as a success.
        control: What it is compared with.
        paper: On whose work it rests.
        function: Plays it: a function of the problem, a source of chance and a run, that gives the scores of all
            variants, the headline among them. Raises `NotApplicableError` if there is nothing to attack.
        words: What a score means, in a sentence.
    """

    name: str
    title: str
    group: Group
    knows: str
    success: str
    control: str
    paper: str
    function: Callable[[Problem, np.random.Generator, Run], Sequence[Score]]
    words: Callable[[Score], str]

    def play(self, problem: Problem, rng: np.random.Generator, run: Run) -> Result:
        scores = tuple(self.function(problem, rng, run))
        worst = max(scores, key=lambda score: (score.excess.low, score.excess.value))
        return Result(self, worst, scores, self.words(worst))


@dataclass(frozen=True)
class Result:
    """What an attack achieved.

    Args:
        attack: Its declaration.
        worst: The variant that the release withstands least: the one whose excess is surely the largest.
        scores: All variants.
        sentence: What that means, in plain words.
    """

    attack: Attack
    worst: Score
    scores: tuple[Score, ...]
    sentence: str

    @property
    def excess(self) -> Interval:
        return self.worst.excess

    @property
    def is_leak(self) -> bool:
        """Whether the excess is surely above nothing."""
        return self.excess.low > 0

    def exceeds(self, most: float) -> bool:
        """Whether it is a leak of more than is allowed."""
        return self.is_leak and self.excess.value > most

    def to_json(self) -> dict[str, Any]:
        about = {name: getattr(self.attack, name) for name in ("name", "title", "knows", "success", "control", "paper")}
        return {
            **about,
            "group": self.attack.group.title,
            **asdict(self.worst),
            "leak": self.is_leak,
            "sentence": self.sentence,
            "variants": [asdict(score) for score in self.scores],
        }


@dataclass(frozen=True, repr=False)
class AttackReport(Tabular):
    """What all attacks on a release achieved, and what was not tried.

    Args:
        release: What the release is called.
        people: How many records of the original there are.
        results: The attacks that were played, by group.
        skipped: By name, why others were not.
        not_tried: What no attack here tries.
        notes: What to know about how labels were read and people were drawn.
        seed: What was drawn at random came from it.
        max_excess: The most that the policy allows; None if it does not say.
    """

    release: str
    people: int
    results: tuple[Result, ...]
    skipped: Mapping[str, str]
    not_tried: tuple[str, ...]
    notes: tuple[str, ...]
    seed: int
    max_excess: float | None = None

    def __getitem__(self, name: str) -> Result:
        return next(result for result in self.results if result.attack.name == name)

    @property
    def leaks(self) -> tuple[Result, ...]:
        """The attacks that surely learned something."""
        return tuple(result for result in self.results if result.is_leak)

    @property
    def worst(self) -> Result:
        """The attack with the largest sure excess."""
        return max(self.results, key=lambda result: (result.excess.low, result.excess.value))

    @property
    def exceeding(self) -> tuple[Result, ...]:
        """The attacks with more excess than the policy allows."""
        return () if self.max_excess is None else tuple(r for r in self.results if r.exceeds(self.max_excess))

    def require(self) -> AttackReport:
        """Itself, if no attack exceeds what the policy allows.

        Raises:
            NotAnonymousError: One does.
        """
        if self.exceeding:
            told = shorten([f"{r.attack.name} ({r.excess.value:.1%})" for r in self.exceeding])
            raise NotAnonymousError(
                f"attacks on {self.release} exceed max_excess = {self.max_excess:g}: {told}; see what each says"
            )
        return self

    def to_rows(self) -> Rows:
        return [
            {
                "group": result.attack.group.title,
                "attack": result.attack.name,
                "variant": result.worst.variant,
                "trials": result.worst.trials,
                "successes": result.worst.share,
                "control": result.worst.control_share,
                "baseline": result.worst.baseline,
                "excess": result.excess.value,
                "low": result.excess.low,
                "high": result.excess.high,
                "leak": result.is_leak,
                "meaning": result.sentence,
            }
            for result in self.results
        ]

    def headline(self) -> str:
        played = f"{many(len(self.results), 'attack')} on {self.release}"
        if not self.leaks:
            return f"{played}: none surely learned anything"
        worst = max(self.leaks, key=lambda result: result.excess.value)
        return f"{played}: {len(self.leaks)} learned something, most {worst.attack.name} ({worst.excess.value:+.1%})"

    def remarks(self) -> list[str]:
        skipped = [f"not played: {name}: {reason}" for name, reason in self.skipped.items()]
        leak = [LEAK] if self.leaks else []
        return [*leak, *self.notes, *skipped, *(f"not tried: {each}" for each in self.not_tried)]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "incrowd": "attacks on a release",
            "release": self.release,
            "people": self.people,
            "seed": self.seed,
            "max_excess": self.max_excess,
            "holds": not self.exceeding,
            "attacks": [result.to_json() for result in self.results],
            "skipped": dict(self.skipped),
            "not_tried": list(self.not_tried),
            "notes": list(self.notes),
        }
