"""TOML from outside: what is nested too deeply is refused before it is parsed, which would take time without end."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_WORD = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![\w-])(?:{_WORD}\s*+\.\s*+){{100}}")  # a key of so many keys


def parsed_toml(text: str) -> dict[str, Any]:
    """What a text says.

    Raises:
        RecursionError: It is nested too deeply.
        TOMLDecodeError: It is not TOML.
    """
    if _DEEP.search(text):
        raise RecursionError
    return tomllib.loads(text)
