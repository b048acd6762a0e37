"""What would help a column, tried out: each change is actually run and measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from incrowd.attacks.registry import BY_SETTINGS
from incrowd.errors import IncrowdError
from incrowd.measures.measures import measure
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.privacy.feasibility import check_feasible
from incrowd.recodings.recoding import FROM_POLICY
from incrowd.search.registry import METHODS, method_of
from incrowd.settled import Settled
from incrowd.table.attributes import Attribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, count, group
from incrowd.taxonomies.automatic import frequent_of, prefix_of

if TYPE_CHECKING:
    from incrowd.release.release import Release
    from incrowd.run import Run
    from incrowd.search.method import SearchResult

T = TypeVar("T")
SHARES = (0.01, 0.05)  # of the records, to be left out
COLUMNS = 5  # that are tried without
FREQUENT = 10  # records that a value must have to be named in a hierarchy
MOST_ATTACKED = 4  # changes, those that help the column most


@dataclass(frozen=True)
class Trial:
    """A change that was tried.

    Args:
        change: What was changed, in words.
        words: The words of a policy that do it.
        column_loss: What the column loses then (NCP, from 0 to 1).
        loss: What the release loses then, over the attributes that are left.
        left_out: Records that are left out then.
        leaks: By how much attacks exceed their control then, of those that surely learn something; None if none was
            played.
    """

    change: str
    words: Mapping[str, Any]
    column_loss: float
    loss: float
    left_out: int
    leaks: Mapping[str, float] | None = None

    def to_json(self) -> dict[str, Any]:
        leaks = None if self.leaks is None else dict(self.leaks)
        return {**self.__dict__, "words": dict(self.words), "leaks": leaks}


@dataclass(frozen=True)
class Change:
    """A change to try: a policy, and the table that it is searched on."""

    about: str
    words: Mapping[str, Any]
    policy: Policy
    table: CompressedTable


def tried(release: Release, column: str, run: Run, attacked_below: float | None = None) -> tuple[Trial, ...]:
    """Try every change until the run is over; those that help the column most come first.

    The first of those after which the column loses less than `attacked_below` are attacked, however long that takes.

    None for a differentially private release: changes that were found by looking at its rows would break its promise.
    """
    found: list[tuple[Trial, Change, SearchResult]] = []
    if METHODS[release.policy.method].differential:
        return ()
    for change in changes(release, column):
        if not run.should_continue():
            break
        part = run.part(time_limit=max(1.0, (run.time_limit or 60) / 6))
        try:
            requirements = tuple(asked.fitted(change.table.protected) for asked in change.policy.requirements)
            check_feasible(change.table, requirements)
            of_table = change.policy.models_of_table
            method = method_of(change.policy.method, change.policy.options, len(requirements), of_table)
            result = method(change.table, requirements, change.policy.options, part)
        except IncrowdError:
            continue  # this change leads nowhere, or not in time
        measures = measure(change.table, result.recoding, requirements)
        losses = dict(zip((a.name for a in change.table.attributes), measures.attributes, strict=True))
        outcome = (losses[column].ncp, measures.total.ncp, measures.total.suppressed)
        found.append((Trial(change.about, change.words, *outcome), change, result))
    found.sort(key=lambda each: (each[0].column_loss, each[0].loss))
    trials = [trial for trial, *_ in found]
    for place, (trial, change, result) in enumerate(found[:MOST_ATTACKED]):
        if attacked_below is not None and trial.column_loss < attacked_below:
            trials[place] = replace(trial, leaks=leaks_of(_changed(release, change, result), run))
    return tuple(trials)


def leaks_of(release: Release, run: Run) -> dict[str, float]:
    """The attacks on a release that surely learn something from its settings, and by how much."""
    leaks = release.attack(only=BY_SETTINGS, again=None, run=run.quietly()).leaks
    return {leak.attack.name: leak.excess.value for leak in leaks}


def _changed(release: Release, change: Change, result: SearchResult) -> Release:
    """The release that a change gives."""
    kept = {name: getattr(release.recoding, name) for name in FROM_POLICY} | {"dropped": change.policy.dropped}
    found = replace(result, recoding=replace(result.recoding, **kept))
    settled = Settled(change.policy, population=release.settled.population)
    return replace(release, settled=settled, table=change.table, found=found, notes=())


def changes(release: Release, column: str) -> Iterator[Change]:
    """What could help: smaller crowds, records left out, fewer columns, other hierarchies, another method."""
    policy, table = release.policy, release.table
    options = METHODS[policy.method].options
    if "suppress" in options and not policy.options.get("suppress"):
        for share in SHARES:
            words = {"suppress": share}
            yield Change(
                f"leaving out up to {share:.0%} of the records",
                words,
                replace(policy, options={**policy.options, **words}),
                table,
            )
    yield from _other_methods(policy, table)
    yield from _smaller_crowds(policy, table)
    yield from _fewer_columns(policy, table, column)
    yield from _other_hierarchies(policy, table)


def _other_methods(policy: Policy, table: CompressedTable) -> Iterator[Change]:
    local = len(policy.quasi_identifiers) == 1
    for name in ("tdr", "mondrian", "cover") if local else ("tdr",):
        if name != policy.method:
            known = replace(table, absent=None) if METHODS[name].local else table
            yield Change(f"the method {name}", {"method": name}, replace(policy, method=name, options={}), known)


def _smaller_crowds(policy: Policy, table: CompressedTable) -> Iterator[Change]:
    for divisor in (2, 4):
        smaller = tuple(
            QuasiIdentifier(qid.attributes, qid.k if qid.k < 2 * divisor else qid.k // divisor)
            for qid in policy.quasi_identifiers
        )
        if smaller != policy.quasi_identifiers:
            ks = ", ".join(str(qid.k) for qid in smaller)
            sets = [{"attributes": list(qid.attributes), "k": qid.k} for qid in smaller]
            words = {"k": smaller[0].k} if len(smaller) == 1 else {"quasi_identifiers": sets}
            yield Change(f"crowds of at least {ks}", words, replace(policy, quasi_identifiers=smaller), table)


def _fewer_columns(policy: Policy, table: CompressedTable, column: str) -> Iterator[Change]:
    others = sorted((a for a in table.attributes if a.name != column), key=lambda a: -a.size)
    for attribute in others[:COLUMNS]:
        sets = [[name for name in qid.attributes if name != attribute.name] for qid in policy.quasi_identifiers]
        if not all(sets):
            continue
        qids = tuple(QuasiIdentifier(names, q.k) for names, q in zip(sets, policy.quasi_identifiers, strict=True))
        smaller = replace(
            policy,
            quasi_identifiers=qids,
            identifiers=(*policy.identifiers, attribute.name),
            taxonomies=_less(policy.taxonomies, attribute.name),
            types=_less(policy.types, attribute.name),
            ranges=_less(policy.ranges, attribute.name),
            levels=_less(policy.levels, attribute.name),
            options=_without(policy.options, attribute.name),
        )
        yield Change(
            f"dropping the column {attribute.name}",
            {"identifiers": [*policy.identifiers, attribute.name]},
            smaller,
            _projected(table, attribute.name),
        )


def _other_hierarchies(policy: Policy, table: CompressedTable) -> Iterator[Change]:
    """For text without a taxonomy: by its first characters where it is a code, else its rare values in one group."""
    for place, attribute in enumerate(table.attributes):
        if not attribute.texts:
            continue
        counts = table.value_counts(place)[: len(attribute.texts)].tolist()
        rule = prefix_of(attribute.texts) or frequent_of(attribute.texts, counts, FREQUENT)
        if rule is None:
            continue
        tree = rule.build(attribute.texts)
        tree = tree if attribute.missing is None else tree.with_missing()
        of_code = [tree.leaf_code(text) for text in (*attribute.texts, *[None] * (attribute.missing is not None))]
        attributes, codes = list(table.attributes), list(table.codes)
        attributes[place] = TaxonomyAttribute(attribute.name, tree, rule)
        codes[place] = np.array(of_code)[codes[place]]
        words = {"taxonomies": {attribute.name: rule.options()}}
        changed = replace(policy, taxonomies={**policy.taxonomies, attribute.name: rule})
        yield Change(f"a hierarchy for {attribute.name}", words, changed, _regrouped(table, attributes, codes))


def _less(by_column: Mapping[str, T], column: str) -> dict[str, T]:
    """What is said of columns, without one."""
    return {name: value for name, value in by_column.items() if name != column}


def _without(options: Mapping[str, Any], column: str) -> dict[str, Any]:
    """Options that name columns, without one."""
    return {word: _less(value, column) if isinstance(value, Mapping) else value for word, value in options.items()}


def _projected(table: CompressedTable, column: str) -> CompressedTable:
    place = table.index(column)
    kept = [i for i in range(len(table.attributes)) if i != place]
    return _regrouped(table, [table.attributes[i] for i in kept], [table.codes[i] for i in kept])


def _regrouped(table: CompressedTable, attributes: list[Attribute], codes: list[Codes]) -> CompressedTable:
    groups, firsts = group(codes, [attribute.size for attribute in attributes])
    size = len(firsts)
    types = [np.min_scalar_type(attribute.size - 1) for attribute in attributes]
    return CompressedTable(
        tuple(attributes),
        tuple(column[firsts].astype(kind) for column, kind in zip(codes, types, strict=True)),
        count(groups, size, table.counts.astype(np.float64)),
        None if table.target is None else table.target.grouped(groups, size),
        {name: histogram.grouped(groups, size) for name, histogram in table.protected.items()},
    )
