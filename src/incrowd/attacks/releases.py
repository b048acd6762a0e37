"""Several releases: a record can be a person's only if each other release has a record of hers that agrees with it.

Columns that two releases show as they are link them: a diagnosis, or a pseudonym that was made with the same key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.problem import Codes, Problem, Released
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.run import Run
from incrowd.table.grouping import group


@dataclass(frozen=True)
class _View:
    """Which rows of a release fit people, and their links to another release.

    Args:
        crowds: Its crowds, by all quasi-identifiers that it shows.
        columns: These.
        links: The link of each row, as a number that means the same in both releases.
    """

    crowds: Crowds
    columns: tuple[str, ...]
    links: Codes

    def rows_of(self, problem: Problem, people: Codes, run: Run) -> Iterator[Codes]:
        """The rows that fit each person."""
        atoms, of_person = self.crowds.distinct(problem.original.rows(self.columns, people))
        fits = np.concatenate([fits for _, fits in self.crowds.fits(atoms, run)])
        for person in of_person.tolist():
            yield np.flatnonzero(fits[person][self.crowds.of_row])


def intersect(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """Who is below k, and whose secret is certain, in this release given each other one."""
    if not problem.others:
        raise NotApplicableError("no other release was given (--also)")
    assert problem.policy is not None
    if not all({*each.columns} & {*problem.policy.attributes} for each in problem.others):
        raise NotApplicableError("another release shows none of the quasi-identifiers")
    people = problem.people(rng, problem.trials)
    looks = (1 + len(problem.sensitive)) * len(problem.others)
    least = max(2, *(qid.k for qid in problem.quasi_identifiers))
    for other in problem.others:
        here, there, linked = _linked(problem, other)
        alone, together = _Left.of(problem, people, here, None, run), _Left.of(problem, people, here, there, run)
        by = f"{other.table.name}, linked by {', '.join(linked) or 'nothing'}"
        facts = {"k": float(least), "smallest": float(min(together.sizes[together.sizes > 0], default=0))}
        below = [((left.sizes > 0) & (left.sizes < least)).astype(float) for left in (together, alone)]
        yield Score.against_same(f"below k with {by}", below[0], below[1], 0.0, looks=looks, **facts)
        both = tuple(column for column in problem.sensitive if column in other.columns)
        elsewhere = _Left.of(replace(problem, released=other, sensitive=both), people, there, None, run)
        for column in both:
            known = together.certain[column]
            anyway = np.maximum(alone.certain[column], elsewhere.certain[column])
            yield Score.against_same(f"{column} certain with {by}", known, anyway, 0.0, looks=looks, **facts)


def _linked(problem: Problem, other: Released) -> tuple[_View, _View, list[str]]:
    """Both releases, and the columns that both show as they are: all but quasi-identifiers."""
    assert problem.policy is not None
    tables, known = (problem.released.table, other.table), problem.policy.attributes
    shared = [name for name in tables[0].columns if name in tables[1].columns and name not in known]
    codes, widths = [np.zeros(sum(table.records for table in tables), np.int64)], [1]
    for name in shared:
        numbers = {text: number for number, text in enumerate(dict.fromkeys(t for x in tables for t in x.texts[name]))}
        of_text = [np.array([numbers[text] for text in table.texts[name]]) for table in tables]
        codes.append(np.concatenate([own[table.codes[name]] for own, table in zip(of_text, tables, strict=True)]))
        widths.append(len(numbers))
    links, first = group(codes, widths)[0], tables[0].records
    views = []
    for release, own in ((problem.released, links[:first]), (other, links[first:])):
        columns = tuple(name for name in release.columns if name in known)
        views.append(_View(Crowds.of(release, columns), columns, own))
    return views[0], views[1], shared


@dataclass(frozen=True)
class _Left:
    """What is left of each person's crowd: how many rows, and of each sensitive column whether only the true value."""

    sizes: Floats
    certain: dict[str, Floats]

    @classmethod
    def of(cls, problem: Problem, people: Codes, here: _View, there: _View | None, run: Run) -> _Left:
        found = cls(np.zeros(len(people)), {name: np.zeros(len(people)) for name in problem.sensitive})
        others: Sequence[Codes] | Iterator[Codes] = [np.empty(0)] * len(people)
        linked = np.zeros(1, bool)
        if there is not None:
            others, linked = there.rows_of(problem, people, run), np.zeros(int(here.links.max()) + 1, bool)
        true = {name: _labels(problem, name, people) for name in problem.sensitive}
        for person, (rows, theirs) in enumerate(zip(here.rows_of(problem, people, run), others, strict=True)):
            if person % 100 == 0:
                run.check()
            if there is not None and len(theirs):  # somebody who is not in it is not narrowed down by it
                linked[there.links[theirs][there.links[theirs] < len(linked)]] = True
                kept = rows[linked[here.links[rows]]]
                linked[:] = False
                rows = kept
            found._take(problem, person, rows, true)
        return found

    def _take(self, problem: Problem, person: int, rows: Codes, true: dict[str, Codes]) -> None:
        """Count what is left, unless the person's own record cannot be in it: then the attacker was misled."""
        for name, own in true.items():
            values = problem.released.table.codes[name][rows]
            if not (values == own[person]).any():
                return
            self.certain[name][person] = float((values == own[person]).all())
        self.sizes[person] = len(rows)


def _labels(problem: Problem, column: str, people: Codes) -> Codes:
    """The label of each person's own value; -1 if it has none, or several."""
    cover = problem.released.covers[column]
    labels = cover.label_of
    atoms = cover.atom_of[problem.original.codes[column][people]]
    return np.full(len(people), -1) if labels is None else labels[atoms]


def _words(score: Score) -> str:
    what = "have fewer candidates than k" if score.variant.startswith("below") else "have a secret that is certain"
    return f"{score.share:.1%} of people {what} ({score.variant}); in one release alone {score.control_share:.1%}"


RELEASES = Attack(
    name="releases",
    title="Several releases",
    group=Group.SEVERAL,
    knows="the quasi-identifiers of everybody, and other releases about the same people",
    success="fewer records than k can be a person's, or all that can have one secret",
    control="the same attack on this release alone; what is certain in another one alone does not count either",
    paper="S. R. Ganta, S. P. Kasiviswanathan and A. Smith, Composition attacks and auxiliary information in data "
    "privacy, 2008",
    function=lambda problem, rng, run: list(intersect(problem, rng, run)),
    words=_words,
)
