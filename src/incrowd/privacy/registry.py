"""All privacy models by name."""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.privacy.k_anonymity import KAnonymity

MODELS: Mapping[str, type[KAnonymity]] = {KAnonymity.name: KAnonymity}
