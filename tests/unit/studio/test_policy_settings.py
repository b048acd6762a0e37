"""What people change on the screens does to the policy what it says, and every change makes words that can be read."""

import tomllib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from incrowd.errors import PolicyError
from incrowd.policy.toml_text import policy_text
from incrowd.studio import policy_settings
from incrowd.studio.policy_settings import DROP, KEEP, QUASI, ROLES, SENSITIVE, TARGET, UNIT, policy_of, with_role

COLUMNS = ["age", "zip", "sex", "ill", "name"]
WORDS = {
    "quasi_identifiers": ["age", "zip", "sex"],
    "k": 5,
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "taxonomies": {"zip": {"prefix": [3]}},
}


def test_the_role_of_every_column():
    assert policy_settings.roles(WORDS, [*COLUMNS, "new"]) == {
        "age": QUASI,
        "zip": QUASI,
        "sex": QUASI,
        "ill": SENSITIVE,
        "name": DROP,
        "new": KEEP,
    }


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_gets_the_role(column, role):
    words, _ = with_role(WORDS, {}, column, role)
    found = policy_settings.roles(words, COLUMNS)
    assert found[column] == role
    others = policy_settings.roles(WORDS, COLUMNS)
    assert {name: found[name] for name in COLUMNS if name != column} == {
        name: others[name] for name in COLUMNS if name != column
    }


def test_what_was_said_of_a_column_comes_back_with_its_role():
    without, parked = with_role(WORDS, {}, "zip", KEEP)
    assert "taxonomies" not in policy_text(without)
    again, _ = with_role(without, parked, "zip", QUASI)
    assert again["taxonomies"] == WORDS["taxonomies"]


def test_a_promise_comes_back_too():
    words = {**WORDS, "sensitive": {"ill": {"l": 3}}}
    without, parked = with_role(words, {}, "ill", KEEP)
    assert with_role(without, parked, "ill", SENSITIVE)[0]["sensitive"] == {"ill": {"l": 3}}


def test_there_is_one_target_and_one_unit():
    words = with_role(with_role(WORDS, {}, "age", TARGET)[0], {}, "sex", TARGET)[0]
    assert (words["target"], policy_settings.roles(words, COLUMNS)["age"]) == ("sex", KEEP)
    words = with_role(with_role(WORDS, {}, "name", UNIT)[0], {}, "zip", UNIT)[0]
    assert (words["unit"], policy_settings.roles(words, COLUMNS)["name"]) == ("zip", DROP)


def test_several_quasi_identifiers_are_written_each_with_its_k():
    sets = [{"attributes": ["age", "zip"], "k": 5}, {"attributes": ["sex"], "k": 3}]
    words = policy_settings.with_sets(WORDS, sets)
    assert "k" not in words
    assert policy_settings.quasi_sets(words) == sets
    assert policy_settings.with_sets(words, sets[:1])["quasi_identifiers"] == ["age", "zip"]


def test_no_column_at_all_is_said_in_one_line(tmp_path):
    with pytest.raises(PolicyError, match="choose at least one"):
        policy_of({"k": 5}, tmp_path)
    with pytest.raises(PolicyError, match="no such role"):
        with_role(WORDS, {}, "age", "nothing")


@examples(60)
@given(st.lists(st.tuples(st.sampled_from(COLUMNS), st.sampled_from(list(ROLES))), max_size=12))
def test_any_clicks_make_a_policy_or_one_line(tmp_path_factory, clicks):
    words, parked = dict(WORDS), {}
    for column, role in clicks:
        words, parked = with_role(words, parked, column, role)
        assert policy_settings.roles(words, COLUMNS)[column] == role
    assert policy_settings.named_columns(words) == set(COLUMNS)
    read = tomllib.loads(policy_text(words))
    assert policy_settings.roles(read, COLUMNS) == policy_settings.roles(words, COLUMNS)
    if policy_settings.quasi_columns(words):
        policy_of(read, tmp_path_factory.getbasetemp())


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
values = st.recursive(
    st.one_of(texts, st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, min_size=1, max_size=3)),
    max_leaves=6,
)


@examples(150)
@given(st.dictionaries(st.sampled_from(["k", "method", "sensitive", "types", "taxonomies", "csv"]), values))
def test_words_are_read_back_as_they_were_written(words):
    said = {key: value for key, value in words.items() if value not in ([], {}) and value is not None}
    by_column = said.get("sensitive")
    if isinstance(by_column, dict) and not all(isinstance(own, dict) for own in by_column.values()):
        return  # not what a policy can say
    assert tomllib.loads(policy_text(words)) == said


def test_dates_are_written():
    assert tomllib.loads(policy_text({"ranges": {"born": [date(1900, 1, 1), date(2020, 1, 1)]}}))["ranges"]["born"] == [
        date(1900, 1, 1),
        date(2020, 1, 1),
    ]


def test_a_column_is_kept_on_purpose_beside_its_role():
    words = {"quasi_identifiers": ["age"], "k": 2, "sensitive": ["wage"]}
    kept = policy_settings.with_kept(words, "wage", keep=True)
    assert kept == {**words, "keep": ["wage"]}
    assert policy_settings.roles(kept, ["age", "wage"]) == {"age": "quasi-identifier", "wage": "sensitive"}
    assert policy_settings.with_kept(kept, "wage", keep=False) == words
    assert "keep" not in policy_settings.with_role(kept, {}, "wage", "insensitive")[0]
    assert policy_settings.kept(kept) == ["wage"]
    assert policy_settings.kept(words) == []
