"""The inner loops of clustering: compiled, or for small tables uncompiled, with the same result.

Compiling takes ten seconds on a machine that never ran it, which a small table is not worth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

UNCOMPILED = 1000  # tuples of a table that is clustered without compiled code


class Kernels(NamedTuple):
    """What clustering calls; see the modules `covering`, `agglomeration`, `exchange` and `joining`."""

    covered: Callable[..., Any]
    covered_well: Callable[..., Any]
    agglomerated: Callable[..., Any]
    exchanged: Callable[..., Any]
    proposed: Callable[..., Any]
    neighbours: Callable[..., Any]
    closest_members: Callable[..., Any]
    common_of: Callable[..., Any]
    branches_of: Callable[..., Any]


def kernels_for(tuples: int) -> Kernels:
    """Those for a table with so many distinct tuples; the result never depends on which they are."""
    return _uncompiled() if tuples <= UNCOMPILED else _compiled()


def _compiled() -> Kernels:
    from incrowd.search.clustering.agglomeration import agglomerated
    from incrowd.search.clustering.covering import covered
    from incrowd.search.clustering.exchange import exchanged
    from incrowd.search.clustering.guarded_rounds import covered_well
    from incrowd.search.clustering.joining import branches_of, closest_members, common_of, neighbours, proposed

    exchange = exchanged, proposed
    return Kernels(covered, covered_well, agglomerated, *exchange, neighbours, closest_members, common_of, branches_of)


def _uncompiled() -> Kernels:
    from incrowd.search.clustering.uncompiled.agglomeration import agglomerated
    from incrowd.search.clustering.uncompiled.covering import covered, covered_well
    from incrowd.search.clustering.uncompiled.exchange import exchanged, proposed
    from incrowd.search.clustering.uncompiled.joining import branches_of, closest_members, common_of, neighbours

    exchange = exchanged, proposed
    return Kernels(covered, covered_well, agglomerated, *exchange, neighbours, closest_members, common_of, branches_of)
