"""The searches, by name. One file per algorithm, named after it; a method is imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError, UnknownNameError

if TYPE_CHECKING:
    from incrowd.policy import QuasiIdentifier
    from incrowd.recodings.attribute import AttributeRecoding
    from incrowd.recodings.local.mapping import LocalMapping
    from incrowd.steps import Step
    from incrowd.table import CompressedTable


@dataclass(frozen=True)
class Found:
    """What a search gives back.

    Args:
        recoding: The recoding of each attribute of the table.
        steps: The steps that led there, of a greedy search.
        classes: The classes that are released (tuples of cells) where records are suppressed, None where none are.
        facts: What the method says of its result, such as its cost and how that is proven; JSON-able.
        at: The recoding after a number of steps, of a greedy search.
        local: What a local search found; `recoding` is empty then.
    """

    recoding: tuple[AttributeRecoding, ...]
    steps: tuple[Step, ...] = ()
    classes: tuple[tuple[int, ...], ...] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    at: Callable[[int], tuple[AttributeRecoding, ...]] | None = None
    local: LocalMapping | None = None


@dataclass(frozen=True)
class Option:
    """An option of a method: what it means, and what it may be.

    Args:
        about: One line for people.
        choices: The words that it may be.
        minimum: The smallest whole number that it may be.
        flag: Whether it is True or False.
        share: Whether it is a number from 0 up to, but not including, 1.
        between: The lowest and the highest number that it may be.
    """

    about: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    flag: bool = False
    share: bool = False
    between: tuple[float, float] | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise PolicyError unless the value is allowed."""
        if self.choices and value not in self.choices:
            raise PolicyError(f"The '{name}' parameter must be one of {', '.join(self.choices)}. Got {value!r}.")
        if self.minimum is not None and (isinstance(value, bool) or not isinstance(value, int) or value < self.minimum):
            raise PolicyError(f"The '{name}' parameter must be an int of at least {self.minimum}. Got {value!r}.")
        if self.flag and not isinstance(value, bool):
            raise PolicyError(f"The '{name}' parameter must be True or False. Got {value!r}.")
        if self.share and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1):
            raise PolicyError(f"The '{name}' parameter must be a number from 0 to below 1. Got {value!r}.")
        if self.between is not None:
            low, high = self.between
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise PolicyError(f"The '{name}' parameter must be a number from {low} to {high}. Got {value!r}.")


@dataclass(frozen=True)
class Method:
    """A search that anonymize can run.

    Args:
        about: One line for people.
        function: Where it lives, as "module:function".
        options: The options it takes.
        fixed: Options that make it this method.
        seeded: Whether it draws random numbers, and so takes a seed.
        several: Whether it can satisfy several quasi-identifiers.
        reports: Whether it tells how far it is.
    """

    about: str
    function: str
    options: Mapping[str, Option] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = False
    several: bool = True
    reports: bool = False

    def __call__(
        self,
        table: CompressedTable,
        quasi_identifiers: Sequence[QuasiIdentifier],
        options: Mapping[str, Any],
        on_step: Callable[[Step], object] | None = None,
        seed: int = 0,
        on_progress: Callable[[object], object] | None = None,
    ) -> Found:
        """Search."""
        if len(quasi_identifiers) > 1 and not self.several:
            able = ", ".join(name for name, method in METHODS.items() if method.several)
            raise PolicyError(
                f"This method takes one quasi-identifier. Got {len(quasi_identifiers)}; methods for several: {able}."
            )
        module, name = self.function.split(":")
        search = getattr(import_module(module), name)
        words = {**self.fixed, **options, **({"seed": seed} if self.seeded else {})}
        if self.reports:
            words["on_progress"] = on_progress
        found: Found = search(table, quasi_identifiers, **words, on_step=on_step)
        return found


_TOP_DOWN = {
    "criterion": Option("what the next refinement is chosen by", choices=("tds", "tdr", "gain")),
    "max_steps": Option("stop after that many steps", minimum=0),
}

_SUPPRESS = Option("share of the records that may be left out", share=True)
_FULL_DOMAIN = {
    "cost": Option("what the release is chosen by: discernibility, loss or class labels", choices=("dm", "loss", "cm")),
    "suppress": _SUPPRESS,
}
_GENETIC = {
    "fitness": Option("loss of cells (LM) or of class labels (CM)", choices=("lm", "cm")),
    "population": Option("chromosomes alive", minimum=2),
    "patience": Option("stop after so many children without a better one", minimum=1),
    "evaluations": Option("stop after so many chromosomes", minimum=1),
}
_DISTANCE = {
    "distance": Option("how far a value is from a more general one", choices=("height", "uniform", "ncp")),
    "beta": Option("how much more the steps near the root weigh, with height weights", between=(0, 100)),
    "priorities": Option("weight of an attribute by name, 1 if not named; low ones are generalized first"),
}
_OPTIMAL = {
    "scheme": Option(
        "bhs, ghs, ops, sps, gsps or gops for all columns, or by column; default gops, or ops without a taxonomy"
    ),
    "cost": Option("what is to be low", choices=("dm", "hdm", "lm", "cm")),
    "suppress": Option("share of the records that may be left out, 0 to 1"),
    "direction": Option("where the search starts", choices=("auto", "bottom-up", "top-down")),
    "prunings": Option("all, or the names of those to use"),
    "order": Option("the order of a column's values, for ops and gops"),
    "time_limit": Option("stop after that many seconds with the best found"),
    "gap": Option("stop when the cost is within this share of the optimum, 0 to 1"),
    "memory": Option("megabytes that waiting nodes may take"),
}

METHODS: dict[str, Method] = {
    "tdr": Method(
        "top-down refinement: best information gain per anonymity lost, plus one",
        "incrowd.search.top_down:top_down",
        _TOP_DOWN,
        {"criterion": "tdr"},
    ),
    "tds": Method(
        "top-down specialization: best information gain per anonymity lost",
        "incrowd.search.top_down:top_down",
        _TOP_DOWN,
        {"criterion": "tds"},
    ),
    "bug": Method(
        "bottom-up generalization: least information lost per anonymity gained",
        "incrowd.search.bottom_up:bottom_up",
        {
            "information": Option("what a generalization loses", choices=("entropy", "weighted", "loss")),
            "pruning": Option("work out the anonymity of critical generalizations only", flag=True),
            "suppress": _SUPPRESS,
            "tighten": Option("take back generalizations that turned out not to be needed", flag=True),
            "restarts": Option("how often to search again with random changes", minimum=0),
        },
        seeded=True,
    ),
    "kaca": Method(
        "local recoding by clustering: small classes join their nearest, or a stub of it",
        "incrowd.search.kaca:kaca",
        _DISTANCE,
        seeded=True,
        several=False,
    ),
    "kaca2": Method(
        "local recoding by clustering, each attribute kept mostly at one level of its hierarchy",
        "incrowd.search.kaca:kaca",
        {**_DISTANCE, "max_inconsistency": Option("share of values off the main level", between=(0, 1))},
        {"max_inconsistency": 0.1},
        seeded=True,
        several=False,
    ),
    "cover": Method(
        "local recoding with the least loss: many small rounds from specific to general, clustering, exchange",
        "incrowd.search.cover:cover",
        {
            "objective": Option("what the exchange improves", choices=("ncp", "dm", "mix")),
            "rounds": Option("how many rounds there may be", minimum=1),
        },
        seeded=True,
        several=False,
    ),
    "optimal": Method(
        "branch and bound: the lowest cost that a generalization scheme allows, with proof",
        "incrowd.search.optimal:optimal",
        _OPTIMAL,
        several=False,
        reports=True,
    ),
    "mondrian": Method(
        "multidimensional recoding: cut the table into boxes at medians and taxonomy nodes",
        "incrowd.search.mondrian:mondrian",
        {"relaxed": Option("records with equal numbers may be parted", flag=True)},
        several=False,
    ),
    "incognito": Method(
        "all minimal full-domain generalizations, and the cheapest of them",
        "incrowd.search.incognito:incognito",
        _FULL_DOMAIN,
    ),
    "samarati": Method(
        "Samarati's binary search: full-domain generalization of minimal height",
        "incrowd.search.samarati:samarati",
        _FULL_DOMAIN,
    ),
    "datafly": Method(
        "Sweeney's Datafly: generalize the attribute with most distinct values, leave out the last few records",
        "incrowd.search.datafly:datafly",
        {"suppress": Option("share of the records that may be left out; k records if not given", share=True)},
    ),
    "argus": Method(
        "like mu-Argus: generalize away rare combinations of a few values, suppress cells until everyone has a crowd",
        "incrowd.search.argus:argus",
        {
            "length": Option("attributes in a combination, at most", minimum=1),
            "suppress": Option("share of the records that may have rare combinations after generalization", share=True),
        },
    ),
    "genetic": Method(
        "Iyengar's genetic algorithm: cuts and intervals bred for low loss or good class labels",
        "incrowd.search.genetic:genetic",
        _GENETIC,
        seeded=True,
    ),
}


def method_of(name: str, options: Mapping[str, Any]) -> Method:
    """The method of that name, its options checked."""
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    method = METHODS[name]
    for option, value in options.items():
        if option not in method.options:
            raise UnknownNameError("option", option, method.options, f"method '{name}'")
        method.options[option].check(option, value)
    return method
