"""incrowd: release tables about people so that everyone stands in a crowd of at least k.

The public API. Names are imported when they are first used, so that importing incrowd is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd import datasets
    from incrowd.comparison.comparison import Comparison, compare
    from incrowd.errors import (
        DataError,
        IncrowdError,
        InfeasibleError,
        NotAnonymousError,
        OutputError,
        PolicyError,
        TaxonomyError,
    )
    from incrowd.evaluation.result import Evaluation
    from incrowd.evaluation.trial import evaluate
    from incrowd.hierarchical_distance import Weights
    from incrowd.pipeline import anonymize, apply, verify
    from incrowd.policy import Policy, QuasiIdentifier
    from incrowd.recodings.recoding import Recoding
    from incrowd.release import Certificate, Release
    from incrowd.release_distortion import distortion
    from incrowd.taxonomies.rules import Bounds, Flat, Intervals, Prefix
    from incrowd.taxonomies.taxonomy import Taxonomy

_HOMES = {
    "anonymize": "pipeline",
    "apply": "pipeline",
    "verify": "pipeline",
    "Comparison": "comparison.comparison",
    "compare": "comparison.comparison",
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
    "Recoding": "recodings.recoding",
    "Certificate": "release",
    "Release": "release",
    "Taxonomy": "taxonomies.taxonomy",
    "Bounds": "taxonomies.rules",
    "Flat": "taxonomies.rules",
    "Intervals": "taxonomies.rules",
    "Prefix": "taxonomies.rules",
    "Evaluation": "evaluation.result",
    "evaluate": "evaluation.trial",
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
