"""What a policy may say of each method: which options it takes, and whether it takes several quasi-identifiers."""

from __future__ import annotations

from incrowd.search.registry import METHODS


def options_of(method: str) -> frozenset[str]:
    return frozenset(METHODS[method].options)


def all_options() -> frozenset[str]:
    return frozenset(option for method in METHODS.values() for option in method.options)


def takes_several(method: str) -> bool:
    return METHODS[method].several
