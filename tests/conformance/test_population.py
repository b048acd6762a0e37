"""What every method promises against a population: enough people for every class, not too many of them released.

Of a method that recodes values one by one, everyone counts who would be released as the class is, whatever their
combination of values; of a local one, those with the original tuples of the class.
"""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.tables import covers
from tests.examples import examples, spread
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.errors import InfeasibleError, PolicyError
from incrowd.privacy.population import POPULATION, DeltaPresence, KMap
from incrowd.table.class_counts import ClassCounts, Histogram

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

OPTIONS = {"genetic": {"population": 8, "patience": 10, "evaluations": 40}, "optimal": {"suppress": 0}}
PERSON = st.tuples(st.integers(1, 5), st.sampled_from(["f", "m", None]))
SAMPLE = st.lists(PERSON, min_size=3, max_size=14)
OTHERS = st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["f", "m", "x", None])), max_size=20)


def table(people):
    age, sex = zip(*people, strict=True)
    return pa.table({"age": age, "sex": pa.array(sex, pa.string()), "row": list(range(len(people)))})


def released(sample, everyone, method, **words):
    options = OPTIONS.get(method, {})
    return incrowd.anonymize(
        table(sample),
        quasi_identifiers=["age", "sex"],
        keep=["row"],
        population_table=table(everyone).select(["sex", "age"]),
        method=method,
        **words,
        **options,
    )


def classes(release, sample):
    """The original tuples of the records of each class."""
    found = defaultdict(list)
    for row in release.data.to_pylist():
        found[row["age"], row["sex"]].append(sample[row["row"]])
    return list(found.values())


def known_to(sample, everyone):
    """The people whose values are known in every column: missing ones are, if a record misses them."""
    missing = any(sex is None for _, sex in sample)
    return [person for person in everyone if missing or person[1] is not None]


def people_by_class(release, sample, everyone, method):
    """For each class its members, and the people of the population who would be released alike."""
    members, people = defaultdict(list), Counter()
    for row in release.data.to_pylist():
        members[row["age"], row["sex"]].append(sample[row["row"]])
    if METHODS[release.policy.method].local:
        return [(found, sum(everyone.count(person) for person in set(found))) for found in members.values()]
    known = known_to(sample, everyone)
    for row in incrowd.apply(release.recoding, table(known), keep_order=True, keep=["row"]).to_pylist():
        age, sex = known[row["row"]]
        assert covers(row["age"], age, None, True)
        assert covers(row["sex"], sex, None, False)
        people[row["age"], row["sex"]] += 1
    return [(found, people[shown]) for shown, found in members.items()]


@pytest.mark.parametrize(
    ("method", "words"),
    spread(
        list(METHODS),
        [{"k_map": 4}, {"k": 2, "k_map": 5}, {"delta_presence": 0.6}, {"k_map": 3, "delta_presence": (0, 0.7)}],
    ),
)
@examples(12)
@given(sample=SAMPLE, others=OTHERS)
def test_every_method_keeps_what_is_promised_against_a_population(method, words, sample, others):
    everyone = [*sample, *others]
    k_map, share = words.get("k_map", 1), words.get("delta_presence", 1)
    share = share if isinstance(share, int | float) else share[1]
    try:
        release = released(sample, everyone, method, **words)
        found = people_by_class(release, sample, everyone, method)
    except InfeasibleError:
        people = [person for person in everyone if person in sample]
        known = len(people if METHODS[method].local else known_to(sample, everyone))
        found = []
        assert known < k_map or len(sample) > share * known or len(sample) < words.get("k", 1)
    for members, known in found:
        assert known >= k_map
        assert len(members) <= share * known
        assert len(members) >= words.get("k", 1)


def test_the_witness_counts_everyone_who_would_be_released_alike():
    sample = [(1, "f"), (1, "m"), (2, "f"), (2, "m")]
    everyone = [*sample, *[(3, "f")] * 5]
    release = released(sample, everyone, "tdr", k_map=4)
    (finding,) = release.certificate.verification["quasi_identifiers"]
    (model,) = finding["models"]
    assert (model["model"], model["worst"]) == ("k-map=4", 9)  # all are one class, which nobody with 3 is left out of


COUNTS = st.tuples(st.integers(1, 9), st.integers(0, 9)).map(lambda pair: (pair[0], sum(pair)))  # records, people


@examples(300)
@given(COUNTS, COUNTS, st.sampled_from([0.2, 0.5, 2 / 3, 1.0]))
def test_a_union_of_classes_is_not_more_present_than_its_more_present_part(one, other, delta):
    both = tuple(np.add(one, other))
    records, people = np.array([one, other, both]).T
    counted = Histogram(("people",), np.arange(3), np.zeros(3, np.int64), people, 3)
    known = ClassCounts(records, {POPULATION: counted})
    levels = DeltaPresence(delta).levels(known).tolist()
    assert levels == [-one[0] / one[1], -other[0] / other[1], -both[0] / both[1]]
    assert levels[2] >= min(levels[:2])
    assert KMap(2).levels(known).tolist() == people.tolist()


@pytest.mark.parametrize("method", [name for name, m in METHODS.items() if "suppress" in m.options and name != "argus"])
def test_records_may_be_left_out_against_a_population(method):
    """Two people are all that there are of 90 years; with presence they are left out, if nobody else has to be."""
    sample = [(i % 5, "fm"[i % 2]) for i in range(40)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPTIONS, method, {**OPTIONS.get(method, {}), "suppress": 0.1})
        assert min(3 * len(found) for found in classes(released(sample, sample * 3, method, k_map=12), sample)) >= 12
        old = [(90, "f")] * 2
        found = classes(released(sample + old, sample * 3 + old, method, delta_presence=0.35), sample + old)
    people = Counter(sample * 3 + old)
    assert sum(map(len, found)) >= 38
    for members in found:
        assert len(members) <= 0.35 * sum(people[each] for each in set(members))


class TestBadInput:
    SAMPLE = ((1, "f"), (1, "f"), (2, "m"))

    def refused(self, match, everyone=(*SAMPLE, (1, "m")), **words):
        with pytest.raises(PolicyError, match=match) as caught:
            _ = released(self.SAMPLE, everyone, "tdr", **words).data
        assert "\n" not in str(caught.value)

    def test_a_population_without_the_sample(self):
        self.refused("does not contain the table: 1 of 3 records", everyone=[(1, "f"), (2, "m")], k_map=2)

    def test_a_population_without_a_column(self):
        with pytest.raises(PolicyError, match="no column 'sex'"):
            incrowd.anonymize(
                table(self.SAMPLE).select(["age", "sex"]),
                quasi_identifiers=["age", "sex"],
                k_map=2,
                population_table=pa.table({"age": [1]}),
            )

    @pytest.mark.parametrize("k_map", [1, 0, 2.5, "two", True])
    def test_k_map_is_a_number_of_people(self, k_map):
        self.refused("'k_map' parameter must be an integer of at least 2", k_map=k_map)

    @pytest.mark.parametrize("share", [0, 1.1, "half", [0.1, 0.5], [0, 0.5, 1]])
    def test_delta_presence_is_a_largest_share(self, share):
        self.refused("'delta_presence' parameter must be", delta_presence=share)

    def test_one_without_the_other(self):
        self.refused("says nothing by itself", k=2)
        with pytest.raises(PolicyError, match="give its table as population_table"):
            incrowd.anonymize(table(self.SAMPLE), quasi_identifiers=["age", "sex"], k_map=2, keep=["row"])

    def test_released_rows_alone_do_not_tell(self):
        with pytest.raises(PolicyError, match="give its table as population_table"):
            incrowd.verify(table(self.SAMPLE), quasi_identifiers=["age"], k_map=2)
        with pytest.raises(PolicyError, match="give population_table as well"):
            incrowd.verify(table(self.SAMPLE), quasi_identifiers=["age"], k=2, recoding="release.recoding.json")


class TestVerify:
    """What was promised against a population, counted again by who has it."""

    EVERYONE = tuple((age, sex) for age in range(1, 9) for sex in "fm" for _ in range(3))
    SAMPLE = EVERYONE[::3]

    def written(self, tmp_path, suffix, **words):
        release = released(self.SAMPLE, self.EVERYONE, "tdr", **words)
        release.write(tmp_path / f"out.{suffix}")
        (finding,) = release.certificate.verification["quasi_identifiers"]
        return tmp_path / f"out.{suffix}", {model["model"]: model["worst"] for model in finding["models"]}

    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    @pytest.mark.parametrize(
        "words", [{"k_map": 8}, {"k": 2, "delta_presence": 0.4}, {"k_map": 8, "delta_presence": 1}]
    )
    def test_with_the_recoding_the_same_is_counted(self, tmp_path, suffix, words):
        path, certified = self.written(tmp_path, suffix, **words)
        against = {"population_table": table(self.EVERYONE), "recoding": tmp_path / "out.recoding.json"}
        found = incrowd.verify(path, quasi_identifiers=["age", "sex"], **words, **against)
        assert {model.model: model.worst for model in found.findings[0].models} == certified
        assert found.holds

    def test_too_much_is_not_held(self, tmp_path):
        path, certified = self.written(tmp_path, "csv", k_map=8)
        against = {"population_table": table(self.EVERYONE), "recoding": tmp_path / "out.recoding.json"}
        more = incrowd.verify(path, quasi_identifiers=["age", "sex"], k_map=certified["k-map=8"] + 1, **against)
        assert not more.holds

    def test_values_that_are_written_alike_need_no_recoding(self):
        words = {"quasi_identifiers": ["age", "sex"], "population_table": table(self.EVERYONE)}
        assert incrowd.verify(table(self.SAMPLE), k_map=3, **words).holds
        assert not incrowd.verify(table(self.SAMPLE), k_map=4, **words).holds
        assert not incrowd.verify(table(self.SAMPLE), delta_presence=0.3, **words).holds

    def test_a_population_without_the_records_is_refused(self, tmp_path):
        path, _ = self.written(tmp_path, "csv", k_map=8)
        with pytest.raises(PolicyError, match=r"16 records of out\.csv are not in it"):
            incrowd.verify(path, quasi_identifiers=["age", "sex"], k_map=2, population_table=table(self.EVERYONE))

    @pytest.mark.parametrize("words", [{"k_map": 8}, {"delta_presence": 0.5}])
    def test_a_certificate_of_nothing_else_is_checked_as_far_as_possible(self, tmp_path, words):
        path, _ = self.written(tmp_path, "csv", **words)
        files = tmp_path / "out.certificate.json", path
        alone = incrowd.check_certificate(*files)
        assert alone.holds
        assert [claim.claim for claim in alone.claims if claim.holds is None] == [
            f"{word} = {value} against the table" for word, value in words.items()
        ]
        against = {"population_table": table(self.EVERYONE), "recoding": tmp_path / "out.recoding.json"}
        everything = incrowd.check_certificate(*files, **against)
        assert everything.holds
        assert all(claim.holds for claim in everything.claims)
        assert len(everything.claims) == len(alone.claims) + 1  # that it holds, and how well
        fewer = incrowd.check_certificate(*files, **{**against, "population_table": table(self.SAMPLE)})
        assert not fewer.holds

    def test_a_certificate_that_claims_nothing_of_it(self):
        release = incrowd.anonymize(table(self.SAMPLE), quasi_identifiers=["age", "sex"], k=2, keep=["row"])
        with pytest.raises(PolicyError, match="claims nothing against a population"):
            incrowd.check_certificate(release.certificate, release.data, population_table=table(self.EVERYONE))
