import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.table.target_bins import BINS, bins_of, lower_bounds, places_in


class TestBins:
    def test_few_numbers_and_texts_count_as_they_are(self):
        assert bins_of([str(n) for n in range(20)], np.ones(20, int)) == ()
        assert bins_of([f"n{n}" for n in range(50)], np.ones(50, int)) == ()

    def test_many_numbers_become_ranges_of_about_equal_size(self):
        values = [str(n) for n in range(100)]
        assert bins_of(values, np.ones(100, int)) == ("<20", "[20-40)", "[40-60)", "[60-80)", ">=80")

    @given(st.dictionaries(st.floats(-1e6, 1e6), st.integers(1, 9), min_size=21, max_size=60))
    def test_every_number_is_in_the_bin_that_has_it(self, entries):
        values, counts = [repr(number) for number in entries], np.array(list(entries.values()))
        bins = bins_of(values, counts)
        if not bins:
            return
        assert 2 <= len(bins) <= BINS
        places = places_in([*values, None], (*bins, None))
        lows = lower_bounds((*bins, None))
        for value, place in zip(values, places, strict=False):
            assert lows[place] <= float(value)
            assert place + 1 == len(bins) or float(value) < lows[place + 1]
        assert places[-1] == len(bins)
        assert set(places[:-1]) == set(range(len(bins)))

    def test_labels_of_an_ordinary_target_are_no_bins(self):
        for labels in (("<=50K", ">50K"), ("<a", "[b"), ("a", "b"), ("<5",), ()):
            assert not len(lower_bounds(labels))


def test_a_release_says_that_its_target_was_binned():
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, 500)
    table = pa.table({"age": age, "sex": rng.choice(["f", "m"], 500), "income": age * 100 + rng.integers(0, 900, 500)})
    for method in ("tdr", "cover"):
        words = {"quasi_identifiers": ["age", "sex"], "k": 5, "target": "income", "keep": ["income"]}
        release = incrowd.anonymize(table, **words, method=method)
        assert any("the target 'income' has many numbers; they count as 5 ranges" in note for note in release.notes)
        assert release.measures.total.cm < 0.5
        assert release.data["income"].to_pylist().sort() == table["income"].to_pylist().sort()
