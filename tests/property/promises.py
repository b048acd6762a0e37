"""What every recoding promises, whatever search made it."""

import json
import re

from incrowd.recodings.attributes.cut import Cut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.partition import Partition


def check_cells(problem, recoding):
    """Every value, and every one that a public range allows, has exactly one released value."""
    for column in problem.columns:
        attribute = recoding[column.name]
        assert len(set(attribute.labels)) == len(attribute.labels)
        if isinstance(attribute, Cut):
            for path in attribute.taxonomy.paths():
                assert len(set(path) & set(attribute.labels)) == 1
        elif isinstance(attribute, Disclosure):
            assert set(attribute.shown) <= set(column.values)
        elif isinstance(attribute, Partition):
            members = [value for block in attribute.blocks for value in block]
            assert len(set(members)) == len(members)
            assert set(members) >= set(column.values)
        else:
            shown = [label for label in attribute.labels if label is not None]
            exact = getattr(attribute, "exact", ())  # unseen numbers go with the exact one beside them
            for value in {*column.values, *(() if exact else column.domain or ())} - {None}:
                assert [contains(label, value) for label in shown].count(True) == 1


def check_json(problem, recoding):
    """A recoding is the same after a trip through JSON, and releases the same."""
    again = type(recoding).from_json(json.loads(json.dumps(recoding.to_json())))
    assert again == recoding
    assert problem.release(again) == problem.release(recoding)


def contains(label, number):
    """Whether the label of an interval covers a number, as anyone would read it."""
    if label in ("*", "known"):
        return True
    if label[0] == "<":
        return number < float(label[1:])
    if label[:2] == ">=":
        return number >= float(label[2:])
    if match := re.fullmatch(r"\[(\S+?)(?:-| to )(\S+)([])])", label):
        low, high, end = match.groups()
        return float(low) <= number < float(high) or (end == "]" and number == float(high))
    return number == float(label)
