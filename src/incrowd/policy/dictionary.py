"""Which data dictionaries a release gets: a policy names them, and `report.dictionary` writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DICTIONARIES: Mapping[str, str] = {  # with how the file beside the release ends
    "frictionless": "dictionary.json",
    "ddi": "dictionary.xml",
}


def dictionaries(asked: str | Sequence[str]) -> tuple[str, ...]:
    """The formats that were asked for, each once."""
    names = DICTIONARIES if asked == "all" else (asked,) if isinstance(asked, str) else asked
    return tuple(name for name in DICTIONARIES if name in names)
