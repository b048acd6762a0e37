"""incrowd: release tables about people so that everyone stands in a crowd of at least k.

The public API. Names are imported when they are first used, so that importing incrowd is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd import datasets
    from incrowd.comparison import Comparison, compare
    from incrowd.errors import (
        DataError,
        IncrowdError,
        InfeasibleError,
        NotAnonymousError,
        OutputError,
        PolicyError,
        TaxonomyError,
    )
    from incrowd.hierarchical_distance import Weights
    from incrowd.pipeline import anonymize, apply, verify
    from incrowd.policy import Policy, QuasiIdentifier
    from incrowd.recoding import Recoding
    from incrowd.release import Certificate, Release
    from incrowd.release_distortion import distortion
    from incrowd.taxonomy import Taxonomy
    from incrowd.taxonomy_rules import Bounds, Flat, Intervals, Prefix
    from incrowd.utility import Evaluation, evaluate

_HOMES = {
    "anonymize": "pipeline",
    "apply": "pipeline",
    "verify": "pipeline",
    "Comparison": "comparison",
    "compare": "comparison",
    "distortion": "release_distortion",
    "Weights": "hierarchical_distance",
    "DataError": "errors",
    "IncrowdError": "errors",
    "InfeasibleError": "errors",
    "NotAnonymousError": "errors",
    "OutputError": "errors",
    "PolicyError": "errors",
    "TaxonomyError": "errors",
    "Policy": "policy",
    "QuasiIdentifier": "policy",
    "Recoding": "recoding",
    "Certificate": "release",
    "Release": "release",
    "Taxonomy": "taxonomy",
    "Bounds": "taxonomy_rules",
    "Flat": "taxonomy_rules",
    "Intervals": "taxonomy_rules",
    "Prefix": "taxonomy_rules",
    "Evaluation": "utility",
    "evaluate": "utility",
}

__all__ = [  # noqa: RUF022  (order of the stories they tell)
    "anonymize",
    "apply",
    "verify",
    "evaluate",
    "compare",
    "distortion",
    "Weights",
    "Policy",
    "QuasiIdentifier",
    "Release",
    "Recoding",
    "Certificate",
    "Evaluation",
    "Comparison",
    "Taxonomy",
    "Prefix",
    "Intervals",
    "Bounds",
    "Flat",
    "IncrowdError",
    "PolicyError",
    "DataError",
    "TaxonomyError",
    "OutputError",
    "NotAnonymousError",
    "InfeasibleError",
    "datasets",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("incrowd.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'incrowd' has no attribute '{name}'")
    value = getattr(import_module(f"incrowd.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
