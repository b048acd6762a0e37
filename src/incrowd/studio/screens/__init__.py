"""The screens, in the order in which one goes through them."""

from __future__ import annotations

from incrowd.studio.screens import attack, compare, data, export, hierarchies, protect, release, risk, roles, utility
from incrowd.studio.screens.screen import Screen

SCREENS: dict[str, Screen] = {
    screen.name: screen
    for screen in (
        data.SCREEN,
        roles.SCREEN,
        hierarchies.SCREEN,
        protect.SCREEN,
        release.SCREEN,
        risk.SCREEN,
        utility.SCREEN,
        attack.SCREEN,
        compare.SCREEN,
        export.SCREEN,
    )
}
