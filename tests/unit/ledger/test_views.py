"""What earlier releases, beside each other, leave of everyone's crowd; the witness counts the same."""

import numpy as np
import pyarrow as pa
import pytest

from incrowd.ledger.outgoing import _seen
from incrowd.ledger.store import HISTORIES, LAST, PERSONS, Entry, persons_column
from incrowd.ledger.views import torn
from incrowd.verification.histories import count_histories


def told(number, people, classes, illnesses, k, l=None):
    """A release: a digit for each person, a letter for her class and her illness."""
    quasi = [{"attributes": ["age"], "k": k}]
    policy = {"quasi_identifiers": quasi, "protections": {"illness": {"l": l}} if l else {}}
    size = len(people)
    entry = Entry(number, "now", "", policy, ("age", "illness"), "sha256:" + "0" * 64, None, size, size)
    hashes = np.array([[1, int(person)] for person in people], np.uint64).view("V16").ravel()
    table = pa.table({"age": [*classes], "illness": [*illnesses], PERSONS: persons_column(hashes)})
    histories = pa.array([ord(letter) for letter in classes], pa.int64())
    return entry, table.append_column(HISTORIES, histories).append_column(LAST, pa.array([number] * size))


@pytest.mark.parametrize(
    ("first", "second", "k", "few"),
    [
        (("0123", "AAAA", "xxyy", 2), ("0123", "BBCC", "xxyy", 2), 2, 0),
        (("0123", "AAAA", "xxyy", 2), ("0123", "BBCC", "xxyy", 2), 3, 4),  # pairs
        (("0123", "AAAA", "xxyy", 2, 2), ("0123", "BBCC", "xxyy", 2), 2, 4),  # pairs that are alike
        (("0123", "AAAA", "xxyy", 2), ("0123", "BCBC", "xxyy", 2, 2), 2, 0),
        (("0123", "AABB", "xyxy", 2), ("012345", "CCCCDD", "xyxyxx", 2, 2), 2, 2),  # of whom the first says nothing
        (("0123", "AAAA", "xxyy", 2), ("012", "BBB", "xxy", 2), 2, 1),  # one is missing
        (("0145", "AABB", "xyxy", 2, 2), ("0123", "CCDD", "xyxy", 2), 2, 0),  # two of each are only in one
    ],
)
def test_how_many_share_what_was_released_with_too_few(first, second, k, few):
    releases = [told(number, *own) for number, own in enumerate((first, second), 1)]
    assert torn(releases, k) == few
    seen = [
        _seen(
            rows, {**entry.policy, "quasi_identifiers": [{"attributes": ["age"], "k": k}]}, *[rows[LAST].to_numpy()] * 2
        )
        for entry, rows in releases
    ]
    assert count_histories(seen) == few
