"""Reads recodings from their files."""

from __future__ import annotations

from pathlib import Path

from incrowd.errors import IncrowdError
from incrowd.recodings.by_class import ByClass
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.recoding import Recoding
from incrowd.recodings.schema import DOCUMENT, RECODING
from incrowd.schemas.shapes import SchemaError

_KINDS: dict[str, type[ByClass | ByTuple | ByValue]] = {"by class": ByClass, "by tuple": ByTuple, "by value": ByValue}


def read_recoding(path: str | Path) -> Recoding:
    """Read a recoding of any kind from a JSON file.

    Raises:
        DataError: The file cannot be read, is not a recoding, or was changed after it was written.
    """
    data = DOCUMENT.read(path, RECODING)
    try:
        recoding = _KINDS[data["kind"]].from_json(data)
        same = recoding.to_json() == data
    except (IncrowdError, SchemaError) as error:  # a taxonomy, a rule or values that cannot be
        DOCUMENT.refuse(path, error)
    if not same:
        DOCUMENT.refuse(path, "its fields contradict each other")
    return recoding
