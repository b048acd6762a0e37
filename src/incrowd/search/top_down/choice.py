"""Which refinement is next: the highest score, compared exactly, then the documented tie rule.

Scores are computed in floats for all candidates in one pass. Those that floats cannot distinguish from the highest
are compared exactly (see `incrowd.search.exact`); candidates with the same gain and the same loss only once. Of equal
scores the first wins: by name of the attribute, then by the order of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from incrowd.search.exact import ABSOLUTE, DECIMALS, choose, comparable, contenders
from incrowd.search.top_down.candidates import Candidates
from incrowd.search.top_down.refiners import Refiner
from incrowd.table.attributes import Attribute
from incrowd.table.grouping import Codes, Floats

Criterion = Literal["tds", "tdr", "gain"]
Look = Callable[[set[int]], bool]
# What a gain is divided by, given the anonymity lost: floats for all candidates, or the fraction of one.
CRITERIA: dict[str, Callable[[Any], Any]] = {
    "tds": lambda loss: loss + (loss == 0),
    "tdr": lambda loss: loss + 1,
    "gain": lambda loss: loss * 0 + 1,
}


@dataclass(frozen=True)
class Best:
    """The refinement to perform, with exact figures."""

    place: int  # where it is among the candidates
    gain: Fraction
    loss: Fraction  # of anonymity, and records left in bad classes, averaged over the quasi-identifiers it is part of
    score: Fraction  # what was compared


class Choice:
    """Chooses among the candidates."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        members: Sequence[Sequence[int]],
        candidates: Candidates,
        refiners: Sequence[Refiner],
        criterion: Criterion,
        *,
        logarithms: bool,
    ) -> None:
        pairs = sorted((index, number) for number, inside in enumerate(members) for index in set(inside))
        self._requirement = np.array([number for _, number in pairs], np.int64)  # of each attribute, one after another
        self._shared = np.bincount([index for index, _ in pairs], minlength=len(attributes))
        self._begins = np.cumsum(self._shared) - self._shared
        self._candidates = candidates
        self._refiners = refiners
        self._divisor = CRITERIA[criterion]
        self._decimals = DECIMALS if logarithms else None
        names = [attribute.name for attribute in attributes]
        rank_of = {name: rank for rank, name in enumerate(sorted(names))}
        self._rank = np.array([rank_of[name] for name in names])
        self._error = np.array([ABSOLUTE + refiner.error for refiner in refiners])
        self._gains: list[Fraction] = []  # exact gains that occurred, by number
        self._number_of: dict[Fraction, int] = {}

    def best(self, anonymity: Floats, first: Codes, look: Look) -> Best | None:
        """The best candidate, None if there is none.

        Minima that are behind are too high, if anything, and so are scores: as long as one of those that seem highest
        is behind, it is looked at, and once none is, no other can be as high. `first` is the promise that measures each
        anonymity; `look` brings the minima of attributes up to date, and says whether any were behind.
        """
        while True:
            places = self._candidates.open()
            if not len(places):
                return None
            attributes = self._candidates.attribute[places]
            owner, lost = self._lost(places, attributes, anonymity, first)
            losses = np.bincount(owner, lost, len(places)).astype(np.float64)
            divisor = self._divisor(losses / self._shared[attributes])
            near = contenders(self._candidates.gain[places] / divisor, self._error[attributes] / divisor)
            if not look(set(attributes[near].tolist())):
                break
        places, attributes = places[near], attributes[near]
        if (lost == np.floor(lost)).all():  # then floats add up exactly
            anonymity, after = np.zeros(1), -losses[None, near]
        else:
            after = self._candidates.after(first, places, anonymity)  # qids x contenders
        gains = self._exact_gains(places)
        # What decides the score of each contender: its gain, how the loss is averaged, and the anonymity after it.
        inputs = np.vstack([gains, self._shared[attributes], after])
        leading = self._leading(inputs, anonymity)
        ranks, orders = self._rank[attributes[leading]], self._candidates.order[places[leading]]
        chosen = leading[np.lexsort((orders, ranks))[0]]
        gain, loss = self._exact(inputs[:, chosen], anonymity)
        score = comparable(gain / self._divisor(loss), self._decimals)
        return Best(int(places[chosen]), comparable(gain, self._decimals), loss, score)

    def _lost(self, places: Codes, attributes: Codes, anonymity: Floats, first: Codes) -> tuple[Codes, Floats]:
        """What each candidate takes from each quasi-identifier with its attribute: whose entry it is, and how much."""
        shared = self._shared[attributes]
        owner = np.repeat(np.arange(len(places)), shared)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(shared) - shared, shared)
        requirement = self._requirement[np.repeat(self._begins[attributes], shared) + within]
        return owner, self._candidates.lost(first[requirement], places[owner], anonymity[requirement])

    def _leading(self, inputs: Floats, anonymity: Floats) -> Codes:
        """Which contenders have the highest score, exactly."""
        if (inputs == inputs[:, :1]).all():
            return np.arange(inputs.shape[1])
        distinct, of = np.unique(inputs, axis=1, return_inverse=True)
        scores = []
        for column in distinct.T:
            gain, loss = self._exact(column, anonymity)
            scores.append(gain / self._divisor(loss))
        return np.flatnonzero(np.isin(of, choose(scores, decimals=self._decimals)))

    def _exact(self, inputs: Floats, anonymity: Floats) -> tuple[Fraction, Fraction]:
        gain, shared, *after = inputs.tolist()
        lost = sum(Fraction(a) - Fraction(b) for a, b in zip(anonymity.tolist(), after, strict=True) if a != b)
        return self._gains[int(gain)], Fraction(lost) / int(shared)

    def _exact_gains(self, places: Codes) -> Codes:
        """The number of the exact gain of each of some candidates; equal gains have the same."""
        exact, attribute = self._candidates.exact, self._candidates.attribute
        unknown = places[exact[places] < 0]
        for index in set(attribute[unknown].tolist()):
            mine = unknown[attribute[unknown] == index]
            for group, gain in self._refiners[index].exact_gains(mine):
                exact[group] = self._numbered(gain)
        return exact[places]

    def _numbered(self, gain: Fraction) -> int:
        key = comparable(gain, self._decimals)
        if key not in self._number_of:
            self._number_of[key] = len(self._gains)
            self._gains.append(gain)
        return self._number_of[key]
