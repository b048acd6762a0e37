"""What partitions release where records may be left out, what that costs, and how far below a bound it may lie.

The records of bad classes are left out. Whatever the release says must not come from them: no bound of an interval, no
member of a set. So partitions are *tightened* first: values that only left-out records have are parted from the others
(`Domain.tightened`). That is a partition of the same scheme with the same released classes: values that released
records share a block with stay there. It costs no more than before. With models that are upward closed it is allowed
as well, since a class that is bad stays bad when it is divided. So what is the cheapest of all partitions is the
cheapest of all releases, too: a proof about partitions is one about releases. With other models it may release others,
so the search counts what is released (`as_released`).

Intervals of numbers are released from the lowest to the highest number that a released record has in them, and cost as
much; see `ClosedIntervals`. So no left-out record falls into one that it was not in.

One thing remains. A scheme that joins neighbours may have a value that only left-out records have between two that are
released: it cannot be parted from them. A given taxonomy is public, so the set names it all the same. Otherwise it is
not named, and the set that is released costs less than the block. The cost of a release is that of the sets it shows;
`lowered` says how much less they can cost, and the bound is lowered by that much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding
from incrowd.recodings.attributes.intervals import ClosedIntervals
from incrowd.recodings.attributes.partition import Partition
from incrowd.recodings.by_value import ByValue
from incrowd.search.leaving_out import records_left_out
from incrowd.search.optimal.blocks import Blocks, Labels, blocks_of, labels_of
from incrowd.search.optimal.costs import Costs, Partitions
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.labels import set_label


@dataclass(frozen=True)
class Released:
    """What partitions release.

    Args:
        recoding: The recoding, with the classes that are released where records are left out.
        suppressed: How many records are left out.
        cost: What it costs, in the unit of the search.
    """

    recoding: ByValue
    suppressed: int
    cost: float


def released(table: CompressedTable, costs: Costs, partitions: Partitions) -> Released:
    """What partitions release, without anything that only left-out records have."""
    kept = costs.kept(partitions)
    mappings: list[AttributeRecoding] = []
    blocks: list[Blocks] = []
    for index, domain in enumerate(costs.domains):
        known = set(costs.rows[kept, index].tolist())
        tight = domain.tightened(blocks_of(partitions[index].tolist()), known)
        mapping = domain.recoding(tight, known)
        if not kept.all() and not domain.attribute.is_public and not isinstance(mapping, ClosedIntervals):
            released = np.bincount(table.codes[index][kept], minlength=domain.attribute.size) > 0
            mapping = mapping.rebuilt(domain.attribute, released)
        mappings.append(mapping)
        blocks.append(tight)
    recoding, suppressed = ByValue(tuple(mappings)), 0
    if not kept.all():
        recoding = recoding.with_classes(table, ~kept)
        suppressed = records_left_out(table, recoding)
    return Released(recoding, suppressed, _cost(table, costs, recoding, blocks, kept))


def tightened(costs: Costs, partitions: Partitions) -> list[Labels]:
    """The finest partitions that release the same records in the same classes."""
    kept = costs.kept(partitions)
    found = []
    for index, domain in enumerate(costs.domains):
        known = set(costs.rows[kept, index].tolist())
        blocks = domain.tightened(blocks_of(partitions[index].tolist()), known)
        found.append(labels_of(blocks, domain.space.size))
    return found


def _cost(
    table: CompressedTable, costs: Costs, recoding: ByValue, blocks: list[Blocks], kept: npt.NDArray[np.bool_]
) -> float:
    """What is released costs: that of the tightened partitions, or of the sets that are shown where those are less."""
    sizes = [domain.space.size for domain in costs.domains]
    if costs.cost == "hdm":
        pairs = zip(blocks, recoding.attributes, strict=True)
        blocks = [_shown(of, mapping, costs, index) for index, (of, mapping) in enumerate(pairs)]
    elif costs.cost == "ncp" and any(domain.hides_members() for domain in costs.domains):
        lost = np.zeros(len(table.counts))
        for index, (mapping, attribute) in enumerate(zip(recoding.attributes, table.attributes, strict=True)):
            of_code = mapping.losses(attribute)[mapping.of_codes(attribute)]
            lost += of_code[table.codes[index]] / costs.divisors[index]
        return float(table.counts @ np.where(kept, lost, 1.0))
    return costs.without([labels_of(of, size) for of, size in zip(blocks, sizes, strict=True)], kept)


def _shown(blocks: Blocks, mapping: AttributeRecoding, costs: Costs, index: int) -> Blocks:
    """The blocks of an attribute, without values that the set that is shown does not name."""
    domain = costs.domains[index]
    if not isinstance(mapping, Partition) or not domain.hides_members():
        return blocks
    listed = {cell for cell, block in enumerate(mapping.blocks) if mapping.names[cell] == set_label(block)}
    cell_of = mapping.of_codes(domain.attribute)[list(domain.codes)].tolist()
    shown = sum(1 << position for position, cell in enumerate(cell_of) if cell in listed)
    found: list[int] = []
    for block in blocks:
        found += [block & shown] if block & shown else [block]
        hidden = block & ~shown if block & shown else 0
        found += [1 << position for position in range(domain.space.size) if hidden >> position & 1]
    return tuple(found)


def lowered(costs: Costs, bound: float, limit: int) -> float:
    """What no release costs less than, given a bound for partitions: values that a set does not name save something.

    Who has such a value is left out. So a release that leaves out so many records hides no more values than so many
    records can have, saves that for the others at most, and costs 1 for each that it leaves out.
    """
    if costs.exact or costs.as_released:
        return bound
    hidden = {i: _rarest(costs, i) for i, d in enumerate(costs.domains) if d.hides_members()}
    found = bound
    for left_out in sorted({int(number) for numbers in hidden.values() for number in numbers if number <= limit}):
        share = 0.0
        for index, numbers in hidden.items():
            inside = numbers[numbers <= left_out]
            most = float(costs.value_counts[index].max())
            lost = costs.domains[index].attribute.size - 1 if costs.cost == "ncp" else costs.records - most
            saved = len(inside) if costs.cost == "ncp" else float(inside.max(initial=0))
            share += saved / max(1.0, lost) / costs.divisors[index]
        found = min(found, max(bound - (costs.records - left_out) * min(share, 1.0), left_out))
    return found


def _rarest(costs: Costs, index: int) -> npt.NDArray[np.float64]:
    """Records of the rarest value that may lie between others, of the two rarest, and so on."""
    counts = costs.value_counts[index]
    inner = counts if costs.domains[index].scheme == "gsps" else counts[1:-1]
    return np.cumsum(np.sort(inner)).astype(np.float64)
