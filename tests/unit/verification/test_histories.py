"""The count of histories over several releases, on releases written out by hand."""

import numpy as np
import pytest

from incrowd.errors import NotAnonymousError
from incrowd.verification.histories import Seen, count_histories, require_together


def seen(persons, classes, illnesses="", people=2, l=None):
    """A release: a letter per row for its person, its class and its illness."""
    columns = {"illness": np.frombuffer(illnesses.encode(), np.uint8).astype(np.int64)} if l else {}
    values = {"illness": l} if l else {}
    classes = np.frombuffer(classes.encode(), np.uint8).astype(np.int64)
    return Seen(np.array([letter.encode() for letter in persons], "S16"), classes, columns, people, values)


@pytest.mark.parametrize(
    ("releases", "few"),
    [
        ([seen("abcd", "XXYY")], 0),
        ([seen("abcd", "XXYY"), seen("abcdef", "XXYYXX")], 0),
        ([seen("abcd", "XXYY"), seen("abcde", "XXYYX")], 1),  # one who joins
        ([seen("abcd", "XXXX"), seen("abc", "XXX")], 1),  # one who leaves
        ([seen("abcd", "XXXX"), seen("abcd", "XXYZ")], 2),  # another view
        ([seen("abcd", "XXXX"), seen("abcd", "XXYY")], 0),
        ([seen("abcd", "XXXX", people=3), seen("abcd", "XXYY")], 4),  # the larger promise counts
        ([seen("abcd", "XXXX", "xyxy", l=2), seen("abcd", "XXYY")], 0),
        ([seen("abcd", "XXXX", "xxyy", l=2), seen("abcd", "XXYY")], 4),
        ([seen("aabb", "XYXY"), seen("aabb", "XYXY")], 0),  # people with several rows
        ([seen("aabbc", "XYXYX"), seen("aabbc", "XYXYX")], 1),
    ],
)
def test_people_who_share_their_history_with_too_few(releases, few):
    assert count_histories(releases) == few


def test_the_refusal_says_for_how_many():
    require_together(0)
    with pytest.raises(NotAnonymousError, match="the crowd of 3 people would be too small"):
        require_together(3)
