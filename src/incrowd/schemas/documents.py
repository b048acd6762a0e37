"""Documents: JSON files that incrowd writes, and reads back only if nothing about them is strange.

A document says what it is and in which format, has a schema for every field, and ends with a digest of all of it, so
that a damaged or edited file is noticed. The digest is no signature: who changes a file on purpose can renew it. Files
that are too large, nested too deeply, or that say a field twice are refused before anything is made of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from incrowd.errors import DataError, IncrowdError
from incrowd.formats.staging import recover_commits
from incrowd.schemas.regular_files import open_regular
from incrowd.schemas.shapes import Choice, Fields, SchemaError, Shape, Text, Whole

DIGEST = Text(pattern="sha256:[0-9a-f]{64}", called="a digest such as sha256:0b5e...")
_MEGABYTE = 1 << 20
_MOST_REASON = 300  # characters


@dataclass(frozen=True)
class Document:
    """A kind of file.

    Args:
        kind: What the file says it is, such as "recoding".
        version: The format that this version of incrowd writes and reads.
        give: What to give instead of a file that is none, for messages.
        megabytes: How large a file may be.
    """

    kind: str
    version: int
    give: str
    megabytes: int

    def head(self) -> dict[str, Any]:
        return {"incrowd": self.kind, "format": self.version}

    def shape(self, fields: Mapping[str, Shape], **more: Any) -> Fields:
        """The schema of the whole file."""
        head: dict[str, Shape] = {"incrowd": Choice((self.kind,)), "format": Whole(self.version, self.version)}
        return Fields({**head, **fields, "digest": DIGEST}, **more)

    def sealed(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        document = {**self.head(), **fields}
        return {**document, "digest": digest_of(document)}

    def read(self, path: str | Path, shape: Shape) -> dict[str, Any]:
        """Read a file.

        Raises:
            DataError: It cannot be read, is of another kind or format, does not have the shape, or was changed.
        """
        document = self._parsed(path)
        if not isinstance(document, dict) or document.get("incrowd") != self.kind:
            self.refuse(path)
        version = document.get("format")
        if version != self.version and isinstance(version, int) and 0 <= version < 10_000:
            raise DataError(
                f"{path} is a {self.kind} of format {version}; this version reads format {self.version}; "
                "make the release again, or use the version that made it"
            )
        try:
            shape.check(document, "")
            digest = digest_of(document)
        except SchemaError as misfit:
            self.refuse(path, misfit)
        except UnicodeEncodeError:
            self.refuse(path, "it holds half a character")
        if digest != document["digest"]:
            raise DataError(f"{path} was changed after it was written: its digest is another one; {self.give}")
        return document

    def _parsed(self, path: str | Path) -> Any:
        recover_commits(Path(path).parent, only=Path(path))
        try:
            with open_regular(path) as file:
                data = file.read(self.megabytes * _MEGABYTE + 1)
        except OSError as error:
            raise DataError(f"cannot read the {self.kind} {path}: {error.strerror}; {self.give}") from None
        if len(data) > self.megabytes * _MEGABYTE:
            self.refuse(path, f"it is larger than {self.megabytes} megabytes")
        try:
            return json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
        except RecursionError:
            self.refuse(path, "it is nested too deeply")
        except ValueError:  # not JSON, not UTF-8, a key that comes twice, a number of thousands of digits
            self.refuse(path)

    def refuse(self, path: str | Path, reason: str | IncrowdError | SchemaError = "") -> NoReturn:
        text = str(reason).rstrip(".")
        text = text if len(text) <= _MOST_REASON else f"{text[:_MOST_REASON]}..."  # it may quote a value of any length
        why = f" ({text})" if text else ""
        raise DataError(f"{path} is not a {self.kind} written by incrowd{why}; {self.give}") from None


def digest_of(document: Mapping[str, Any]) -> str:
    """The digest of all fields but the digest itself, whatever their order and the blanks between them."""
    content = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table of which no key comes twice: two readers could take it for two different things."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key comes twice")
    return table


def _no_constant(kind: str) -> NoReturn:
    raise ValueError(f"{kind} is no JSON")
