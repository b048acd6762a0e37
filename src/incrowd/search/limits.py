"""Limits of columns: how general a released value has to be at least, and may be at most.

A method searches a table in which nothing else can come out. What is below the lowest level is not there: values are
shown at that level before the search begins, in a taxonomy that ends there, and what is found is carried back to the
values themselves. What is above the highest level is not reached: the nodes at that level are the `top` of an
attribute. Methods for the whole table begin or end there (`Method.limits` "itself"); to a local method a table with a
top is several tables, as no crowd may have records under different nodes ("apart").

Invariant: a union of classes is never less protected than its less protected part. So if the table with every column
at its highest level is good, there is a release, and if it is not, there is none (unless records may be left out).
That is asked before a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import InfeasibleError, PolicyError, many
from incrowd.privacy.model import Requirement, Requirements
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import LocalMapping, nodes_of
from incrowd.recodings.recoding import Recoding
from incrowd.recodings.steps import GeneralizeNode, RefineNode, Step
from incrowd.search.method import Method, SearchResult
from incrowd.search.registry import METHODS
from incrowd.table.attributes import Attribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, group, sort_tuples
from incrowd.taxonomies.levels import above, cut_at, ending_at, levels_of_nodes

if TYPE_CHECKING:
    from incrowd.run import Run

Ints = npt.NDArray[Any]
BELOW_TOP = (
    "no release keeps the highest levels of columns and leaves out as few records; allow a higher level, or let more "
    "records be left out (suppress)"
)


@dataclass(frozen=True)
class _Narrowed:
    """A table at the lowest levels that are allowed.

    Args:
        number: The tuple there of each original tuple.
        nodes: By column, the original node of each node of a taxonomy that ends earlier.
    """

    table: CompressedTable
    number: Codes
    nodes: Mapping[str, Ints]


def search_within(
    method: Method, table: CompressedTable, requirements: Requirements, options: Mapping[str, Any], run: Run
) -> SearchResult:
    """Let a method search a table whose columns have limits.

    Raises:
        InfeasibleError: No release keeps them.
        PolicyError: The method cannot keep them.
    """
    narrowed = _narrowed(table)
    tops = [attribute.name for attribute in narrowed.table.attributes if _top(attribute)]
    if tops:
        if method.limits == "":
            raise PolicyError(_refusal(method, tops))
        budget = None if method.leaves_out else Fraction(str(options.get("suppress") or 0))
        _check_feasible(narrowed.table, requirements, budget)
    if tops and method.limits == "apart":
        found = _apart(method, narrowed.table, requirements, options, run)
    else:
        found = method.search(narrowed.table, requirements, options, run)
    found = _carried_back(found, table, narrowed)
    check_within(table, found.recoding)
    return found


def _refusal(method: Method, tops: Sequence[str]) -> str:
    able = ", ".join(name for name, other in METHODS.items() if other.limits)
    name = next(name for name, other in METHODS.items() if other is method)
    return f"The method '{name}' cannot keep the highest level of '{tops[0]}'; methods that can: {able}."


def _top(attribute: Attribute) -> tuple[int, ...]:
    return attribute.top if isinstance(attribute, TaxonomyAttribute) else ()


def steps_to_top(attributes: Sequence[Attribute]) -> int:
    """How many nodes have to be refined before nothing is more general than the highest levels."""
    trees = [each for each in attributes if isinstance(each, TaxonomyAttribute)]
    return sum(len(above(each.taxonomy, each.top)) for each in trees)


# Before the search


def _narrowed(table: CompressedTable) -> _Narrowed:
    attributes: list[Attribute] = []
    code_of: dict[int, Ints] = {}
    nodes: dict[str, Ints] = {}
    for index, attribute in enumerate(table.attributes):
        if not isinstance(attribute, TaxonomyAttribute) or attribute.levels is None:
            attributes.append(attribute)
            continue
        lowest, highest = cuts_of(attribute)
        tree, kept = ending_at(attribute.taxonomy, lowest)
        nodes[attribute.name] = kept
        place = {int(node): new for new, node in enumerate(kept)}
        top = tuple(place[node] for node in highest)
        attributes.append(replace(attribute, taxonomy=tree, levels=None, top=() if top == (0,) else top))
        if len(lowest) < attribute.size:
            widths = attribute.taxonomy.stop[list(lowest)] - attribute.taxonomy.start[list(lowest)]
            code_of[index] = np.repeat(np.arange(len(lowest)), widths)
    if not code_of:
        return _Narrowed(replace(table, attributes=tuple(attributes)), np.arange(len(table.counts)), nodes)
    columns = [code_of[index].take(codes) if index in code_of else codes for index, codes in enumerate(table.codes)]
    sizes = [attribute.size for attribute in attributes]
    columns = [column.astype(np.min_scalar_type(size - 1)) for column, size in zip(columns, sizes, strict=True)]
    order, starts = sort_tuples(columns, sizes)
    number = np.empty(len(order), np.int64)
    number[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    codes = tuple(column[order[starts]] for column in columns)
    return _Narrowed(_grouped(table, tuple(attributes), codes, number, len(starts)), number, nodes)


def cuts_of(attribute: TaxonomyAttribute) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The most specific and the most general nodes that may be released.

    Raises:
        PolicyError: The taxonomy has fewer levels than are asked for.
    """
    assert attribute.levels is not None
    lowest, highest = attribute.levels
    most = int(levels_of_nodes(attribute.taxonomy)[0])
    if lowest > most:
        raise PolicyError(
            f"The lowest level of '{attribute.name}' must be at most {most}, where every value is "
            f"'{attribute.taxonomy.labels[0]}'. Got {lowest}."
        )
    return cut_at(attribute.taxonomy, lowest), cut_at(attribute.taxonomy, most if highest is None else highest)


def _grouped(
    table: CompressedTable,
    attributes: tuple[Attribute, ...],
    codes: tuple[Codes, ...],
    number: Codes,
    size: int,
    kept: npt.NDArray[np.bool_] | None = None,
) -> CompressedTable:
    """The table of groups of tuples, or of those of them that are kept; nobody outside is in it."""
    records = table.counts if kept is None else table.counts * kept
    return CompressedTable(
        attributes,
        codes,
        np.bincount(number, records, size).astype(np.int64),
        None if table.target is None else table.target.grouped(number, size, kept),
        {name: histogram.grouped(number, size, kept) for name, histogram in table.protected.items()},
        table.incomplete,
    )


def top_groups(table: CompressedTable, names: Sequence[str] | None = None) -> Codes:
    """The group of each tuple that its values at the highest levels make, of some columns or of all."""
    columns: list[Codes] = []
    sizes: list[int] = []
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        if (top := _top(attribute)) and (names is None or attribute.name in names):
            assert isinstance(attribute, TaxonomyAttribute)
            tree = attribute.taxonomy
            of_code = np.repeat(np.arange(len(top)), tree.stop[list(top)] - tree.start[list(top)])
            columns.append(of_code.take(codes))
            sizes.append(len(top))
    return group(columns, sizes)[0] if columns else np.zeros(len(table.counts), np.int64)


def _check_feasible(table: CompressedTable, requirements: Requirements, budget: Fraction | None) -> None:
    """Raise InfeasibleError where even the most general release that is allowed is not good."""
    if budget is None:  # the method says by itself how many it leaves out
        return
    for requirement in requirements:
        if budget and not requirement.upward_closed:  # then what is good depends on who is left out
            continue
        names = [a.name for a in table.attributes if _top(a) and a.name in requirement.attributes]
        short = _records_short(table, requirement, names)
        if short <= int(budget * table.records):
            continue
        others = [name for name in names if not _records_short(table, requirement, [n for n in names if n != name])]
        listed = ", ".join(f"'{name}'" for name in names)
        free = ", ".join(f"'{name}'" for name in others)
        helps = f"no highest level for {free}" if others else "fewer columns with a highest level"
        raise InfeasibleError(
            f"no release keeps the highest levels of {listed}: even there {many(short, 'record')} would be in crowds "
            f"that do not satisfy {', '.join(map(str, requirement.models))}; what helps: a higher level, {helps}, or "
            "leaving out records (suppress)"
        )


def _records_short(table: CompressedTable, requirement: Requirement, names: Sequence[str]) -> int:
    """Records in classes that are not good when all columns are as general as they may be."""
    groups = top_groups(table, names)
    classes = table.class_counts(groups, int(groups.max()) + 1)
    return int(classes.records[~requirement.good(classes)].sum())


# The search


def _apart(
    method: Method, table: CompressedTable, requirements: Requirements, options: Mapping[str, Any], run: Run
) -> SearchResult:
    """What a local method finds in each part of a table by itself, as one.

    Parts that are too small are left out as a whole, where that many records may be; the others share what is left of
    the budget by their size.
    """
    (requirement,) = requirements
    if options.get("suppress") and not requirement.upward_closed:
        raise PolicyError(
            f"records cannot be left out of parts that share no crowd where {requirement} compares with all of them; "
            "set suppress to 0, or take tdr, bug or a full-domain method"
        )
    groups = top_groups(table)
    classes = table.class_counts(groups, int(groups.max()) + 1)
    good = requirement.good(classes)
    budget = int(Fraction(str(options.get("suppress") or 0)) * table.records) - int(classes.records[~good].sum())
    if options.get("suppress"):
        options = {**options, "suppress": float(Fraction(budget, max(1, int(classes.records[good].sum()))))}
    pieces: list[tuple[Ints, Ints, Ints, Ints]] = []
    for place, members in enumerate(_members(groups, good)):
        run.amount(place, int(good.sum()), "parts at the highest levels")
        part, own = _part(table, members), np.flatnonzero(members)
        found = method.search(part, requirements, options, run.part()).recoding.pieces(part)
        shown = np.stack(list(found.cells.values()), axis=1)
        pieces.append((own[found.tuples], shown, found.records, ~found.kept))
    if not pieces:
        raise InfeasibleError("no part of the table at the highest levels can be released; allow a higher level")
    gone = np.flatnonzero(~good[groups])
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    empty = np.zeros((len(gone), len(hierarchies)), np.int64)
    pieces.append((gone, empty, table.counts[gone], np.ones(len(gone), bool)))
    tuples, shown, records, left_out = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    mapping = LocalMapping.build(
        hierarchies, nodes_of(table, hierarchies), tuples, shown, records, left_out if left_out.any() else None
    )
    facts = {"parts": int(good.sum()), "suppressed_records": int(records[left_out].sum())}
    return SearchResult(ByTuple.of(mapping, run.key), facts=facts)


def _members(groups: Codes, good: npt.NDArray[np.bool_]) -> Iterator[npt.NDArray[np.bool_]]:
    """The tuples of each good group."""
    for place in np.flatnonzero(good).tolist():
        yield np.asarray(groups == place)


def _part(table: CompressedTable, members: npt.NDArray[np.bool_]) -> CompressedTable:
    """Some tuples of a table, without tops: they are all below the same."""
    attributes = tuple(
        replace(attribute, top=()) if isinstance(attribute, TaxonomyAttribute) else attribute
        for attribute in table.attributes
    )
    number = np.where(members, np.cumsum(members) - 1, 0)
    codes = tuple(column[members] for column in table.codes)
    return _grouped(table, attributes, codes, number, int(members.sum()), members)


# After the search


def _carried_back(found: SearchResult, table: CompressedTable, narrowed: _Narrowed) -> SearchResult:
    """What was found, for the values of the table itself."""
    originals = {attribute.name: attribute for attribute in table.attributes}
    recoding = found.recoding.carried_back(table, narrowed.number, narrowed.nodes)
    lowest = {name for name, kept in narrowed.nodes.items() if len(kept) < len(_tree(originals[name]).labels)}
    steps = tuple(_translated(step, narrowed) for step in found.steps)
    facts = dict(found.facts)
    if isinstance(facts.get("levels"), Mapping):
        levels = {name: _levels(originals[name])[0] for name in narrowed.nodes}
        facts["levels"] = {name: level + levels.get(name, 0) for name, level in facts["levels"].items()}
    if lowest:
        facts["losses_count_from"] = "the lowest levels allowed"
    replayable = all(s.attribute not in narrowed.nodes or isinstance(s.change, RefineNode) for s in found.steps)
    begins = found.begins if found.begins == "general" and replayable else None
    return replace(found, recoding=recoding, steps=steps, begins=begins, facts=facts)


def _tree(attribute: Attribute) -> Any:
    assert isinstance(attribute, TaxonomyAttribute)
    return attribute.taxonomy


def _levels(attribute: Attribute) -> tuple[int, int | None]:
    assert isinstance(attribute, TaxonomyAttribute)
    assert attribute.levels is not None
    return attribute.levels


def _translated(step: Step, narrowed: _Narrowed) -> Step:
    """A step with the nodes of the taxonomy itself."""
    if step.attribute in narrowed.nodes and isinstance(step.change, RefineNode | GeneralizeNode):
        node = int(narrowed.nodes[step.attribute][step.change.node])
        return replace(step, change=replace(step.change, node=node))
    return step


def check_within(table: CompressedTable, recoding: Recoding) -> None:
    """Raise InfeasibleError if a column is released as something more general than its highest level."""
    limited = [each for each in table.attributes if isinstance(each, TaxonomyAttribute) and each.levels]
    if not limited:
        return
    pieces = recoding.pieces(table)
    for attribute in limited:
        assert attribute.levels is not None
        if attribute.levels[1] is None:
            continue
        _, highest = cuts_of(attribute)
        of_code = np.repeat(
            np.arange(len(highest)),
            attribute.taxonomy.stop[list(highest)] - attribute.taxonomy.start[list(highest)],
        )
        first, last = recoding.ends(attribute)
        released = np.unique(pieces.cells[attribute.name][pieces.kept])
        if (of_code[first[released]] != of_code[last[released]]).any():
            raise InfeasibleError(
                f"column '{attribute.name}' would be more general than its highest level, {attribute.levels[1]}; allow "
                "a higher level, or let records be left out (suppress)"
            )
