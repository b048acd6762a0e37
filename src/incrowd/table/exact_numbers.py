"""Numbers without rounding: read from text, brought into one order, and written again.

Numbers are an array of int64 or float64 where that tells all of them apart, and of Python's integers or decimals where
it does not. A float is the number that it is written as: 0.1 is a tenth, in a frame as in a text. What a number
is written as depends on nothing but that number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.table.arrays import filled, text_array, to_arrow, to_numpy

Numbers = npt.NDArray[Any]

_WHOLE = r"^-?[0-9]+$"
_SHORT = r"^-?[0-9.]{1,15}$"  # floats tell decimal numbers of 15 digits apart
_SAFE = 1 << 53  # up to here every whole number is a float
_PLAIN = 10**22  # whole numbers below are written without an exponent
_MOST_DIGITS = 308  # of a whole number: as far as floats reach
_FINE = Context(prec=80)  # more digits than any decimal type has


class NumberRangeError(ValueError):
    """A number is larger or smaller than a number may be; its place is the first argument."""


def parse(texts: pa.Array) -> Numbers:
    """Texts that look like numbers as numbers."""
    if pc.any(pc.starts_with(texts, "+")).as_py():
        texts = pc.replace_substring_regex(texts, r"^\+", "")
    if pc.all(pc.match_substring_regex(texts, _WHOLE)).as_py() is not False:
        try:
            return to_numpy(texts.cast(pa.int64()))
        except pa.ArrowInvalid:
            _check_length(texts)
            return array_of([int(text) for text in texts.to_pylist()])
    floats = texts.cast(pa.float64())
    numbers = to_numpy(floats)
    if len(endless := np.flatnonzero(~np.isfinite(numbers))):
        raise NumberRangeError(int(endless[0]))
    sure = pc.or_(pc.match_substring_regex(texts, _SHORT), pc.equal(floats.cast(pa.string()), texts))
    doubtful = np.flatnonzero(~to_numpy(sure))
    written = [Decimal(text) for text in texts.take(to_arrow(doubtful)).to_pylist()]
    for place, number in zip(doubtful, written, strict=True):
        if number and not numbers[place]:
            raise NumberRangeError(int(place))
    if all(number == Decimal(repr(numbers[place].item())) for place, number in zip(doubtful, written, strict=True)):
        return numbers + 0.0  # no negative zero
    exact = exactly(numbers)
    exact[doubtful] = written
    return exact


def _check_length(texts: pa.Array) -> None:
    long = to_numpy(pc.greater(pc.utf8_length(texts), _MOST_DIGITS))
    if long.any():
        raise NumberRangeError(int(np.flatnonzero(long)[0]))


def array_of(numbers: Sequence[Any]) -> Numbers:
    """Python's numbers as an array, of int64 or float64 if that tells them apart."""
    kinds = {type(number) for number in numbers}
    if kinds <= {float}:
        return np.array(numbers, np.float64)
    if kinds <= {int} and all(-(1 << 63) <= number < 1 << 63 for number in numbers):
        return np.array(numbers, np.int64)
    found = np.empty(len(numbers), object)
    found[:] = numbers
    return found


def exactly(numbers: Numbers) -> Numbers:
    found = np.empty(len(numbers), object)
    found[:] = [Decimal(repr(number)) if isinstance(number, float) else number for number in numbers.tolist()]
    return found


def is_whole(numbers: Numbers) -> bool:
    """Whether all of them are whole; of floats only those that mean one whole number."""
    if numbers.dtype.kind == "f":
        return bool(((numbers == np.floor(numbers)) & (np.abs(numbers) < _SAFE)).all())
    if numbers.dtype.kind in "iu":
        return True
    return all(number == int(number) for number in numbers.tolist())


def as_whole(numbers: Numbers) -> Numbers:
    if numbers.dtype.kind in "iuf":
        return numbers.astype(np.int64, copy=False)
    return array_of([int(number) for number in numbers.tolist()])


def as_fractional(numbers: Numbers) -> Numbers:
    """Numbers as floats, or as decimals where floats would not tell them apart."""
    if numbers.dtype.kind == "f":
        return numbers + 0.0  # no negative zero
    if numbers.dtype.kind in "iu" and (not len(numbers) or max(-int(numbers.min()), int(numbers.max())) <= _SAFE):
        return numbers.astype(np.float64)
    found = np.empty(len(numbers), object)
    found[:] = [number if isinstance(number, Decimal) else Decimal(number) for number in exactly(numbers).tolist()]
    return found


def together(first: Any, second: Any) -> tuple[Numbers, Numbers]:
    """Two arrays, or sequences of Python's numbers, in a form in which they can be compared without rounding."""
    a, b = (given if isinstance(given, np.ndarray) else array_of(given) for given in (first, second))
    if a.dtype == b.dtype or not len(a) or not len(b):
        return a, b
    if all(array.dtype.kind == "f" or is_small(array) for array in (a, b)):
        return a.astype(np.float64), b.astype(np.float64)
    return exactly(a), exactly(b)


def is_small(numbers: Numbers) -> bool:
    return numbers.dtype.kind == "i" and bool(((numbers >= -_SAFE) & (numbers <= _SAFE)).all())


def places(ascending: Any, numbers: Any, side: Literal["left", "right"] = "left") -> npt.NDArray[np.int64]:
    """Where numbers belong among ascending ones, as `np.searchsorted` has it, but without rounding."""
    known, sought = together(ascending, numbers)
    return np.asarray(np.searchsorted(known, sought, side=side), np.int64)


def as_fraction(number: Any) -> Fraction:
    return Fraction(repr(number) if isinstance(number, float) else number)


def text_of_number(number: Any) -> str:
    """A number as it is shown: whole ones without a point, others with as many digits as tell them apart."""
    plain = number.item() if isinstance(number, np.generic) else number
    if isinstance(plain, int):
        return str(plain)
    written = Decimal(repr(plain)) if isinstance(plain, float) else plain
    if abs(written) < _PLAIN and written == int(written):
        return str(int(written))
    as_float = float(written)
    return repr(as_float) if Decimal(repr(as_float)) == written else str(written.normalize(_FINE))


def texts_of_floats(values: pa.Array) -> pa.Array:
    """Floats as they are shown, each for itself; not-a-number and infinity as Arrow writes them, null stays null."""
    texts = values.cast(pa.string())
    return _replaced(texts, pc.or_(pc.match_substring(texts, "e+"), pc.match_substring_regex(texts, "e-|^-0$")))


def texts_of_decimals(values: pa.Array) -> pa.Array:
    """Decimals as they are shown, each for itself: without needless zeros, whatever the type of the column."""
    texts = values.cast(pa.string())
    texts = pc.replace_substring_regex(texts, r"^(-?[0-9]+\.[0-9]*?)0+$", r"\1")
    texts = pc.replace_substring_regex(texts, r"\.$", "")
    return _replaced(texts, pc.match_substring_regex(texts, "E|^-0$"))


def _replaced(texts: pa.Array, odd: pa.Array) -> pa.Array:
    odd = filled(odd, False)
    if not pc.any(odd).as_py():
        return texts
    shown: Iterable[str] = (text_of_number(Decimal(text)) for text in texts.filter(odd).to_pylist())
    return pc.replace_with_mask(texts, odd, text_array(shown))


def as_json(numbers: Iterable[Any]) -> list[Any]:
    """Numbers as JSON has them; decimals, which a reader could round, as text."""
    return [str(number) if isinstance(number, Decimal) else number for number in numbers]


def from_json(numbers: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(Decimal(number) if isinstance(number, str) else number for number in numbers)
