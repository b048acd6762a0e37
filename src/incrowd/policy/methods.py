"""What a policy may say of each method: which options it takes, and whether it takes several quasi-identifiers."""

from __future__ import annotations

from incrowd.search.registry import METHODS


def options_of(method: str) -> frozenset[str]:
    return frozenset(METHODS[method].options)


def all_options() -> frozenset[str]:
    return frozenset(option for method in METHODS.values() for option in method.options)


def takes_several(method: str) -> bool:
    return METHODS[method].several


def out_of_core_methods() -> dict[str, tuple[str, ...]]:
    """The methods that can search tuples outside of memory, each with the options for which it needs all of them."""
    declared = {name: method.out_of_core_without for name, method in METHODS.items()}
    return {name: without for name, without in declared.items() if without is not None}
