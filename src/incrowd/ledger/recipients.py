"""Who gets a release, by name, and who may have what another one got."""

from __future__ import annotations

import unicodedata


def normal(name: str) -> str:
    """A name in one form: blanks and the form of its characters do not matter."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def meet(one: str, other: str) -> bool:
    """Whether somebody may have what went to both recipients; an empty one is anyone.

    Names that differ only in case, spaces or the form of their characters are one name: to take two recipients for one
    costs detail, to take one for two costs the promise.
    """
    names = {normal(normal(name).casefold()) for name in (one, other)}
    return "" in names or len(names) == 1
