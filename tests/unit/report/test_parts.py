"""What a report counts: associations, distributions, trees, and the policy as a file."""

import html
import tomllib
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy
from incrowd.policy.toml import read_policy
from incrowd.report.association import associations, cramers_v
from incrowd.report.columns import read_columns
from incrowd.report.distributions import distribution
from incrowd.report.labels import shown
from incrowd.report.public import policy_toml, size_edges
from incrowd.report.trees import tree_lines
from incrowd.taxonomies.taxonomy import Taxonomy

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here


class TestAssociations:
    def test_from_none_to_all(self):
        draw = np.random.default_rng(1)
        first = draw.integers(0, 3, 5_000)
        assert cramers_v(first, first) == pytest.approx(1, abs=1e-3)
        assert cramers_v(first, draw.integers(0, 4, 5_000)) < 0.03
        assert cramers_v(first, np.zeros(5_000, int)) == 0

    def test_numbers_are_grouped_and_rare_values_are_one(self):
        numbers = list(range(1000))
        texts = [f"text {number}" if number % 5 else "often" for number in numbers]
        columns = read_columns(
            open_source(pa.table({"n": numbers, "half": [n // 500 for n in numbers], "t": texts})), ("n", "half", "t")
        )
        matrix = associations(columns, ("n", "half", "t"))
        assert matrix[0][1] > 0.95
        assert matrix[1][2] < 0.3
        assert [matrix[place][place] for place in range(3)] == [1, 1, 1]

    def test_empty_cells_and_lists_are_values(self):
        table = pa.table({"a": ["x", None, "", "x"], "b": [[1], [1], None, [2]]})
        columns = read_columns(open_source(table), ("a", "b"))
        assert columns.labels["a"] == ("x", None)
        assert columns.counts("a").tolist() == [2, 2]
        assert columns.counts("b").tolist() == [2, 1, 1]


class TestDistributions:
    def test_records_are_shared_out_evenly(self):
        tree = Taxonomy.from_tree({"*": {"north": ["n1", "n2"], "south": ["s1"]}})
        table = pa.table({"region": ["n1"] * 5 + ["n2"] + ["s1"] * 4})
        release = incrowd.anonymize(table, quasi_identifiers=["region"], k=3, taxonomies={"region": tree}, method="tdr")
        parts = release.recoding.parts(release.table)
        told = distribution(release.table, release.recoding, parts, release.table.attributes[0])
        assert told["bars"] == [
            {"value": "n1", "before": 0.5, "after": 0.3},
            {"value": "n2", "before": 0.1, "after": 0.3},
            {"value": "s1", "before": 0.4, "after": 0.4},
        ]
        assert told["distance"] == 0.2

    def test_many_codes_are_drawn_by_their_groups(self):
        codes = [f"{first}{second:03}" for first in "123" for second in range(200)]
        table = pa.table({"zip": [*codes, None] * 2})
        rule = {"zip": {"prefix": [2, 1]}}
        release = incrowd.anonymize(table, quasi_identifiers=["zip"], k=2, taxonomies=rule, method="tdr")
        parts, attribute = release.recoding.parts(release.table), release.table.attributes[0]
        told = distribution(release.table, release.recoding, parts, attribute)
        before = {bar["value"]: bar["before"] for bar in told["bars"]}
        groups = {f"{first}{second}**": 200 / 1202 for first in "123" for second in "01"}
        assert before == {
            **{name: pytest.approx(share, abs=1e-6) for name, share in groups.items()},
            shown(None): 0.001664,
        }

    @pytest.mark.parametrize(
        "values", [[7, None] * 8, [1.5] * 8, [*range(40), None], [float(10**n) for n in range(30)]]
    )
    def test_numbers_of_any_kind(self, values):
        table = pa.table({"n": pa.array(values * 2), "x": ["a"] * (2 * len(values))})
        release = incrowd.anonymize(table, quasi_identifiers=["n", "x"], k=2, method="tdr")
        parts = release.recoding.parts(release.table)
        told = distribution(release.table, release.recoding, parts, release.table.attributes[0])
        assert sum(bar["after"] for bar in told["bars"]) == pytest.approx(1, abs=1e-4)
        assert len(told["bars"]) <= 21


@pytest.mark.parametrize(
    ("sizes", "edges"),
    [([3], [3, 4]), ([2, 5, 9], list(range(2, 11))), ([10, 60], list(range(10, 66, 5))), ([2, 900], None)],
)
def test_the_edges_of_sizes(sizes, edges):
    found = size_edges(np.array(sizes))
    assert edges is None or found == edges
    assert found[0] == min(sizes)
    assert found[-1] > max(sizes)
    assert len(found) <= 14


class TestTrees:
    TREE = Taxonomy.from_tree({"*": {"north": ["n1", "n2"], "south": {"coast": ["c1", "c2"], "hills": ["h1"]}}})

    def test_down_to_what_is_released(self):
        lines = tree_lines(self.TREE, {"north": 5, "coast": 3, "h1": 2})
        told = [(line["depth"], line["value"], line["records"]) for line in lines]
        assert told == [
            (0, "*", None),
            (1, "north", 5),
            (1, "south", None),
            (2, "coast", 3),
            (2, "hills", None),
            (3, "h1", 2),
        ]
        assert lines[1]["stands_for"] == "n1, n2"

    def test_many_children_are_cut(self):
        flat = Taxonomy.flat([f"v{number}" for number in range(10_000)])
        lines = tree_lines(flat, {f"v{number}": 1 for number in range(9_000)})
        assert len(lines) <= 61
        assert lines[-1]["value"] == "and 9,988 more"


class TestPolicy:
    WORDS: ClassVar = {
        "quasi_identifiers": [{"attributes": ["age", 'a "b"'], "k": 5}, {"attributes": ["age", "zip"], "k": 3}],
        "sensitive": {"ill": {"l": 2}, "note": {}},
        "identifiers": ["name"],
        "types": {"zip": "text"},
        "ranges": {"age": [0, 120]},
        "missing": "drop",
        "method": "tdr",
    }

    def test_it_can_be_read_back(self, tmp_path):
        policy = make_policy(**self.WORDS)
        path = tmp_path / "policy.toml"
        path.write_text(policy_toml(policy.to_json()), encoding="utf-8")
        words, _ = read_policy(path)
        assert make_policy(**words).to_json() == policy.to_json()

    def test_of_a_single_quasi_identifier(self):
        policy = make_policy(quasi_identifiers=["age", "sex"], k=4, target="income")
        told = tomllib.loads(policy_toml(policy.to_json()))
        assert told["quasi_identifiers"] == ["age", "sex"]
        assert told["k"] == 4


class TestNotebooks:
    TABLE = pa.table({"age": [20, 21, 30, 31] * 9, "sex": ["<b>", "m"] * 18, "income": ["low", "high", "low"] * 12})

    def test_every_result_has_html(self):
        release = incrowd.anonymize(self.TABLE, quasi_identifiers=["age", "sex"], k=4, method="tdr")
        results = [
            release,
            release.risk(),
            incrowd.assess(self.TABLE, quasi_identifiers=["age", "sex"]),
            incrowd.inspect(self.TABLE),
            incrowd.verify(self.TABLE, quasi_identifiers=["age", "sex"], k=4),
            incrowd.compare(self.TABLE, methods=["tdr", "mondrian"], ks=[3, 4], quasi_identifiers=["age", "sex"]),
            Taxonomy.flat(["<b>", "m"]),
            release.recoding,
        ]
        for result in results:
            text = result._repr_html_()
            assert "<b>" not in text, type(result)
            assert "<script" not in text
        assert "<circle" in results[5]._repr_html_()
        assert "Loss of each column" in release._repr_html_()
        assert 'class="tree"' in Taxonomy.flat(["a", "b"])._repr_html_()

    def test_a_result_is_text_and_prints_nothing(self, monkeypatch, capsys):
        monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
        release = incrowd.anonymize(self.TABLE, quasi_identifiers=["age", "sex"], k=4, method="tdr")
        results = [release, release.risk(), release.why("age"), incrowd.inspect(self.TABLE)]
        results.append(incrowd.verify(self.TABLE, quasi_identifiers=["age", "sex"], k=4))
        for text in (release.summary(), *map(str, results)):
            assert "age" in text
            assert "Policy(" not in text
        assert capsys.readouterr() == ("", "")

    def test_a_codebook_of_any_recoding(self):
        tree = Taxonomy.from_tree({"*": {"north": ["n1", "n2"], "south": ["s1", "s2"]}})
        table = pa.table({"age": [20, 21, 30, 31] * 9, "region": ["n1", "n2", "s1"] * 12})
        for method in ("tdr", "mondrian"):
            words = {"quasi_identifiers": ["age", "region"], "k": 9, "taxonomies": {"region": tree}}
            recoding = incrowd.anonymize(table, **words, method=method).recoding
            text = recoding._repr_html_()
            for name in recoding.names:
                for label, meaning in zip(recoding.labels(name), recoding.meanings(name), strict=True):
                    assert html.escape(label) in text
                    assert meaning in str(recoding)
