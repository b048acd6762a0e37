"""A policy as a file to copy: what the certificate says of it, in the words and the syntax of a policy file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_DEFAULTS = {"missing": "category", "strict": False, "keep_order": False}
_ELSEWHERE = ("quasi_identifiers", "sensitive", "protections", "taxonomies", "types", "ranges")


def policy_toml(policy: Mapping[str, Any]) -> str:
    """A policy in TOML.

    Args:
        policy: What `Policy.to_json` gives, which names the columns with a taxonomy and does not hold their trees.
    """
    return "\n".join(_lines(policy)) + "\n"


def _lines(policy: Mapping[str, Any]) -> Iterator[str]:
    asked = policy["quasi_identifiers"]
    if len(asked) == 1:
        yield f"quasi_identifiers = {_value(asked[0]['attributes'])}"
        yield f"k = {asked[0]['k']}"
    else:
        yield "quasi_identifiers = ["
        yield from (f"  {_value(each)}," for each in asked)
        yield "]"
    for word, value in policy.items():
        if word in _ELSEWHERE or value in (None, [], {}) or _DEFAULTS.get(word, ...) == value:
            continue
        yield f"{_key(word)} = {_value(value)}"
    protections = policy.get("protections", {})
    if policy.get("sensitive") and not protections:
        yield f"sensitive = {_value(policy['sensitive'])}"
    if policy.get("taxonomies"):
        yield f'# taxonomies = "FOLDER"  with a file for each of: {_comment(", ".join(policy["taxonomies"]))}'
    for word in ("types", "ranges"):
        if policy.get(word):
            yield from ("", f"[{word}]")
            yield from (f"{_key(column)} = {_value(given)}" for column, given in policy[word].items())
    if protections:
        for column in policy["sensitive"]:
            yield from ("", f"[sensitive.{_key(column)}]")
            yield from (f"{_key(word)} = {_value(given)}" for word, given in protections.get(column, {}).items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """A text in TOML, which is what JSON makes of it, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _comment(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f\u0085\u2028\u2029]", " ", text)
