"""What a release must be, counted in plain Python from the rows that go out: no line of the product is used here."""

import datetime as dt
from collections import defaultdict
from decimal import Decimal, InvalidOperation

from tests.reference import privacy as reference

# Each promise: its words, and whether a class keeps it, by its values, the values of all released rows, and its people.
PROMISES = {
    "nothing more": ({}, lambda ills, whole, people: True),
    "l": ({"l": 2}, lambda ills, whole, people: reference.distinct_l(ills) >= 2),
    "l of 3": ({"l": 3}, lambda ills, whole, people: reference.distinct_l(ills) >= 3),
    "entropy_l": (
        {"entropy_l": 1.8},
        lambda ills, whole, people: 2.718281828459045 ** reference.entropy(ills) > 1.799999,
    ),
    "recursive_l": ({"recursive_l": (2, 2)}, lambda ills, whole, people: reference.is_recursive(ills, 2, 2)),
    "t": ({"t": 0.4, "t_distance": "equal"}, lambda ills, whole, people: reference.moved_equal(ills, whole) <= 0.4),
    "alpha": ({"alpha": 0.5}, lambda ills, whole, people: reference.largest_share(ills) <= 0.5),
    "harmless": (
        {"l": 2, "harmless": ["flu", "cold"]},
        lambda ills, whole, people: reference.distinct_l(ills, ("flu", "cold")) >= 2,
    ),
    "beta_likeness": ({"beta_likeness": 1.0}, lambda ills, whole, people: reference.largest_gain(ills, whole) <= 1),
    "enhanced_beta_likeness": (
        {"enhanced_beta_likeness": 1.0},
        lambda ills, whole, people: reference.is_enhanced_beta_like(ills, whole, 1.0),
    ),
    "delta_disclosure": (
        {"delta_disclosure": 1.5},
        lambda ills, whole, people: reference.largest_factor(ills, whole) < 1.5,
    ),
}
# Records can join a crowd that keeps these, and it keeps them no longer: `optimal` leaves nobody out then.
NOT_UPWARD_CLOSED = (
    "entropy_l",
    "recursive_l",
    "t",
    "alpha",
    "beta_likeness",
    "enhanced_beta_likeness",
    "delta_disclosure",
)


def problems(case, released):
    """What is wrong with released rows; each row carries the number of the original one.

    Args:
        case: The table and what was asked for, see `tables.Case`.
        released: The rows as dicts.
    """
    found = []
    numbers = [int(row["row"]) for row in released]
    if len(set(numbers)) != len(numbers):
        return ["a row was released twice"]
    rows = [case.rows[number] for number in numbers]
    complete = [row for row in case.rows if case.missing != "drop" or not _lacks(row, case.columns)]
    if any(case.missing == "drop" and _lacks(row, case.columns) for row in rows):
        found.append("a row with a missing value was released")
    if len(complete) - len(rows) > case.budget:
        found.append(f"{len(complete) - len(rows)} of {len(case.rows)} records were left out")
    if set(released[0]) != {*case.columns, *case.kept}:
        found.append(f"the columns are {sorted(released[0])}")
    for new, old in zip(released, rows, strict=True):
        for name in case.columns:
            if not stands_for(new[name], old[name], case.kinds[name], case.trees.get(name)):
                found.append(f"{name}: {new[name]!r} was released for {old[name]!r}")
        if not all(is_kept(new[name], old[name]) for name in case.kept):
            found.append("a value was changed that had to stay")
    for qid, k in case.quasi_identifiers:
        classes = defaultdict(list)
        for new, old in zip(released, rows, strict=True):
            classes[tuple(text_of(new[name]) for name in qid)].append(old)
        for members in classes.values():
            if not keeps(case, members, rows, k):
                found.append(f"{qid}: a class of {len(members)} is not protected")
    return sorted(set(found))


def keeps(case, members, rows, k):
    """Whether a class of records is as well protected as was asked for."""
    count = len(members) if case.unit is None else len({member[case.unit] for member in members})
    ills, whole = ([row["ill"] or "" for row in some] for some in (members, rows))
    _, holds = PROMISES[case.promise]
    return count >= k and holds(ills, whole, None)


def _lacks(row, columns):
    return any(row[name] is None for name in columns)


def text_of(value):
    """A value as a text, the same in every format."""
    if value is None or value != value or value == "":
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(value)


def is_kept(new, old):
    """Whether a value is still what it was, in whatever way a kind of file writes it."""
    if text_of(new) == text_of(old):
        return True
    if new in (None, "") or old is None or isinstance(old, str):
        return False
    if isinstance(old, bool):
        return text_of(new).lower() in (("true", "1") if old else ("false", "0"))
    read = dt.datetime.fromisoformat if isinstance(old, dt.datetime) else dt.date.fromisoformat
    return (read if isinstance(old, dt.date) else type(old))(str(new)) == old


def stands_for(label, value, kind, tree):
    """Whether a released value stands for an original one, as anyone would read it."""
    if label is None or label != label or label == "":
        return value is None
    label = text_of(label)
    if label == "*":
        return True
    members = label[1:-1].split(", ") if label.startswith("{") else []
    if value is None:
        return "missing" in members
    if label == "known" or label == text_of(value) or any(_same(one, value) for one in members):
        return True
    if kind == "tree":
        return label in tree[value]
    if kind == "prefix":
        return label.endswith("*") and value.startswith(label.rstrip("*"))
    if kind in ("word", "flag"):
        return label.lower() == text_of(value)
    return _within(label, value)


def _same(text, value):
    try:
        return text == text_of(value) or (not isinstance(value, str) and _read(value)(text) == value)
    except (ValueError, InvalidOperation):
        return False


def _read(value):
    if isinstance(value, dt.datetime):
        return lambda text: dt.datetime.fromisoformat(text)
    return dt.date.fromisoformat if isinstance(value, dt.date) else Decimal


def _within(label, value):
    dated = isinstance(value, dt.date)
    if dated and len(label) in (4, 7, 10) and label[0] in "12":  # a year, a month of one, or a day
        return value.isoformat().startswith(label)
    if label[0] not in "<>[":
        return _same(label, value)
    read = _read(value)
    value = value if dated else Decimal(str(value))
    if label.startswith(">="):
        return value >= read(label[2:])
    if label.startswith("<="):
        return value <= read(label[2:])
    if label.startswith("<"):
        return value < read(label[1:])
    low, high = label[1:-1].split(" to " if " to " in label else "-")
    if dated and len(low) == 4:  # years
        return int(low) <= value.year < int(high) + label.endswith("]")
    return read(low) <= value and (value < read(high) or (label.endswith("]") and value == read(high)))
