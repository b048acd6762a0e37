import pickle

import pyarrow as pa
import pytest

import incrowd
from incrowd.policy.toml import read_policy
from incrowd.policy.words import make_policy

PEOPLE = "age,sex\n30,f\n30,m\n40,f\n40,m\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "everyone.csv").write_text(PEOPLE + "30,f\n" * 3)
    (tmp_path / "trees" / "release.toml").write_text(
        'quasi_identifiers = ["age", "sex"]\npopulation_table = "everyone.csv"\nk_map = 3\ndelta_presence = [0, 0.7]\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_policy_file_names_the_population_relative_to_itself(folder):
    policy = make_policy(**read_policy(folder / "trees" / "release.toml")[0])
    assert policy.population_table.name == "everyone.csv"
    assert (policy.k_map, policy.delta_presence) == (3, 0.7)
    assert [str(model) for model in policy.requirements[0].models] == ["k-map=3", "delta-presence=0.7"]
    assert policy.to_json()["population_table"] == "everyone.csv"


def test_a_release_with_a_population_is_data(folder):
    words = {"population_table": pa.table({"age": [1, 1, 2]}), "k_map": 2}
    release = incrowd.anonymize(pa.table({"age": [1, 2]}), quasi_identifiers=["age"], **words)
    again = pickle.loads(pickle.dumps(release))
    assert again.data == release.data
