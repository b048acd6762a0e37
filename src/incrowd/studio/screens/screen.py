"""What a screen is: one purpose, one module, one template; registered in `screens`, and nothing else has to know it.

`GET /<name>` shows it. `GET /<name>/<part>` gives a piece of it, for pages that fill in later. `POST /<name>/<action>`
changes something and gives the screen again, with what was wrong if something was; htmx puts it in place. A screen or a
piece that shows one of several things, such as one column, has a number after its address, and "place" in its forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from incrowd.errors import IncrowdError, PolicyError

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from incrowd.studio.studio import Studio

Values = dict[str, Any]
OUT_OF_DATE = "this page is out of date; reload it"


class Form:
    """What a page has sent: names and texts, each name perhaps several times."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def one(self, name: str, default: str = "") -> str:
        found = self.all(name)
        return found[-1] if found else default

    def all(self, name: str) -> list[str]:
        return [text for key, text in self._pairs if key == name]

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self._pairs)

    def place(self, name: str, size: int) -> int:
        """A number that counts from 0 up to a size."""
        text = self.one(name)
        if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) < size):
            raise PolicyError(OUT_OF_DATE)
        return int(text)


class PlacedError(PolicyError):
    """Something that is wrong at one place of a screen, and is said there."""

    def __init__(self, message: str, at: str) -> None:
        super().__init__(message)
        self.at = at


@contextmanager
def said_at(place: str) -> Iterator[None]:
    """What is wrong within is said at one place of the screen."""
    try:
        yield
    except IncrowdError as error:
        raise PlacedError(str(error), place) from None


Show = Callable[["Studio"], Values]
ShowAt = Callable[["Studio", int], Values]
Act = Callable[["Studio", Form], str | None]


@dataclass(frozen=True)
class Part:
    """A piece of a screen: its template and the values for it; for one of several, by the number in its address."""

    template: str
    show: Show | None = None
    show_at: ShowAt | None = None


@dataclass(frozen=True)
class Screen:
    """A screen.

    Args:
        name: Its address and its template.
        title: What people call it.
        about: What it is for, in one sentence.
        show: The values for its template.
        actions: What can be done on it; each may give a sentence that is read out.
        parts: Pieces that are shown by themselves.
        needs: What must be there first: nothing, "table" or "policy".
        done: Whether there is nothing left to do here, for the mark in the navigation.
        follows: Tasks whose results it shows; a page shows them anew when there are others.
        routes: Other addresses of it, such as files to download.
        show_at: The same for one of several, by the number in its address.
    """

    name: str
    title: str
    about: str
    show: Show | None
    actions: Mapping[str, Act] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    needs: str = ""
    done: Callable[[Studio], bool] = lambda studio: False
    follows: tuple[str, ...] = ()
    routes: Callable[[Studio], list[BaseRoute]] = lambda studio: []
    show_at: ShowAt | None = None

    @property
    def template(self) -> str:
        return f"screens/{self.name}.html"


def shown_by(shown: Screen | Part, studio: Studio, place: int | None) -> Values:
    """The values for a template; without a number, of the first of several."""
    if shown.show_at is not None:
        return shown.show_at(studio, place or 0)
    assert shown.show is not None
    return shown.show(studio)
