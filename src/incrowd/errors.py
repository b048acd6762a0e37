"""The errors that a user can meet, in one hierarchy.

Every message is one line that says what is wrong, where, what was found and what to do. A message never shows more of a
person's data than the one value that has to be corrected. `exit_code` is the exit code of the command line.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

MOST_SHOWN = 100  # characters of a wrong value in a message
MOST_SAID = 1000  # characters of a message: labels of files from outside may be of any length


class IncrowdError(Exception):
    """Base of every error that incrowd raises on purpose."""

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(message if len(message) <= MOST_SAID else f"{message[:MOST_SAID]}...")


class PolicyError(IncrowdError):
    """The policy contradicts itself or the table."""

    exit_code = 2


class UnknownNameError(PolicyError):
    """A name in the policy is unknown.

    Args:
        what: What the name should have been, such as "column" or "method".
        name: The name that was given.
        known: The names that exist.
        where: Where the name was looked up, such as a file.
    """

    def __init__(self, what: str, name: str, known: Iterable[str], where: str = "") -> None:
        name, known = str(name), list(known)
        place = f" in {where}" if where else ""
        hint = did_you_mean(name[:MOST_SHOWN], known)
        name = name if len(name) <= MOST_SHOWN else f"{name[:MOST_SHOWN]}..."
        listed = f" {what.capitalize()}s" if hint else f"; {what}s"  # a hint ends in a question mark
        super().__init__(f"no {what} '{name}'{place}{hint}{listed}: {shorten(known, 20) or 'none'}")


class NamesPeopleError(PolicyError):
    """Columns would leave as they are and may name people."""

    def __init__(self, columns: Mapping[str, str], where: str, typed: str) -> None:
        self.columns = dict(columns)
        super().__init__(
            f"columns of {where} that may name people would be released as they are: {self.reasons}; drop them "
            f"(--identifiers {typed}, in Python identifiers), or keep one on purpose (--keep {typed}, in Python keep)"
        )

    @property
    def reasons(self) -> str:
        return shorten([f"'{name}' {reason}" for name, reason in self.columns.items()], 8)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), str(self), self.columns)


def _again(kind: type[NamesPeopleError], text: str, columns: dict[str, str]) -> NamesPeopleError:
    error = kind.__new__(kind, text)
    error.args, error.columns = (text,), columns
    return error


class ReleaseWarning(UserWarning):
    """What is risky in a release, beside what it promises; also in `Release.warnings`."""


class MissingPackageError(IncrowdError):
    """What an extra of this package brings is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what}; run: pip install 'incrowd[{extra}]'")


class DataError(IncrowdError):
    """The table cannot be used as it is: unreadable, empty, ragged, or with values that the policy does not allow."""


class TaxonomyError(DataError):
    """A taxonomy is not a tree, or does not know a value of its column."""


class OutputError(IncrowdError):
    """The release cannot be written where it should go."""


class NotAnonymousError(IncrowdError):
    """Rows that should be k-anonymous are not."""

    exit_code = 3


class InfeasibleError(IncrowdError):
    """No release can satisfy the policy."""

    exit_code = 4


class TimeLimitError(IncrowdError):
    """The time limit was reached before there was anything to release.

    Args:
        reason: Why the run ended.
        seconds: The time limit.
    """

    def __init__(self, reason: str = "time limit", seconds: float | None = None) -> None:
        ended = f"no release within {seconds:g} s" if seconds is not None and reason == "time limit" else reason
        super().__init__(f"{ended}; allow more time, or use a method that can stop early (see 'incrowd methods')")


class CancelledError(IncrowdError):
    """The run was cancelled."""

    exit_code = 130

    def __init__(self, message: str = "cancelled; no file was written") -> None:
        super().__init__(message)


NO_MEMORY = "not enough memory; use fewer rows or columns, a method that needs less (such as mondrian), or more memory"
_SHORTAGES = ("cannot allocate", "can't allocate", "failed to map segment", "can't start new thread", "out of memory")
_LOST = ("error return without exception set", "returned null without setting an exception")
_LITTLE = 1 << 26  # bytes: libraries that cannot be loaded want less


def lacks_memory(error: BaseException) -> bool:
    """Whether an error comes from a lack of memory: libraries that cannot be loaded have their own words for it."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    said = str(error).lower()
    if isinstance(error, ImportError | OSError | RuntimeError) and any(words in said for words in _SHORTAGES):
        return True
    if isinstance(error, SystemError) and any(words in said for words in _LOST) and _is_scarce():
        return True
    before = error.__cause__ or error.__context__
    return before is not None and lacks_memory(before)


def _is_scarce() -> bool:
    """Whether there is next to no memory left: Python itself may then lose the error that says so."""
    try:
        bytearray(_LITTLE)
    except MemoryError:
        return True
    return False


_ENDINGS: list[KeyboardInterrupt | SystemExit] = []  # of the command that runs


def end(ending: KeyboardInterrupt | SystemExit) -> NoReturn:
    """Raise what ends a command in answer to a signal; remembered, since a library that is being loaded may lose it."""
    _ENDINGS.append(ending)
    raise ending


def forget_endings() -> None:
    _ENDINGS.clear()


def ending_behind(error: BaseException | None) -> KeyboardInterrupt | SystemExit | None:
    """The interrupt, or the end of the process, that became another error.

    A class that is being made wraps them. Compiled libraries that are being loaded lose them, and cannot be imported.
    """
    lost = None
    while error is not None and not isinstance(error, KeyboardInterrupt | SystemExit):
        if isinstance(error, ImportError | SystemError) and _ENDINGS:
            lost = _ENDINGS[-1]
        error = error.__cause__ or error.__context__
    return error or lost


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to a name, or None if none is similar."""
    by_lower = {each.lower(): each for each in reversed(list(known))}
    found = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint at the most similar known name, or an empty text."""
    close = closest(name, known)
    return f"; did you mean '{close}'?" if close else ""


def shorten(names: Sequence[str], most: int = 5) -> str:
    """At most `most` names, separated by commas, and how many were left out."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def many(number: int, one: str, more: str = "") -> str:
    """A number and its noun: 1 record, 2 records."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def shown(value: Any) -> str:
    """A wrong value in one line that is not too long, whatever it is."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # repr of an integer of thousands of digits raises, and so may that of a stranger's object
        text = f"an {type(value).__name__} that is too large to show" if isinstance(value, int) else "something unusual"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def shown_type(kind: object) -> str:
    """A type of Arrow in one line that is not too long, however deeply it is nested."""
    text = str(kind)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
