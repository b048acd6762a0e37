"""The reference of the Python library, made from its public names, their signatures and docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from docs.site.docstrings import markdown_of

import incrowd

_WIDEST = 90  # characters of a signature on one line
_MORE = {"incrowd.datasets": ("adult", "german", "taxonomies", "copy"), "incrowd.sklearn": ("Anonymizer",)}


def python_reference() -> str:
    """All public names, by kind."""
    names = [name for name in incrowd.__all__ if not name.startswith("_") and name != "datasets"]
    things = {name: getattr(incrowd, name) for name in names}
    errors = {n: t for n, t in things.items() if isinstance(t, type) and issubclass(t, BaseException)}
    classes = {n: t for n, t in things.items() if isinstance(t, type) and n not in errors}
    functions = {n: t for n, t in things.items() if n not in classes and n not in errors}
    lines = ["# Python reference", "", "Made from the docstrings of the code.", ""]
    for title, group in (("Functions", functions), ("Classes", classes), ("Errors", errors)):
        lines += [f"## {title}", ""]
        for name, thing in group.items():
            lines += _described(f"incrowd.{name}", name, thing)
    for module, found in _MORE.items():
        lines += [f"## {module}", ""]
        home = __import__(module, fromlist=["_"])
        for name in found:
            lines += _described(f"{module}.{name}", name, getattr(home, name))
    return "\n".join(lines) + "\n"


def _described(path: str, name: str, thing: Any) -> Iterator[str]:
    """One public thing, and its members."""
    yield from (f"### {name}", "", "```python", call_of(path, thing), "```", "", markdown_of(thing), "")
    if isinstance(thing, type) and not issubclass(thing, BaseException):
        for word, member in _members(thing):
            shown = f"{name}.{word}"
            yield f"#### {shown}"
            if callable(member):
                yield from ("", "```python", call_of(shown, member), "```")
            yield from ("", markdown_of(member), "")


def _members(thing: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, its own and those of classes of ours that it extends."""
    seen: set[str] = set()
    for base in thing.__mro__:
        if not base.__module__.startswith("incrowd"):
            continue
        for word, member in vars(base).items():
            found = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            shows = inspect.isfunction(found) or isinstance(found, property | cached_property)
            if shows and not word.startswith("_") and word not in seen:
                seen.add(word)
                yield word, found


def call_of(path: str, thing: Any) -> str:
    """How a thing is called, on one line if that is short."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return path
    parts, by_name = [], False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not by_name:
            parts.append("*")
        by_name = by_name or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        parts.append(_parameter(parameter))
    result = "" if signature.return_annotation is signature.empty else f" -> {_type(signature.return_annotation)}"
    line = f"{path}({', '.join(parts)}){result}"
    if len(line) <= _WIDEST:
        return line
    return "\n".join([f"{path}(", *(f"    {part}," for part in parts), f"){result}"])


def _parameter(parameter: inspect.Parameter) -> str:
    stars = (
        "*" if parameter.kind is parameter.VAR_POSITIONAL else "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    )
    told = f"{stars}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        told += f": {_type(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        default = repr(parameter.default)
        told += f" = {default if not default.startswith('<') else '...'}"
    return told


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
