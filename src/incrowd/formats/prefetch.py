"""Work on the next batch while this one is being used: reading, recoding and writing overlap on two cores or more.

Arrow and numpy let other threads run while they work, so threads are enough. Order, errors and results stay the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """The same items, each made while the one before it is being used: one waits, never more.

    An error comes up where its item would have come. If the user stops early, the item in the making is awaited, and
    `items` is closed if it can be.
    """
    end = object()
    try:
        with ThreadPoolExecutor(1, "incrowd-ahead") as pool:
            made = pool.submit(next, items, end)
            while (item := made.result()) is not end:
                made = pool.submit(next, items, end)
                yield item  # type: ignore[misc]
    finally:
        if isinstance(items, Generator):
            with contextlib.suppress(ValueError):  # a second signal while the item in the making is awaited
                items.close()
