"""The count of histories over several releases, on releases written out by hand."""

import numpy as np
import pytest

from incrowd.errors import NotAnonymousError
from incrowd.verification.histories import Seen, count_histories, require_together


def seen(persons, classes, illnesses="", people=2, l=None, first=None, last=None):
    """A release: a letter per row for its person, its class and its illness; a digit for its first and last release."""
    columns = {"illness": np.frombuffer(illnesses.encode(), np.uint8).astype(np.int64)} if l else {}
    values = {"illness": l} if l else {}
    classes = np.frombuffer(classes.encode(), np.uint8).astype(np.int64)
    stays = [np.array([*map(int, digits or "1" * len(persons))]) for digits in (first, last)]
    return Seen(np.array([letter.encode() for letter in persons], "S16"), classes, *stays, columns, people, values)


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
        ([seen("aaabbbccdd", "XYZXYZXYXY")], 0),
        ([seen("aaabbbccdd", "XYZXYWXYXY")], 2),
        ([seen("abcdef", "XXXXXX", first="111122", last="222222")], 0),
        ([seen("abcde", "XXXXX", first="11112", last="22222")], 1),  # one who joins
        ([seen("abcd", "XXXX", first="1111", last="2221")], 1),  # one who leaves
        ([seen("aabbcd", "XYXYXX", first="121211", last="121222")], 0),  # two who change
        ([seen("abcdef", "XXXXXX", "xyxyxx", l=2, first="111122", last="222222")], 2),
    ],
)
def test_people_who_share_their_history_with_too_few(releases, few):
    assert count_histories(releases) == few


def test_the_refusal_says_for_how_many():
    require_together(0)
    with pytest.raises(NotAnonymousError, match="the crowd of 3 people would be too small"):
        require_together(3)
    with pytest.raises(NotAnonymousError, match="for 2 people releases that went to different recipients"):
        require_together(3, 2)
