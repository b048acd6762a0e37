"""The six generalization schemes: which partitions of an attribute's values are allowed, and what they release.

`bhs` all values at one level of the taxonomy, `ghs` a cut of it, `ops` intervals of a total order, `sps` any sets,
`gsps` and `gops` sets and intervals that join values of different groups only as whole groups. A search runs over the
values that occur; values of a taxonomy that do not occur go where the scheme forces them, else they stay single.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from incrowd.errors import PolicyError, UnknownNameError, shorten
from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding
from incrowd.recodings.attributes.cut import Cut, cut_of
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import ClosedIntervals, Intervals
from incrowd.recodings.attributes.partition import Partition, sets_of
from incrowd.recodings.kinds import kind_of
from incrowd.search.optimal import SCHEMES
from incrowd.search.optimal.blocks import Blocks, Mode, Tree, bits, first
from incrowd.search.optimal.partitions import LevelSpace, Space, TreeSpace
from incrowd.table.attributes import Attribute, FlatAttribute, NumberAttribute, TaxonomyAttribute, categorical
from incrowd.table.compressed import CompressedTable
from incrowd.taxonomies.labels import set_label
from incrowd.taxonomies.taxonomy import Taxonomy

MODES: dict[str, Mode] = {"ghs": "all", "ops": "run", "gops": "run", "sps": "set", "gsps": "set"}
NEEDS_TAXONOMY = ("bhs", "ghs", "gsps", "gops")
MOST_SIBLINGS, MOST_VALUES = 100, 500
REMEMBERED = 1_000_000  # losses of blocks

Order = Mapping[str, Sequence[str]]


def schemes_of(attributes: Sequence[Attribute], scheme: str | Mapping[str, str] | None) -> tuple[str, ...]:
    """The scheme of each attribute, from one for all or a mapping by column; gops or ops by default."""
    names = [attribute.name for attribute in attributes]
    if scheme is None:
        return tuple("gops" if isinstance(attribute, TaxonomyAttribute) else "ops" for attribute in attributes)
    by_name = dict.fromkeys(names, scheme) if isinstance(scheme, str) else dict(scheme)
    for name, word in by_name.items():
        if name not in names:
            raise UnknownNameError("quasi-identifier column", name, names, "the 'scheme' parameter")
        if word not in SCHEMES:
            raise PolicyError(f"The 'scheme' parameter must be one of {', '.join(SCHEMES)}. Got {word!r}.")
    if lacking := [name for name in names if name not in by_name]:
        raise PolicyError(f"The 'scheme' parameter must name every column. Missing: {shorten(lacking)}.")
    return tuple(by_name[name] for name in names)


@dataclass(frozen=True)
class Domain:
    """One attribute under a scheme.

    Args:
        codes: The codes that occur, by position.
        space: The partitions of the positions.
        cuts: Of bhs with a taxonomy: the nodes of each level in the space.
        order: Of ordered schemes: rank of every code.
        tight: Whether an interval of numbers is released from its lowest to its highest number, as it is where records
            may be left out, and not up to the next interval.
    """

    attribute: Attribute
    scheme: str
    codes: tuple[int, ...]
    space: Space
    cuts: tuple[tuple[int, ...], ...] = ()
    order: tuple[int, ...] = ()
    tight: bool = False
    _losses: dict[int, float] = field(default_factory=dict, compare=False, repr=False)

    def losses(self, blocks: Blocks) -> list[float]:
        """Generalized loss (NCP) of each block of a partition."""
        if self.cuts:
            assert isinstance(self.space, LevelSpace)
            cut = Cut("", categorical(self.attribute).taxonomy, self.cuts[self.space.level(blocks)])
            cells = cut.losses(self.attribute)
            return [float(cells[cut.cell_of_leaf[self.codes[first(block)]]]) for block in blocks]
        return [self.loss(block) for block in blocks]

    def loss(self, block: int) -> float:
        """Generalized loss (NCP) of a block that does not depend on the rest of the partition."""
        if block not in self._losses:
            if len(self._losses) > REMEMBERED:
                self._losses.clear()
            self._losses[block] = self._loss(block)
        return self._losses[block]

    def _loss(self, block: int) -> float:
        attribute = self.attribute
        if not isinstance(attribute, NumberAttribute):
            forced = isinstance(attribute, TaxonomyAttribute) and self.scheme != "sps"
            members = len(self.members(block)) if forced else block.bit_count()
            return (members - 1) / max(1, attribute.size - 1)
        if len(self.codes) == 1:  # it is shown
            return 0.0
        codes = self.members(block)
        if not self.tight and (self.scheme != "sps" or len(codes) == len(self.codes)):
            return float(attribute.loss(np.array([codes[0]]), np.array([codes[-1] + 1]))[0])
        if attribute.missing in codes:
            return 0.0 if len(codes) == 1 else 1.0
        lowest, highest = attribute.extent
        span = float(attribute.numbers[codes[-1]]) - float(attribute.numbers[codes[0]])
        return span / float(highest - lowest) if highest > lowest else 0.0

    def members(self, block: int) -> list[int]:
        """All codes of a block, ascending: those that occur, and those that the scheme forces into it."""
        codes = {self.codes[position] for position in bits(block)}
        if isinstance(self.attribute, TaxonomyAttribute) and self.scheme != "sps" and len(codes) > 1:
            if self.scheme == "ghs":
                node = _lowest(self.attribute.taxonomy, codes)
                return list(range(self.attribute.taxonomy.start[node], self.attribute.taxonomy.stop[node]))
            if self.scheme != "ops":
                codes |= {code for code, home in self._homes.items() if block & home and block & ~home}
            if self.scheme in ("ops", "gops"):
                ranks = [self.order[code] for code in codes]
                codes = {code for code, rank in enumerate(self.order) if min(ranks) <= rank <= max(ranks)}
        return sorted(codes)

    @cached_property
    def _homes(self) -> dict[int, int]:
        """Of each code that does not occur, the positions under its lowest ancestor that has any."""
        taxonomy, homes = categorical(self.attribute).taxonomy, {}
        for code in set(range(self.attribute.size)) - set(self.codes):
            node, home = taxonomy.leaves[code], 0
            while not home:
                node = int(taxonomy.parent[node])
                inside = range(taxonomy.start[node], taxonomy.stop[node])
                home = sum(1 << position for position, other in enumerate(self.codes) if other in inside)
            homes[code] = home
        return homes

    def recoding(self, blocks: Blocks, released: set[int]) -> AttributeRecoding:
        """What a partition releases; values that no released record has are named only where a taxonomy is public."""
        attribute = self.attribute
        if isinstance(attribute, TaxonomyAttribute):
            return self._of_taxonomy(attribute, blocks, released)
        if len(self.codes) == 1 and released:  # all records have the same value, which loses nothing
            return kind_of(attribute).levels()[0]
        if isinstance(attribute, NumberAttribute) and (self.scheme == "ops" or len(blocks) == 1):
            if self.tight and (len(blocks) > 1 or attribute.missing is None):
                return self._closed(attribute, blocks, released)
            starts = [self.codes[first(block)] for block in blocks]
            bounds = tuple(attribute.number(code) for code in sorted(starts)[1:] if code != attribute.missing)
            apart = "apart" if attribute.missing in starts and attribute.missing is not None else "merged"
            missing = "none" if attribute.missing is None else apart
            return Intervals(attribute.name, attribute.scale, bounds, attribute.domain, missing)
        shown = [list(map(self._text, bits(block))) for block in blocks if released & set(bits(block))]
        if isinstance(attribute, FlatAttribute) and (len(blocks) == 1 or self.scheme in ("bhs", "ghs")):
            values = [value for block in shown for value in block] if len(blocks) > 1 else []
            texts = tuple(value for value in values if value is not None)
            return Disclosure(attribute.name, texts, missing_shown=len(texts) < len(values))
        scale = attribute.scale if isinstance(attribute, NumberAttribute) else None
        return Partition(attribute.name, tuple(map(tuple, shown)), tuple(map(set_label, shown)), True, scale)

    def _closed(self, attribute: NumberAttribute, blocks: Blocks, released: set[int]) -> AttributeRecoding:
        """Intervals from the lowest to the highest number that released records have in them."""
        kept = (sorted(self.codes[position] for position in bits(block) if position in released) for block in blocks)
        known = [codes for codes in kept if codes]
        ends = [(attribute.number(c[0]), attribute.number(c[-1])) for c in known if c != [attribute.missing]]
        return ClosedIntervals(attribute.name, attribute.scale, tuple(sorted(ends)), [attribute.missing] in known)

    def tightened(self, blocks: Blocks, released: set[int]) -> Blocks:
        """The finest partition in which values that released records have stay together as they were.

        Values that only left-out records have are parted from the others, unless the scheme has them in between.
        """
        mask = sum(1 << position for position in released)
        alone = [1 << position for position in range(len(self.codes)) if position not in released]
        return self.space.closure([*(block & mask for block in blocks if block & mask), *alone])

    def hides_members(self) -> bool:
        """Whether a set that the scheme allows may hold values that only left-out records have, which are not named."""
        if isinstance(self.attribute, TaxonomyAttribute):
            return self.attribute.rule is not None and self.scheme in ("ops", "gops", "gsps")
        return isinstance(self.attribute, FlatAttribute) and self.scheme in ("ops", "gops")

    def _text(self, position: int) -> str | None:
        text: str | None = self._texts[self.codes[position]]
        return text

    @cached_property
    def _texts(self) -> list[Any]:
        return list(self.attribute.values().to_pylist())

    def _of_taxonomy(self, attribute: TaxonomyAttribute, blocks: Blocks, released: set[int]) -> AttributeRecoding:
        taxonomy = attribute.taxonomy
        if isinstance(self.space, LevelSpace):
            return cut_of(attribute, self.cuts[self.space.level(blocks)])
        members = [self.members(block) for block in blocks if released & set(bits(block))]
        if self.scheme == "ghs":
            chosen = {_lowest(taxonomy, set(codes)) for codes in members}
            return cut_of(attribute, _fill(taxonomy, chosen))
        if attribute.rule is None:
            taken = {code for codes in members for code in codes}
            members += [[code] for code in range(attribute.size) if code not in taken]
        return sets_of(attribute, sorted(members), rest=attribute.rule is not None)


def _lowest(taxonomy: Taxonomy, codes: set[int]) -> int:
    """The lowest node above some leaves."""
    node = taxonomy.leaves[min(codes)]
    while taxonomy.stop[node] <= max(codes):
        node = int(taxonomy.parent[node])
    return node


def _fill(taxonomy: Taxonomy, chosen: set[int]) -> list[int]:
    """The chosen nodes and the highest others that make them a cut, in the order of leaves."""
    above = {ancestor for node in chosen for ancestor in taxonomy.ancestors(node)}
    cut, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if node in above and node not in chosen:
            waiting += reversed(taxonomy.children[node])
        else:
            cut.append(node)
    return cut


def domains_of(
    table: CompressedTable, scheme: str | Mapping[str, str] | None, order: Order | None = None, *, tight: bool = False
) -> list[Domain]:
    names = [attribute.name for attribute in table.attributes]
    for name in order or {}:
        if name not in names:
            raise UnknownNameError("quasi-identifier column", name, names, "the 'order' parameter")
    schemes = schemes_of(table.attributes, scheme)
    return [domain_of(table, index, word, order, tight=tight) for index, word in enumerate(schemes)]


def domain_of(
    table: CompressedTable, index: int, scheme: str, order: Order | None = None, *, tight: bool = False
) -> Domain:
    attribute = table.attributes[index]
    codes = np.unique(table.codes[index]).tolist()
    given = (order or {}).get(attribute.name)
    if scheme in NEEDS_TAXONOMY and isinstance(attribute, NumberAttribute):
        raise PolicyError(
            f"the scheme '{scheme}' needs a taxonomy for '{attribute.name}'; give one, such as the rule Intervals, or "
            "use 'ops'"
        )
    if scheme == "bhs":
        return _levels(attribute, codes)
    ranks = list(range(attribute.size))
    if given is not None and scheme in ("ops", "gops"):
        ranks = _ranks(attribute, given)
        codes = sorted(codes, key=ranks.__getitem__)
        if scheme == "gops" and isinstance(attribute, TaxonomyAttribute):
            _check_groups(attribute, ranks)
    space = TreeSpace(Tree.of(nested_of(attribute, codes, scheme)), MODES[scheme])
    _check_size(attribute, scheme, space)
    return Domain(attribute, scheme, tuple(codes), space, order=tuple(ranks), tight=tight)


def _check_size(attribute: Attribute, scheme: str, space: TreeSpace) -> None:
    """Refuse what no search could finish, before it takes all memory."""
    name, siblings = attribute.name, max(map(len, space.tree.children))
    if space.mode == "set" and siblings > MOST_SIBLINGS:
        raise PolicyError(
            f"'{scheme}' on '{name}' would search sets of {siblings} values; the limit is {MOST_SIBLINGS}; give a "
            "taxonomy and use 'gsps' or 'ghs', or use 'ops'"
        )
    if space.size > MOST_VALUES:
        raise PolicyError(
            f"'{scheme}' on '{name}' would search {space.size} values; the limit is {MOST_VALUES}; give a taxonomy and "
            f"use 'bhs', or {'round' if isinstance(attribute, NumberAttribute) else 'group'} the values first"
        )


def nested_of(attribute: Attribute, codes: Sequence[int], scheme: str) -> list[Any]:
    """The tree that guides a scheme, as nested lists of positions."""
    flat = list(range(len(codes)))
    if isinstance(attribute, NumberAttribute) and scheme == "ops" and attribute.missing is not None:
        return [flat[:-1], flat[-1]] if len(flat) > 1 else flat
    if not isinstance(attribute, TaxonomyAttribute) or scheme in ("ops", "sps"):
        return flat
    taxonomy = attribute.taxonomy
    position_of = {code: position for position, code in enumerate(codes)}
    below: list[Any] = [None] * len(taxonomy.labels)
    lowest = [len(codes)] * len(below)
    for node in range(len(below) - 1, -1, -1):
        children = sorted((c for c in taxonomy.children[node] if below[c] is not None), key=lowest.__getitem__)
        if children:
            below[node], lowest[node] = [below[child] for child in children], lowest[children[0]]
        elif not taxonomy.children[node] and int(taxonomy.start[node]) in position_of:
            below[node] = lowest[node] = position_of[int(taxonomy.start[node])]
    root: list[Any] = below[0]
    return root


def _levels(attribute: Attribute, codes: list[int]) -> Domain:
    """All values at one level; a leaf above it stays itself. Levels that change nothing are left out."""
    if not isinstance(attribute, TaxonomyAttribute):
        levels = tuple(dict.fromkeys((tuple(range(len(codes))), (0,) * len(codes))))
        return Domain(attribute, "bhs", tuple(codes), LevelSpace(levels))
    taxonomy = attribute.taxonomy
    cuts: dict[tuple[int, ...], tuple[int, ...]] = {}
    for depth in range(taxonomy.height, -1, -1):
        nodes = [n for n, d in enumerate(taxonomy.depth) if d == depth or (d < depth and not taxonomy.children[n])]
        cell_of = Cut("", taxonomy, tuple(nodes)).cell_of_leaf
        cuts.setdefault(tuple(np.unique(cell_of[codes], return_inverse=True)[1].tolist()), tuple(nodes))
    return Domain(attribute, "bhs", tuple(codes), LevelSpace(tuple(cuts)), tuple(cuts.values()))


def _ranks(attribute: Attribute, given: Sequence[str]) -> list[int]:
    """The rank of each code in an order given by the user; missing values come last."""
    name = attribute.name
    if isinstance(attribute, NumberAttribute):
        raise PolicyError(f"'{name}' holds numbers, which are already ordered; leave it out of 'order'")
    values = [value for value in attribute.values().to_pylist() if value is not None]
    if twice := sorted({value for value in given if list(given).count(value) > 1}):
        raise PolicyError(f"the order of '{name}' must name each value once; it repeats {shorten(twice)}")
    if lacking := [value for value in values if value not in set(given)]:
        raise PolicyError(f"the order of '{name}' must name every value; it leaves out {shorten(lacking, 1)}")
    if unknown := [value for value in given if value not in set(values)]:
        raise PolicyError(f"the order of '{name}' names values that the column does not have: {shorten(unknown)}")
    rank_of: dict[str | None, int] = {value: rank for rank, value in enumerate(given)}
    return [rank_of.get(value, len(values)) for value in attribute.values().to_pylist()]


def _check_groups(attribute: TaxonomyAttribute, ranks: Sequence[int]) -> None:
    taxonomy = attribute.taxonomy
    for node, label in enumerate(taxonomy.labels):
        inside = ranks[int(taxonomy.start[node]) : int(taxonomy.stop[node])]
        if max(inside) - min(inside) >= len(inside):
            raise PolicyError(
                f"the order of '{attribute.name}' does not fit its taxonomy, as 'gops' requires: it separates the "
                f"values of '{label}'; keep them together, or use 'ops'"
            )
