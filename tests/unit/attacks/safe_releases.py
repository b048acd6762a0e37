"""Releases without a leak for the attacks that most tables have nothing for, one per seed."""

import numpy as np
import pyarrow as pa
from tests.unit.attacks.test_ten_leaks import PEOPLE, people, played, safe

from incrowd.attacks.attack import attack

FEW = 6  # records whose tables are all enumerated
SAMPLE = 40  # records that are released again


def untouched_columns_of_few_values(seed):
    """Two columns of two and three values in crowds of about 100."""
    original, rng = people(seed), np.random.default_rng([seed, 8])
    original |= {"sex": rng.choice(["f", "m"], PEOPLE), "shift": rng.choice(["early", "late", "night"], PEOPLE)}
    del original["ill"]
    only = ["singling-out", "auxiliary", "membership"]
    return played(original, {**safe(original), "zip": ["*"] * PEOPLE}, sensitive=[], only=only, seed=seed)


def people_who_are_left_out_for_their_age(seed):
    original = people(seed)
    stay = original["age"] < 70
    release = {name: np.asarray(values)[stay] for name, values in safe(original).items()}
    return played(original, release, only=["left-out"], seed=seed)


def boxes_that_do_not_overlap(seed):
    """As a partition gives them: which labels of the one column there are depends on the other."""
    original = people(seed)
    codes = [f"[{code // 2000 * 2000}-{code // 2000 * 2000 + 2000})" for code in original["zip"].tolist()]
    release = safe(original)
    old = original["age"] >= 50
    return played(original, {**release, "zip": np.where(old, codes, release["zip"])}, only=["downcoding"], seed=seed)


def a_method_that_looks_at_nobody(seed):
    """Fixed ranges: whatever a guess is, the release is the same."""
    rng, size = np.random.default_rng(seed), FEW if seed % 2 else SAMPLE
    table = pa.table({"age": rng.integers(20, 40, size), "ill": rng.choice(["no", "yes"], size)})

    def again(guess):
        shown = [f"[{age // 10 * 10}-{age // 10 * 10 + 10})" for age in guess["age"].to_pylist()]
        return pa.table({"age": shown, "ill": guess["ill"]})

    words = {"quasi_identifiers": ["age"], "k": 2, "sensitive": ["ill"], "seed": seed}
    return attack(again(table), table, again=again, only=["posterior" if seed % 2 else "last-record"], **words)


SAFE = (
    untouched_columns_of_few_values,
    people_who_are_left_out_for_their_age,
    boxes_that_do_not_overlap,
    a_method_that_looks_at_nobody,
)


def alarms_of(kind, seeds):
    """The attacks that raised an alarm on safe releases of a kind; every attack has something to attack."""
    found = [kind(seed) for seed in seeds]
    assert not any(each.skipped for each in found)
    return [leak.attack.name for each in found for leak in each.leaks]
