"""Models of a protected column that a table satisfies as a whole, and whether a class is good, by definition."""

from collections import Counter

import numpy as np
from tests.reference import privacy

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.units import KUnits
from incrowd.table.class_counts import Histogram

COLUMN = "ill"
KINDS = [
    KUnits(COLUMN, 2),
    KUnits(COLUMN, 3),
    LDiversity(COLUMN, 2),
    EntropyLDiversity(COLUMN, 1.5),
    EntropyLDiversity(COLUMN, 2.0),
    RecursiveLDiversity(COLUMN, 2.0, 2),
    TCloseness(COLUMN, 0.15, "equal"),
    TCloseness(COLUMN, 0.4, "equal"),
    AlphaAnonymity(COLUMN, 0.6),
    AlphaAnonymity(COLUMN, 0.8),
    TCloseness(COLUMN, 0.3, "ordered"),
    BetaLikeness(COLUMN, 0.75),
    EnhancedBetaLikeness(COLUMN, 1.5),
    DeltaDisclosure(COLUMN, 1.5),
]


def is_good(model, values, everyone):
    """Whether a class of these values is good, in a release of those."""
    match model:
        case KAnonymity():
            return len(values) >= model.k
        case KUnits():
            return len(set(values)) >= model.k
        case LDiversity():
            return privacy.distinct_l(values) >= model.l
        case EntropyLDiversity():
            return round(float(np.exp(privacy.entropy(values))), 9) >= model.l
        case RecursiveLDiversity():
            return privacy.is_recursive(values, model.c, model.l)
        case TCloseness(distance="ordered"):
            places = {value: str(place) for place, value in enumerate(sorted(set(everyone)))}
            moved = privacy.moved_ordered([places[value] for value in values], [places[value] for value in everyone])
            return float(moved) <= model.t
        case EnhancedBetaLikeness():
            return privacy.is_enhanced_beta_like(values, everyone, model.beta)
        case TCloseness():
            return float(privacy.moved_equal(values, everyone)) <= model.t
        case AlphaAnonymity():
            return float(privacy.largest_share(values)) <= model.alpha
        case BetaLikeness():
            return float(privacy.largest_gain(values, everyone)) <= model.beta
        case DeltaDisclosure():
            return privacy.largest_factor(values, everyone) < model.delta
    raise AssertionError(model)


def models_of(ill):
    """The models that a table with these values satisfies as a whole, fitted to it; values are 0, 1, 2, ..."""
    counts = np.array([Counter(ill)[value] for value in range(max(ill) + 1)])
    codes = np.flatnonzero(counts)
    column = Histogram(tuple("wxyz"[: len(counts)]), np.zeros(len(codes), np.int64), codes, counts[codes], 1)
    return [model.fitted(column) for model in KINDS if is_good(model, ill, ill)]
