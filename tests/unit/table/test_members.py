"""Whoever has rows in several classes counts once, against sets in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.table.members import Members

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=30)


@given(ROWS, st.sets(st.integers(0, 5)), st.booleans())
def test_each_member_counts_once(rows, chosen, known):
    classes, persons = (np.array(column) for column in zip(*rows, strict=True))
    members = Members(classes, 6, persons if known else None)
    who = persons.tolist() if known else list(range(len(rows)))
    crowds = [{w for w, c in zip(who, classes.tolist(), strict=True) if c == each} for each in range(6)]
    everyone = sorted(set(who))
    mask = np.isin(np.arange(6), list(chosen))
    assert members.number == len(everyone)
    assert members.sizes.tolist() == list(map(len, crowds))
    assert members.counted(mask) == len(set().union(*(crowds[each] for each in chosen))) <= members.number
    assert members.smallest().tolist() == [min(len(c) for c in crowds if person in c) for person in everyone]
    values = np.linspace(0, 1, 6)
    assert members.worst(values).tolist() == [max(values[c] for c in range(6) if p in crowds[c]) for p in everyone]
    assert members.expected(mask.astype(float)) == pytest.approx(members.counted(mask))
    assert members.expected(values) <= members.number + 1e-9
