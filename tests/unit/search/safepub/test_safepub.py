"""The method as people use it: what is refused, what leaves, and what the files say."""

import json
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import IncrowdError, InfeasibleError, PolicyError
from incrowd.key import Key
from incrowd.report.public import Published, safe
from incrowd.search.baselines.lattice import FrequencySet
from incrowd.search.safepub.safepub import WORTH, levels_of, score
from incrowd.table.attributes import encode
from incrowd.taxonomies.rules import Frequent, Intervals
from incrowd.taxonomies.taxonomy import Taxonomy
from incrowd.verification.certificate import Certificate

DRAW = random.Random(3)
TREE = Taxonomy.from_tree({"*": {"north": ["n1", "n2"], "south": ["s1", "s2"]}})
TABLE = pa.table(
    {
        "age": [DRAW.randint(20, 59) for _ in range(900)],
        "place": DRAW.choices(["n1", "n2", "s1", "s2"], (5, 4, 3, 1), k=900),
        "wage": [DRAW.random() for _ in range(900)],
    }
)
WORDS = {
    "quasi_identifiers": ["age", "place"],
    "k": 35,
    "identifiers": ["wage"],
    "taxonomies": {"age": Intervals((10, 20)), "place": TREE},
    "levels": {"age": (1, 3)},
    "method": "safepub",
    "epsilon": 1.0,
    "delta": 0.001,
}


def released(table=TABLE, **words):
    return incrowd.anonymize(table, key=Key.for_experiments(1), **{**WORDS, **words})


def test_records_are_true_and_everyone_has_a_crowd_of_those_drawn():
    release = released()
    rows = [tuple(row.values()) for row in release.data.to_pylist()]
    assert min(Counter(rows).values()) >= 35
    assert release.found.facts["sampled"] == pytest.approx(1 - np.exp(-0.9), rel=1e-12)
    assert 300 < len(rows) < 600
    assert {age for age, _ in rows} <= {"*", "[20-40)", "[40-60)", *(f"[{at}-{at + 10})" for at in (20, 30, 40, 50))}


def test_fixed_levels_leave_all_of_epsilon_to_the_sample():
    release = released(levels={"age": (2, 2), "place": (1, 1)})
    assert release.found.facts["epsilon_of_choice"] == 0
    assert {*release.data["place"].to_pylist()} == {"north", "south"}
    assert {*release.data["age"].to_pylist()} == {"[20-40)", "[40-60)"}


def test_the_same_key_gives_the_same_release_in_any_order_of_rows():
    order = list(range(len(TABLE)))
    DRAW.shuffle(order)
    assert released(TABLE.take(order)).data.equals(released().data)


def test_what_leaves_says_nothing_of_the_rows_that_stayed(tmp_path):
    release = released()
    release.write(tmp_path / "x.csv")
    certificate = Certificate.read(tmp_path / "x.certificate.json")
    assert certificate.guarantee == release.guarantee
    assert certificate.guarantee.k == 35
    public = (tmp_path / "x.certificate.json").read_text() + (tmp_path / "x.recoding.json").read_text()
    report = json.dumps(safe(Published.of(tmp_path / "x.csv", certificate)))
    left_out = len(TABLE) - len(release.data)
    for text in (public, report):
        assert str(len(TABLE)) not in text.replace(certificate.commitment, "").replace(certificate.output, "")[:-90]
        assert f" {left_out}" not in text
    assert "differentially private with epsilon 1 and delta 0.001" in report
    assert "It is not differential privacy" not in report
    assert any("epsilons and deltas add up" in note for note in release.notes)


def test_a_column_that_is_kept_is_named_as_outside_the_guarantee():
    release = released(identifiers=(), keep=["wage"])
    assert "it does not cover 'wage', released as in the table" in " ".join(release.notes)
    assert {*release.data["wage"].to_pylist()} <= {*TABLE["wage"].to_pylist()}
    published = Published.of(release.data, release.certificate)
    assert "it does not cover wage, released as in the table" in safe(published)["promise"]


def test_a_certificate_is_refused_whose_parameters_do_not_keep_the_promise():
    release = released()
    facts = {**release.found.facts, "sampled": 0.9}
    with pytest.raises(IncrowdError, match="not differentially private with epsilon 1"):
        _ = replace(release, found=replace(release.found, facts=facts)).certificate


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"epsilon": None}, "needs the options epsilon and delta"),
        ({"k": 20}, "With this epsilon and delta the 'k' parameter must be at least 33"),
        ({"identifiers": ()}, "column 'wage' would leave as it is, which is not differentially private"),
        ({"taxonomies": {"place": TREE}, "levels": {}}, "column 'age' needs a hierarchy that is independent"),
        ({"levels": {}}, "the levels of 'age' are made from its values; say which are allowed"),
        ({"keep_order": True}, "leave out: keep_order"),
        ({"identifiers": (), "unit": "wage"}, "leave out: unit"),
        ({"choice": 0}, "must be above 0 where levels are not fixed"),
        ({"identifiers": (), "keep": ["wage"], "sensitive": ["wage"], "l": 2}, "leave out: promises about sensitive"),
    ],
)
def test_what_would_break_the_promise_is_refused(words, message):
    words = {**WORDS, **words}
    with pytest.raises(PolicyError, match=message):
        incrowd.anonymize(TABLE, **{name: value for name, value in words.items() if value is not None})


def test_no_path_to_a_release_goes_around_what_the_promise_takes(tmp_path):
    """Neither a comparison nor a release that was put together by hand."""
    words = {name: value for name, value in WORDS.items() if name not in ("k", "method", "identifiers")}
    with pytest.raises(PolicyError, match="column 'wage' would leave as it is"):
        incrowd.compare(TABLE, methods=["safepub"], ks=[35], **words)
    release = released()
    asked = replace(release.settled.asked, identifiers=())
    release = replace(release, settled=replace(release.settled, asked=asked))
    for leave in (lambda: release.data, lambda: release.write(tmp_path / "x.csv")):
        with pytest.raises(PolicyError, match="column 'wage' would leave as it is"):
            leave()
    assert not (tmp_path / "x.csv").exists()


def test_no_change_is_advised_that_was_found_by_looking_at_the_rows():
    assert released().why("age").trials == ()


def test_where_every_crowd_is_too_small_nothing_is_written(tmp_path):
    with pytest.raises(InfeasibleError, match="every crowd of the drawn records is too small"):
        released(TABLE.slice(0, 40), levels={"age": (1, 1)}).write(tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize("rule", [Intervals((10, 20)), Frequent(("21",), "rare")])
def test_what_a_value_becomes_does_not_depend_on_other_values(rule):
    def at(values, level):
        attribute, codes = encode("x", pa.array(values), has_missing=False, taxonomy=rule)
        nodes = levels_of(replace(attribute, levels=(level, level)))[0].nodes[codes[: len(values)]]
        return dict(zip(values, (attribute.taxonomy.labels[node] for node in nodes), strict=True))

    for level in range(4):
        assert at(["21", "34", "47"], level).items() >= at(["21", "47"], level).items()


def test_one_record_more_adds_at_most_its_worth_to_a_score():
    worth = [np.array([0, WORTH, WORTH // 3]), np.array([0, WORTH])]
    columns = np.array([1, 1, 2]), np.array([0, 1, 1])
    counts = np.array([3, 4, 5])
    scores = []
    for place in (None, 0, 1, 2):
        more = counts + (np.arange(3) == place)
        scores.append(score(FrequencySet(columns, (3, 2), more), worth, 4))
    assert scores[0] == 1 * 2 * WORTH + 2 * (WORTH // 3 + WORTH)
    assert all(0 <= each - scores[0] <= 2 * WORTH for each in scores)
