"""How many generalizations a scheme allows, and what to suggest where there are too many."""

from __future__ import annotations

import math
from collections.abc import Sequence

from incrowd.search.optimal.blocks import Tree, count_partitions
from incrowd.search.optimal.schemes import MODES, NEEDS_TAXONOMY, Domain, nested_of
from incrowd.table.attributes import Attribute, TaxonomyAttribute

MANY = 10**12  # partitions of one attribute beyond which a search is unlikely to finish
SMALLER = {
    "sps": ("gsps", "ops", "gops", "ghs", "bhs"),
    "gsps": ("gops", "ghs", "bhs"),
    "ops": ("gops", "ghs", "bhs"),
    "gops": ("ghs", "bhs"),
    "ghs": ("bhs",),
}


def scheme_size(attribute: Attribute, scheme: str) -> int:
    """How many generalizations a scheme allows, counted over all values of the attribute, as the paper does."""
    taxonomy = attribute.taxonomy if isinstance(attribute, TaxonomyAttribute) else None
    if scheme == "bhs":
        return 2 if taxonomy is None else taxonomy.height + 1
    if scheme == "ghs" and taxonomy is not None:
        cuts = [1] * len(taxonomy.labels)
        for node in range(len(cuts) - 1, -1, -1):
            if taxonomy.children[node]:
                cuts[node] = 1 + math.prod(cuts[child] for child in taxonomy.children[node])
        return cuts[0]
    tree = Tree.of(nested_of(attribute, range(attribute.size), scheme))
    return count_partitions(tree, MODES[scheme])


def explain(domains: Sequence[Domain], solved: int | None = None) -> list[str]:
    """One line per attribute: how many generalizations there are, and what to do where there are too many."""
    return [_explain(domain, index == solved) for index, domain in enumerate(domains)]


def _explain(domain: Domain, solved: bool) -> str:
    attribute, scheme = domain.attribute, domain.scheme
    size = scheme_size(attribute, scheme)
    noun = {"bhs": "levels", "ghs": "cuts"}.get(scheme, "partitions")
    line = f"{scheme} on {attribute.name}: {_short(size)} {noun}"
    occur = domain.space.partitions
    if occur != size:
        line += f", of which {_short(occur)} differ"
        if len(domain.codes) < attribute.size:
            line += f" on the {len(domain.codes)} of {attribute.size} values that occur"
    if solved:
        line += "; solved for each combination of the others, not enumerated"
    elif occur > MANY:
        line += "; the search will not finish unless nearly all can be pruned"
        line += _way_out(attribute, scheme)
    return line


def _way_out(attribute: Attribute, scheme: str) -> str:
    """How many generalizations the smaller schemes have."""
    fitting = [
        word
        for word in SMALLER.get(scheme, ())
        if isinstance(attribute, TaxonomyAttribute) or word not in NEEDS_TAXONOMY
    ]
    sizes = {word: scheme_size(attribute, word) for word in fitting}
    fewer = [f"{word} has {_short(size)}" for word, size in sizes.items() if size < scheme_size(attribute, scheme)]
    return "".join(f", {words}" for words in fewer)


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**7 else f"{float(number):.1e}" if number < 10**300 else "more than 1e300"
