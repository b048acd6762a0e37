"""incrowd: release tables about people so that everyone stands in a crowd of at least k.

The public API. Names are imported when they are first used, so that importing incrowd is cheap.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes more time to import than the rest
if TYPE_CHECKING:
    from typing import Any

    from incrowd import datasets
    from incrowd.attacks.attack import attack
    from incrowd.attacks.result import AttackReport
    from incrowd.comparison.comparison import Comparison, compare
    from incrowd.errors import (
        CancelledError,
        DataError,
        IncrowdError,
        InfeasibleError,
        NotAnonymousError,
        OutputError,
        PolicyError,
        TaxonomyError,
        TimeLimitError,
    )
    from incrowd.evaluation.result import Evaluation
    from incrowd.evaluation.trial import evaluate
    from incrowd.inspection.inspection import Inspection, inspect
    from incrowd.measures.distortion import Distortion
    from incrowd.measures.hierarchical_distance import Weights
    from incrowd.measures.measures import ClassMeasures, Measures
    from incrowd.policy.policy import Policy, QuasiIdentifier
    from incrowd.privacy.k_anonymity import KAnonymity
    from incrowd.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
    from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
    from incrowd.privacy.population import DeltaPresence, EstimatedKMap, KMap
    from incrowd.privacy.t_closeness import TCloseness
    from incrowd.privacy.table_risk import AverageRisk, PopulationUniqueness, SampleUniqueness
    from incrowd.recodings.reading import read_recoding
    from incrowd.recodings.recoding import Recoding
    from incrowd.recodings.steps import Step
    from incrowd.release.anonymize import anonymize
    from incrowd.release.apply import apply
    from incrowd.release.distortion import distortion
    from incrowd.release.number_columns import as_numbers
    from incrowd.release.release import Release
    from incrowd.risk.assessment import Risk, assess
    from incrowd.run import Run
    from incrowd.search.registry import methods
    from incrowd.taxonomies.rules import Bounds, Calendar, Coding, Domain, Flat, Frequent, Intervals, Prefix
    from incrowd.taxonomies.taxonomy import Taxonomy
    from incrowd.verification.certificate import Certificate
    from incrowd.verification.recipient import CertificateCheck, check_certificate
    from incrowd.verification.verdict import Verification
    from incrowd.verification.verify import verify
    from incrowd.version import __version__

_HOMES = {
    "anonymize": "release.anonymize",
    "inspect": "inspection.inspection",
    "apply": "release.apply",
    "verify": "verification.verify",
    "check_certificate": "verification.recipient",
    "distortion": "release.distortion",
    "as_numbers": "release.number_columns",
    "assess": "risk.assessment",
    "attack": "attacks.attack",
    "evaluate": "evaluation.trial",
    "compare": "comparison.comparison",
    "methods": "search.registry",
    "read_recoding": "recodings.reading",
    "Policy": "policy.policy",
    "QuasiIdentifier": "policy.policy",
    "KAnonymity": "privacy.k_anonymity",
    "LDiversity": "privacy.l_diversity",
    "EntropyLDiversity": "privacy.l_diversity",
    "RecursiveLDiversity": "privacy.l_diversity",
    "TCloseness": "privacy.t_closeness",
    "AlphaAnonymity": "privacy.likeness",
    "BetaLikeness": "privacy.likeness",
    "EnhancedBetaLikeness": "privacy.likeness",
    "DeltaDisclosure": "privacy.likeness",
    "KMap": "privacy.population",
    "EstimatedKMap": "privacy.population",
    "DeltaPresence": "privacy.population",
    "AverageRisk": "privacy.table_risk",
    "SampleUniqueness": "privacy.table_risk",
    "PopulationUniqueness": "privacy.table_risk",
    "Weights": "measures.hierarchical_distance",
    "Taxonomy": "taxonomies.taxonomy",
    "Prefix": "taxonomies.rules",
    "Intervals": "taxonomies.rules",
    "Bounds": "taxonomies.rules",
    "Flat": "taxonomies.rules",
    "Frequent": "taxonomies.rules",
    "Calendar": "taxonomies.rules",
    "Coding": "taxonomies.rules",
    "Domain": "taxonomies.rules",
    "Run": "run",
    "Release": "release.release",
    "Recoding": "recodings.recoding",
    "Step": "recodings.steps",
    "Measures": "measures.measures",
    "ClassMeasures": "measures.measures",
    "Distortion": "measures.distortion",
    "Risk": "risk.assessment",
    "AttackReport": "attacks.result",
    "Certificate": "verification.certificate",
    "CertificateCheck": "verification.recipient",
    "Verification": "verification.verdict",
    "Evaluation": "evaluation.result",
    "Inspection": "inspection.inspection",
    "Comparison": "comparison.comparison",
    "IncrowdError": "errors",
    "PolicyError": "errors",
    "DataError": "errors",
    "TaxonomyError": "errors",
    "OutputError": "errors",
    "NotAnonymousError": "errors",
    "InfeasibleError": "errors",
    "TimeLimitError": "errors",
    "CancelledError": "errors",
    "__version__": "version",
}

__all__ = [  # noqa: RUF022  (what to do, what to say, what comes back, what may go wrong)
    "inspect",
    "anonymize",
    "apply",
    "verify",
    "check_certificate",
    "distortion",
    "as_numbers",
    "assess",
    "attack",
    "evaluate",
    "compare",
    "methods",
    "read_recoding",
    "datasets",
    "Policy",
    "QuasiIdentifier",
    "KAnonymity",
    "LDiversity",
    "EntropyLDiversity",
    "RecursiveLDiversity",
    "TCloseness",
    "AlphaAnonymity",
    "BetaLikeness",
    "EnhancedBetaLikeness",
    "DeltaDisclosure",
    "KMap",
    "EstimatedKMap",
    "DeltaPresence",
    "AverageRisk",
    "SampleUniqueness",
    "PopulationUniqueness",
    "Weights",
    "Taxonomy",
    "Prefix",
    "Intervals",
    "Bounds",
    "Flat",
    "Frequent",
    "Calendar",
    "Coding",
    "Domain",
    "Run",
    "Release",
    "Recoding",
    "Step",
    "Measures",
    "ClassMeasures",
    "Distortion",
    "Risk",
    "AttackReport",
    "Certificate",
    "CertificateCheck",
    "Verification",
    "Evaluation",
    "Inspection",
    "Comparison",
    "IncrowdError",
    "PolicyError",
    "DataError",
    "TaxonomyError",
    "OutputError",
    "NotAnonymousError",
    "InfeasibleError",
    "TimeLimitError",
    "CancelledError",
    "__version__",
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
