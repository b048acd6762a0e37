"""Leaving out records: how many may be, which have to be, what else must be, and what is left of a recoding then.

The rule (`suppressed`), one for all searches and models: every class is left out that is not good beside the records
that stay, all at once, and so on until every class that stays is good. Those records are what classes are compared with
by models that compare, so that a recipient finds just what was promised. It ends, since every round leaves out more
records or is the last, and asks for nothing but counts, so the order of rows, columns and quasi-identifiers plays no
part. With models that are upward closed no other choice of classes leaves out fewer. With others it promises no such
thing: had fewer classes been left out first, others might have become good. And a coarser release may then leave out
more than a finer one, so searches that rely on the opposite look at every release instead.

Nothing is left in a recoding that only left-out records had: it is rebuilt from what the released ones have
(`AttributeRecoding.rebuilt`). A left-out record can then look like a released class on all attributes: it joins that
class, and is released after all. A class that is upward closed stays good whoever joins it; with other models the rule
is applied again to what the rebuilt recoding releases (`withhold`).

Whoever knows everyone's quasi-identifiers sees from the released rows who is not among them. Where a sensitive column
must have several values in every class, the classes that are left out are those with too few of them, so being left out
would reveal a lot: on tables with two values, what each left-out person has. So decoys are left out too: good classes,
in an order that is drawn by the key of the release, until no value is much more frequent among the left-out records
than in the whole table. Those no larger than the largest bad class come first, as larger ones would surely be decoys.
They count in the budget like the others; where it does not suffice, the search is made again with a smaller one, and in
the end with none.

Invariant: what is released satisfies the requirements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError
from incrowd.key import Key
from incrowd.privacy.model import Requirement, Requirements
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.recoding import Parts, Recoding
from incrowd.run import Run
from incrowd.search.costs import cost_of
from incrowd.search.method import Method, SearchResult
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, count, group
from incrowd.table.out_of_core import OutOfCoreTable

Mask = npt.NDArray[np.bool_]
Made = TypeVar("Made", bound=Recoding)
MOST = Fraction(1, 10)  # how much more frequent a value may be among the left-out records than in the table
UNPROVEN = ("cost", "optimal", "best", "bound", "gap")  # facts that hold for what a search itself found
_TRIES = 4  # searches with smaller and smaller budgets, before one without


def budget_of(table: CompressedTable, suppress: float) -> int:
    """How many records a share of the table is, exactly: 0.07 of 100 are 7."""
    return int(Fraction(str(suppress)) * table.records)


def suppressed(
    groups: Sequence[Codes], requirements: Requirements, table: CompressedTable, before: Mask | None = None
) -> Mask:
    """The tuples to leave out so that every class that is left is good, given the class of each per quasi-identifier.

    The tuples in `before` are left out already.
    """
    out = np.zeros(len(table.counts), bool) if before is None else before.copy()
    known = -1
    while (now := int(out.sum())) > known:
        known = now
        kept = ~out
        for classes_of, requirement in zip(groups, compared(requirements, table, kept), strict=True):
            classes = table.class_counts(classes_of, int(classes_of.max()) + 1, kept)
            out |= bad_classes(requirement, classes)[classes_of]
    return out


def bad_classes(requirement: Requirement, classes: ClassCounts) -> Mask:
    """The classes to leave out now: those that are bad, or the smallest, until all together keep what they should.

    For promises about all classes together the smallest ones are left out, of equal ones the first: the number of them
    is found by halving, so what is left keeps the promise; where each more that is left out helps, as with average risk
    and sample uniqueness, nothing smaller would do.
    """
    bad = ~requirement.good(classes)
    if not requirement.of_table:
        return bad
    kept = np.flatnonzero(~bad & (classes.records > 0))
    order = kept[np.argsort(classes.records[kept], kind="stable")]
    sizes = classes.records[order]

    def holds(left_out: int) -> bool:
        return all(model.holds(sizes[left_out:]) for model in requirement.of_table)

    if not holds(0):
        low, high = 0, len(order)  # without any class, nothing is said of anyone
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        bad[order[:high]] = True
    return bad


def compared(requirements: Requirements, table: CompressedTable, kept: Mask) -> Requirements:
    """The requirements, with models that compare classes with the whole fitted to the tuples that are kept."""
    everyone = np.zeros(len(kept), np.int64)
    return [
        requirement
        if requirement.upward_closed
        else requirement.fitted(
            {name: table.protected[name].grouped(everyone, 1, kept) for name in requirement.columns}
        )
        for requirement in requirements
    ]


def settled(table: CompressedTable, requirement: Requirement, groups: Codes, budget: int) -> Codes | None:
    """Classes of whole tuples, of which -1 is left out, without those that are bad; None where these are too many."""
    out = suppressed([np.maximum(groups, 0)], [requirement], table, groups < 0)
    return None if int(table.counts[out].sum()) > budget else np.where(out, -1, groups)


def released_after(table: CompressedTable, requirements: Requirements, recoding: ByValue) -> ByValue:
    """A recoding of all records without those that have to be left out."""
    left_out = suppressed(_classes(table, requirements, recoding), requirements, table)
    return withhold(table, requirements, recoding, left_out)[0]


def withhold(table: CompressedTable, requirements: Requirements, recoding: Made, left_out: Mask) -> tuple[Made, Mask]:
    """The recoding without what only left-out tuples would reveal, and the tuples left out for that.

    A tuple that equals a released class once its value is no longer shown stays in. Where that makes the class bad, it
    is left out as well, and so on; at least one more tuple each time.
    """
    while left_out.any():
        withheld = recoding.without(table, left_out)
        if left_out.all() or all(requirement.upward_closed for requirement in requirements):
            return withheld, left_out
        out = _left_out(withheld.parts(table), table)
        out = np.zeros_like(left_out) if out is None else out
        more = left_out | suppressed(_classes(table, requirements, withheld), requirements, table, out)
        if (more == left_out).all():
            return withheld, left_out
        left_out = more
    return recoding, left_out


def records_left_out(table: CompressedTable, recoding: ByValue) -> int:
    """How many records a recoding leaves out."""
    if recoding.classes is None:
        return 0
    columns = [
        mapping.of_codes(attribute)[codes]
        for mapping, attribute, codes in zip(recoding.attributes, table.attributes, table.codes, strict=True)
    ]
    return int(table.counts[~np.asarray(recoding.released(columns))].sum())


def searched(
    method: Method,
    table: CompressedTable | OutOfCoreTable,
    requirements: Requirements,
    options: Mapping[str, Any],
    run: Run,
    secrets: Sequence[str],
) -> SearchResult:
    """Search, and leave out enough decoys that being left out does not reveal a value of a sensitive column."""
    if not secrets or isinstance(table, OutOfCoreTable):  # which leaves nobody out
        return method(table, requirements, options, run)  # type: ignore[arg-type]
    without = {**options, "suppress": 0.0}
    asked = options
    share = Fraction(str(options.get("suppress", 0)))
    budget = budget_of(table, options["suppress"]) if share else table.records - 1
    for _ in range(_TRIES):
        found = method(table, requirements, asked, run)
        hidden, needed = with_decoys(table, requirements, found, secrets, run.key)
        if needed <= budget:
            if not share or not hidden.facts.get("left_out_by_the_key"):
                return hidden
            every = method(table, requirements, without, run)  # a budget does no harm
            return min(every, hidden, key=lambda each: cost_of(table, each.recoding, options.get("priorities")))
        if not share and "suppress" in method.options:  # it leaves out a few unless it is asked not to
            break
        if not share:  # it leaves out as many as it likes
            raise PolicyError(
                "being left out would tell a sensitive column whatever else is left out; take a method with a budget"
            )
        most = int(found.facts.get("suppressed_records", budget)) - 1  # with more the same might be found again
        share = min(share * Fraction(9 * budget, 10 * needed), Fraction(most, table.records))
        if share <= 0:
            break
        asked = {**options, "suppress": float(share)}
    return method(table, requirements, without, run)


def with_decoys(
    table: CompressedTable, requirements: Requirements, found: SearchResult, secrets: Sequence[str], key: Key
) -> tuple[SearchResult, int]:
    """What was found, with decoys left out too, and how many records that leaves out.

    All records where only leaving out all would do.

    Raises:
        PolicyError: Records of one combination are released differently, so nobody knows whose value is left out.
    """
    left_out = _left_out(found.recoding.parts(table), table)
    if left_out is None or not _reveals(table, secrets, left_out):
        return found, 0 if left_out is None else int(table.counts[left_out].sum())
    cells = list(found.recoding.parts(table).cells.values())
    of_tuple, _ = group(cells, [int(column.max()) + 1 for column in cells])
    sizes = count(of_tuple, int(of_tuple.max()) + 1, table.counts)
    order = np.random.default_rng(key.number("decoys")).permutation(np.unique(of_tuple[~left_out]))
    alike = np.ceil(np.log2(np.maximum(sizes[order] / sizes[of_tuple[left_out]].max(), 1)))  # 0: no larger
    order = order[np.argsort(alike, kind="stable")]
    rank = np.empty(int(of_tuple.max()) + 1, np.int64)
    rank[order] = np.arange(len(order))
    groups = _classes(table, requirements, found.recoding)
    taken = 1
    while taken < len(order):
        more = left_out | (~left_out & (rank[of_tuple] < taken))
        more = suppressed(groups, requirements, table, more)
        if more.all():
            break
        recoding, more = withhold(table, requirements, found.recoding, more)
        if more.all():
            break
        out = _left_out(recoding.parts(table), table)
        if out is None or not _reveals(table, secrets, out):
            records = 0 if out is None else int(table.counts[out].sum())
            decoys = max(0, records - int(table.counts[left_out].sum()))
            facts = {name: value for name, value in found.facts.items() if name not in UNPROVEN}
            facts |= {"suppressed_records": records, "left_out_by_the_key": decoys}
            return replace(found, recoding=recoding, facts=facts), records
        taken += max(1, taken // 16)
    return found, table.records


def _left_out(parts: Parts, table: CompressedTable) -> Mask | None:
    """Which tuples are left out; None if none is."""
    if parts.is_split and int(parts.records.sum()) < table.records:
        raise PolicyError(
            "with a promise about a sensitive column this method cannot hide why records are left out; set suppress to "
            "0, or take another method"
        )
    if parts.kept is None or parts.kept.all():
        return None
    return np.asarray(~parts.kept)


def _reveals(table: CompressedTable, secrets: Sequence[str], left_out: Mask) -> bool:
    """Whether a value of a sensitive column is much more frequent among left-out tuples than in the table."""
    everyone = np.zeros(len(left_out), np.int64)
    for name in secrets:
        histogram = table.protected[name]
        whole, out = (histogram.table(everyone, 1, kept)[0] for kept in (None, left_out))
        records, gone = int(whole.sum()), int(out.sum())
        if not gone:
            continue
        for value, missing in zip(whole.tolist(), out.tolist(), strict=True):
            if Fraction(missing, gone) > Fraction(value, records) + MOST:
                return True
    return False


def _classes(table: CompressedTable, requirements: Requirements, recoding: Recoding) -> list[Codes]:
    """The class of each tuple, for each quasi-identifier."""
    cells = recoding.parts(table).cells
    widths = {name: int(column.max()) + 1 for name, column in cells.items()}
    return [
        group([cells[name] for name in requirement.attributes], [widths[name] for name in requirement.attributes])[0]
        for requirement in requirements
    ]
