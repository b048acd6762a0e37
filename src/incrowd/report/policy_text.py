"""A policy as a file to copy: what the certificate says of it, in the words and the syntax of a policy file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from incrowd.policy.toml_text import toml_comment, toml_key, toml_value

_DEFAULTS = {"missing": "category", "strict": False, "keep_order": False}
_ELSEWHERE = ("quasi_identifiers", "sensitive", "protections", "taxonomies", "types", "ranges")


def policy_toml(policy: Mapping[str, Any]) -> str:
    return "\n".join(_lines(policy)) + "\n"


def _lines(policy: Mapping[str, Any]) -> Iterator[str]:
    asked = policy["quasi_identifiers"]
    if len(asked) == 1:
        yield f"quasi_identifiers = {toml_value(asked[0]['attributes'])}"
        yield f"k = {asked[0]['k']}"
    else:
        yield "quasi_identifiers = ["
        yield from (f"  {toml_value(each)}," for each in asked)
        yield "]"
    for word, value in policy.items():
        if word in _ELSEWHERE or value in (None, [], {}) or _DEFAULTS.get(word, ...) == value:
            continue
        yield f"{toml_key(word)} = {toml_value(value)}"
    protections = policy.get("protections", {})
    if policy.get("sensitive") and not protections:
        yield f"sensitive = {toml_value(policy['sensitive'])}"
    if policy.get("taxonomies"):
        yield f'# taxonomies = "FOLDER"  with a file for each of: {toml_comment(", ".join(policy["taxonomies"]))}'
    for word in ("types", "ranges"):
        if policy.get(word):
            yield from ("", f"[{word}]")
            yield from (f"{toml_key(column)} = {toml_value(given)}" for column, given in policy[word].items())
    if protections:
        for column in policy["sensitive"]:
            yield from ("", f"[sensitive.{toml_key(column)}]")
            yield from (
                f"{toml_key(word)} = {toml_value(given)}" for word, given in protections.get(column, {}).items()
            )
