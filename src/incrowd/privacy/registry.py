"""All privacy models: the one list that policy, shell, TOML, studio, verify, report and docs iterate over."""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.options import Ascending, Groups, Option
from incrowd.privacy.declared import HARMLESS, Declared
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from incrowd.privacy.likeness import AlphaAnonymity, BetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from incrowd.privacy.population import DeltaPresence, EstimatedKMap, KMap
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.table_risk import AverageRisk, OfTable, PopulationUniqueness, SampleUniqueness
from incrowd.privacy.units import KUnits

MODELS: Mapping[str, type[Declared]] = {
    model.name: model
    for model in (
        KAnonymity,
        KUnits,
        LDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        TCloseness,
        AlphaAnonymity,
        BetaLikeness,
        EnhancedBetaLikeness,
        DeltaDisclosure,
        KMap,
        EstimatedKMap,
        DeltaPresence,
        AverageRisk,
        SampleUniqueness,
        PopulationUniqueness,
    )
}
OF_COLUMNS: Mapping[str, type[Declared]] = {
    model.option_name: model for model in MODELS.values() if model.about == "column"
}
OF_POPULATION: Mapping[str, type[Declared]] = {
    model.option_name: model for model in MODELS.values() if model.about == "population"
}
OF_TABLE: Mapping[str, type[OfTable]] = {
    model.option_name: model for model in MODELS.values() if issubclass(model, OfTable)
}
RISK_OPTIONS: Mapping[str, Option] = {  # what people may say of the risk of all crowds together, and of estimates
    **{
        option_name: option
        for model in OF_TABLE.values()
        for option_name, option in {model.option_name: model.option, **model.more}.items()
    },
    **EstimatedKMap.more,
}
COLUMN_OPTIONS: Mapping[str, Option] = {  # what people may say of one sensitive column
    **{
        option_name: option
        for model in OF_COLUMNS.values()
        for option_name, option in {model.option_name: model.option, **model.more}.items()
    },
    "harmless": HARMLESS,
    "groups": Option("Values that count as one, by the name of the group.", Groups(), example="...", section=""),
    "bins": Option("Bounds; numbers between two of them count as one value.", Ascending(), example="10:20", section=""),
}
