"""All privacy models by name."""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure
from incrowd.privacy.model import PrivacyModel
from incrowd.privacy.population import DeltaPresence, KMap
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.units import KUnits

MODELS: Mapping[str, type[PrivacyModel]] = {
    model.name: model
    for model in (
        KAnonymity,
        KUnits,
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        TCloseness,
        AlphaAnonymity,
        BetaLikeness,
        DeltaDisclosure,
        KMap,
        DeltaPresence,
    )
}
