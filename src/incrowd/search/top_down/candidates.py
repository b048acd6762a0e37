"""All refinements that are open, of all attributes, side by side in arrays: the next one is chosen in one pass.

A candidate has a place that it keeps while it is open; places of those that are gone are given to new ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.recodings.steps import Change
from incrowd.table.grouping import Codes, Floats

NOBODY = 0  # a place that is never a candidate's


class Candidates:
    """The open refinements.

    Attributes (one entry per place):
        attribute: Position of the attribute.
        order: Rank among the candidates of its attribute, for ties.
        gain: What it gains, in floats.
        exact: Number of its exact gain, -1 where that has not been needed yet.
        minimum: The lowest level of a class that it would make: promises x places; infinite where it touches none.
            Where records may be left out, of a class that it would make and that would stay.
        bad: Records that it would leave in bad classes: promises x places, of which the first of each requirement
            counts; None where no record may be left out.
        live: Whether a candidate has the place.
        changes: What it does, in codes; None where that is made when it is performed.
        forced: Whether it has to be performed, before any other: what it refines is above the top of its attribute.
    """

    def __init__(self, promises: int, *, leave_out: bool = False) -> None:
        self.attribute: Codes = np.zeros(1, np.int64)
        self.order: Codes = np.zeros(1, np.int64)
        self.gain: Floats = np.zeros(1)
        self.exact: Codes = np.full(1, -1)
        self.minimum: Floats = np.full((promises, 1), np.inf)
        self.bad: Codes | None = np.zeros((promises, 1), np.int64) if leave_out else None
        self.live: npt.NDArray[np.bool_] = np.zeros(1, bool)
        self.changes: list[Change | None] = [None]
        self.forced: npt.NDArray[np.bool_] = np.zeros(1, bool)
        self._free: list[int] = []

    def add(self, attribute: int, order: int, gain: float, change: Change | None, *, forced: bool = False) -> int:
        """Open a refinement; returns its place. Its refiner may know only later what it does."""
        place = self._free.pop() if self._free else self._new()
        self.attribute[place], self.order[place] = attribute, order
        self.gain[place], self.exact[place] = gain, -1
        self.minimum[:, place] = np.inf
        if self.bad is not None:
            self.bad[:, place] = 0
        self.live[place], self.forced[place] = True, forced
        self.changes[place] = change
        return place

    def remove(self, place: int) -> None:
        self.live[place] = False
        self._free.append(place)

    def lower(self, promise: int, places: Codes, levels: npt.NDArray[Any]) -> None:
        """Lower the minima of some places, each of which may occur more than once, by what they would make."""
        np.minimum.at(self.minimum[promise], places, levels.astype(np.float64, copy=False))

    def broken(self, places: Codes, thresholds: Floats) -> list[int]:
        """Which of some places would break a promise; they can never become valid again."""
        below = (self.minimum[:, places] < thresholds[:, None]).any(axis=0) & self.live[places]
        return list(set(places[below].tolist())) if below.any() else []

    def after(self, first: Codes, places: Codes, anonymity: Floats) -> Floats:
        """What each of some candidates would leave of the anonymity of each requirement: requirements x places.

        A record that it would leave out counts as one step down. `first` is the promise that measures each anonymity.
        """
        entries = np.ix_(first, places)
        after: Floats = np.minimum(self.minimum[entries], anonymity[:, None])
        return after if self.bad is None else after - self.bad[entries]

    def lost(self, promises: Codes, places: Codes, anonymity: Floats) -> Floats:
        """What candidates take from requirements, pair by pair: the anonymity now without what `after` has."""
        left: Floats = anonymity - np.minimum(self.minimum[promises, places], anonymity)
        return left if self.bad is None else left + self.bad[promises, places]

    def open(self) -> Codes:
        """The places of those that may be next."""
        forced = self.live & self.forced
        return np.flatnonzero(forced if forced.any() else self.live)

    def _new(self) -> int:
        place = len(self.changes)
        self.changes.append(None)
        if place == len(self.live):
            for name in ("attribute", "order", "gain", "exact", "live", "forced"):
                setattr(self, name, np.concatenate([array := getattr(self, name), np.zeros_like(array)]))
            self.minimum = np.concatenate([self.minimum, np.full_like(self.minimum, np.inf)], axis=1)
            if self.bad is not None:
                self.bad = np.concatenate([self.bad, np.zeros_like(self.bad)], axis=1)
        return place
