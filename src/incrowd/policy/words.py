"""From the words that users write to a policy: the same in Python, on the command line and in a policy file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError, UnknownNameError, shown
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.policy.population_options import add_population
from incrowd.policy.protection import WORDS as PROTECTING
from incrowd.policy.protection import protections_of
from incrowd.policy.schema import checked

if TYPE_CHECKING:
    from incrowd.taxonomies.rules import Rule
    from incrowd.taxonomies.taxonomy import Taxonomy


def make_policy(*, quasi_identifiers: Any, k: int | None = None, taxonomies: Any = None, **words: Any) -> Policy:
    """A policy from the words that users write, the same in Python, on the command line and in a policy file.

    Args:
        quasi_identifiers: See `quasi_identifiers_of`.
        k: The k of quasi-identifiers that do not say their own.
        taxonomies: Taxonomy, rule or file by column, or a folder with a file per column.
        **words: The other fields of `Policy`, with lists where it wants tuples, and the words of `Protection`, each for
            all sensitive columns or by column.
    """
    words = checked({**words, "taxonomies": taxonomies})
    del words["taxonomies"]
    protecting = {word: words.pop(word) for word in PROTECTING if word in words}
    words["sensitive"], words["protections"] = protections_of(words.get("sensitive", ()), protecting)
    add_population(words)
    alone = any(protection.models() for protection in words["protections"])
    alone = k is None and (alone or "k_map" in words or "delta_presence" in words)
    qids = quasi_identifiers_of(quasi_identifiers, 1 if alone else k)
    columns = tuple(dict.fromkeys(name for qid in qids for name in qid.attributes))
    for_distance = tuple(protection.column for protection in words["protections"] if protection.t is not None)
    return Policy(quasi_identifiers=qids, taxonomies=_taxonomies_of(taxonomies, (*columns, *for_distance)), **words)


def _taxonomies_of(given: Any, columns: Sequence[str]) -> dict[str, Taxonomy | Rule]:
    """Taxonomies by column; a folder serves the columns that it has a file for."""
    if isinstance(given, tuple):  # the later ones win
        return {column: item for part in given for column, item in _taxonomies_of(part, columns).items()}
    if isinstance(given, str | Path):
        folder = Path(given)
        if not folder.is_dir():
            raise PolicyError(f"no taxonomy folder {folder}; give an existing folder, or a file for each column")
        files = [
            (column, folder / f"{column}{suffix}") for column in columns for suffix in (".toml", ".csv.gz", ".csv")
        ]
        given = {column: path for column, path in files if path.exists()}
    return {column: _taxonomy_of(column, item) for column, item in dict(given or {}).items()}


def _taxonomy_of(column: str, item: Any) -> Taxonomy | Rule:
    """A taxonomy or a rule from a file, or from the words of a policy file."""
    from incrowd.taxonomies.rules import rule_of
    from incrowd.taxonomies.taxonomy import Taxonomy

    if isinstance(item, Mapping):
        return rule_of(column, item)
    taxonomy: Taxonomy | Rule = Taxonomy.read(item) if isinstance(item, str | Path) else item
    return taxonomy


def quasi_identifiers_of(words: Any, k: int | None = None) -> tuple[QuasiIdentifier, ...]:
    """Quasi-identifiers from what a user may write.

    Args:
        words: Column names for a single quasi-identifier, or several quasi-identifiers: objects, mappings with
            "attributes" and "k", or lists of columns.
        k: The k of those that do not say their own.
    """
    if isinstance(words, str | QuasiIdentifier):
        words = [words]
    if not isinstance(words, Iterable):
        raise PolicyError(f"The 'quasi_identifiers' parameter must be columns or lists of columns. Got {shown(words)}.")
    if isinstance(words, Mapping):
        words = [words]
    words = list(words)
    if any(isinstance(word, str) for word in words):  # then all should be
        wrong = [word for word in words if not isinstance(word, str)]
        if wrong:
            raise PolicyError(
                f"The 'quasi_identifiers' parameter must name columns by text. Got {shown(wrong[0])} among them."
            )
        words = [words]
    return tuple(_quasi_identifier_of(word, k) for word in words)


def _quasi_identifier_of(word: Any, k: int | None) -> QuasiIdentifier:
    if isinstance(word, QuasiIdentifier):
        return word
    if isinstance(word, Mapping):
        for key in word:
            if key not in ("attributes", "k"):
                raise UnknownNameError("key", str(key), ("attributes", "k"), "a quasi-identifier")
        word, k = word.get("attributes", ()), word.get("k", k)
    if k is None:
        raise PolicyError("A quasi-identifier must have a k, the size of the smallest crowd allowed. None was given.")
    return QuasiIdentifier(word, k)
