"""XML files of few kinds of elements as records: no document type, no entities, few levels, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from incrowd.errors import DataError

MOST_CHARACTERS = 1 << 24
_MOST_DEPTH = 20
_MOST_ELEMENTS = 1_000_000


@dataclass
class Element:
    """An element with its text and the elements in it."""

    name: str
    parts: list[str] = field(default_factory=list)
    inner: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def first(self, name: str, otherwise: str = "") -> str:
        """The text of the first inner element of a name."""
        return next((each.text for each in self.inner if each.name == name), otherwise)

    def all(self, name: str) -> Iterator[Element]:
        """Every element of a name, however deep."""
        for each in self.inner:
            if each.name == name:
                yield each
            yield from each.all(name)


def parsed_xml(text: str, where: str) -> Element:
    """The element that a file consists of.

    Raises:
        DataError: It is not XML, has a document type or entities, or is nested as no project is.
    """
    top = Element("")
    stack, count = [top], 0

    def refuse(*_: Any) -> NoReturn:
        raise DataError(
            f"{where} has a document type or entities, which projects do not have; give a project as it was saved"
        )

    def start(name: str, _: Any) -> None:
        nonlocal count
        count += 1
        if len(stack) > _MOST_DEPTH or count > _MOST_ELEMENTS:
            raise DataError(f"{where} has more elements than any project; give a project as it was saved")
        stack.append(Element(name))
        stack[-2].inner.append(stack[-1])

    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop() and None
    parser.CharacterDataHandler = lambda data: stack[-1].parts.append(data)
    try:
        parser.Parse(text.encode(), True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise DataError(f"{where} is not XML ({error}); save the project again") from None
    return top
