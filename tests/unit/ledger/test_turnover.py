"""Who may leave, change or come: what decides says nothing of what these people had."""

import numpy as np
import pytest

from incrowd.ledger.turnover import Rows, turnover

NOBODY = np.zeros(0, np.int64)
CLASS = "xxxyyyzz"


def persons(numbers):
    return np.array([[0, number] for number in numbers], np.uint64).reshape(-1, 2).view("V16").ravel()


def rows(people, contents=None, classes=None, released=None, secrets=None):
    def codes(text):
        return {} if text is None else {"illness": np.array([ord(letter) for letter in text], np.int64)}

    contents = np.zeros(len(people), np.uint64) if contents is None else np.array(contents, np.uint64)
    classes = np.zeros(len(people), np.int64) if classes is None else np.array(classes)
    return Rows(persons(people), contents, classes, codes(released), codes(secrets))


def left(illnesses, who, l=2, k=3):
    """How many rows of a class of eight leave with those of these people; the others stay in the table."""
    stay = [person for person in range(len(illnesses)) if person not in who]
    now = rows(stay, released="".join(illnesses[p] for p in stay), secrets="".join(illnesses[p] for p in stay))
    found = turnover(rows(range(len(illnesses)), released=illnesses), now, rows([], released=""), k, {"illness": l})
    return int((~found.carried).sum())


@pytest.mark.parametrize("who", [(0, 1, 2), (0, 3, 6), (2, 3, 4)])
def test_three_of_a_class_stay_whatever_they_had(who):
    """Three of them have x: if only those stayed who all have the same, to stay would tell it."""
    assert left(CLASS, who) == 0


@pytest.mark.parametrize("who", [(0, 1, 2, 3), (3, 4, 5, 6), (0, 1, 6, 7)])
def test_four_of_a_class_leave_whatever_they_had(who):
    """No four have the same, nor have the other four."""
    assert left(CLASS, who) == 4


def test_those_who_stay_count_as_well():
    assert left("xxxxyyyz", (0, 1, 4, 5, 7), k=2) == 0  # of any three of them, all may have x
    assert left("xxxyyyzz", (0, 1, 2, 3), l=3) == 0  # of any four, all may have x and y


def test_whoever_comes_back_does_so_whatever_she_had():
    """Eight left together; some come back, among those of whom the same was released before."""
    for who, comes in (((0, 1, 2), 0), ((0, 3, 6), 0), ((0, 1, 2, 3), 4), ((0, 3, 6, 7), 4)):
        away = [person for person in range(8) if person not in who]
        own, others = ("".join(CLASS[person] for person in some) for some in (who, away))
        now = rows(who, classes=np.ones(len(who), np.int64), released=own, secrets=own)
        absent = rows(away, classes=np.ones(len(away), np.int64), released=others)
        found = turnover(rows([], released=""), now, absent, 3, {"illness": 2})
        assert int(found.entering.sum()) == comes
        assert int(found.waiting.sum()) == len(who) - comes


@pytest.mark.parametrize("seed", range(60))
def test_the_same_people_change_if_those_of_a_class_change_places(seed):
    """Nothing that is decided follows from which person of a class had which value."""
    draw = np.random.default_rng(seed)
    k, l, size = int(draw.integers(2, 4)), int(draw.integers(2, 4)), int(draw.integers(20, 60))
    fates = draw.choice(["stays", "leaves", "changes", "comes back", "stays away"], size, p=[0.3, 0.2, 0.2, 0.2, 0.1])
    before, here, away = (
        np.flatnonzero(np.isin(fates, some))
        for some in (("stays", "leaves", "changes"), ("stays", "changes", "comes back"), ("stays away",))
    )
    classes = draw.integers(0, 2, size) + 2 * np.isin(fates, ("comes back", "stays away"))
    illnesses, decided = draw.choice([*"wxyz"], size, p=[0.4, 0.3, 0.2, 0.1]), []
    for _ in range(4):
        for each in range(4):
            inside = np.flatnonzero(classes == each)
            illnesses[inside] = illnesses[draw.permutation(inside)]
        own, now, absent = ("".join(illnesses[some]) for some in (before, here, away))
        found = turnover(
            rows(before, classes=classes[before], released=own),
            rows(here, fates[here] == "changes", classes[here], now, now),
            rows(away, classes=classes[away], released=absent),
            k,
            {"illness": l},
        )
        decided.append([each.tolist() for each in (found.carried, found.entering, found.waiting)])
    assert all(each == decided[0] for each in decided)


def test_people_with_several_rows_who_have_enough_values_alone_may_leave():
    """Everyone has x and y: whoever leaves, both leave."""
    people = np.repeat(range(6), 2)
    before = rows(people, released="xy" * 6)
    now = rows(people[6:], released="xy" * 3, secrets="xy" * 3)
    found = turnover(before, now, rows([], released=""), 3, {"illness": 2})
    assert int((~found.carried).sum()) == 6
