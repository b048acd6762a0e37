"""The attacks, by name: help, policy files, results and the documentation read them from here."""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.attacks.background import BACKGROUND
from incrowd.attacks.bounds import BOUNDS
from incrowd.attacks.downcoding import DOWNCODING
from incrowd.attacks.inference import DE_FINETTI, HOMOGENEITY, INFERENCE, SKEWNESS
from incrowd.attacks.last_record import LAST_RECORD
from incrowd.attacks.left_out import LEFT_OUT
from incrowd.attacks.linking import AUXILIARY, FUZZY, LINKING
from incrowd.attacks.membership import MEMBERSHIP
from incrowd.attacks.order import ORDER
from incrowd.attacks.posterior import POSTERIOR
from incrowd.attacks.releases import RELEASES
from incrowd.attacks.result import Attack, Group
from incrowd.attacks.singling_out import SINGLING_OUT
from incrowd.attacks.visits import VISITS

ATTACKS: Mapping[str, Attack] = {
    attack.name: attack
    for attack in (
        SINGLING_OUT,
        LINKING,
        FUZZY,
        AUXILIARY,
        BACKGROUND,
        INFERENCE,
        HOMOGENEITY,
        SKEWNESS,
        DE_FINETTI,
        MEMBERSHIP,
        ORDER,
        BOUNDS,
        LEFT_OUT,
        DOWNCODING,
        POSTERIOR,
        RELEASES,
        VISITS,
        LAST_RECORD,
    )
}
BY_SETTINGS = tuple(  # untouched columns give away the same, whatever the method and its settings
    name for name, attack in ATTACKS.items() if attack.group is not Group.UNTOUCHED
)
NOT_TRIED = (  # that a low score says nothing about
    "texts, images and anything inside a value",
    "knowledge about a person that is in none of the columns",
    "attackers who combine the release with tables that were not given",
)
