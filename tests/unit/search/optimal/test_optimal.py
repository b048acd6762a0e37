"""Optimal search from the outside: options, errors, early stops, and releases of every kind of attribute."""

import json
import random
import re
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.cli import app
from incrowd.errors import InfeasibleError, PolicyError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.recodings.by_value import ByValue
from incrowd.run import Best, Note, Run
from incrowd.search.optimal import PRUNINGS
from incrowd.search.optimal.blocks import labels_of
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.optimal import optimal
from incrowd.search.optimal.partitions import partitions
from incrowd.search.optimal.schemes import domain_of
from incrowd.search.registry import method_of
from incrowd.table.attributes import FlatAttribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable

JOBS = incrowd.Taxonomy.from_tree(
    {"Any": {"Office": ["Clerk", "Lawyer"], "Hands": ["Baker", "Smith", "Tailor"], "None": ["Pupil", "Retired"]}}
)


def people(count=80, seed=1):
    rng = random.Random(seed)
    ages = [rng.choice([18, 19, 31, 32, 58, 90]) for _ in range(count)]
    jobs = [rng.choice(["Clerk", "Lawyer", "Baker", "Smith", "Pupil"]) for _ in range(count)]
    towns = [rng.choice(["Ulm", "Bonn", "Kiel", "Jena", None]) for _ in range(count)]
    return pa.table({"age": ages, "job": jobs, "town": towns, "ill": [rng.choice("YN") for _ in range(count)]})


def release(**options):
    words = {"quasi_identifiers": ["age", "job", "town"], "k": 4, "target": "ill", "taxonomies": {"job": JOBS}}
    return incrowd.anonymize(people(), method="optimal", **{**words, **options})


SCHEMES = [
    {"age": "ops", "job": "bhs", "town": "ghs"},
    {"age": "ops", "job": "ghs", "town": "sps"},
    {"age": "sps", "job": "gsps", "town": "gsps"},
    {"age": "sps", "job": "gops", "town": "ops"},
    {"age": "ops", "job": "sps", "town": "bhs"},
    {"age": "ops", "job": "ops", "town": "gops"},
]


PAIRED = [
    (s, (0, 0.1, 1)[(i + j) % 3], cost) for i, s in enumerate(SCHEMES) for j, cost in enumerate(("dm", "ncp", "cm"))
]


@pytest.mark.parametrize(("scheme", "suppress", "cost"), PAIRED)
def test_the_facts_are_what_the_measures_of_the_verified_release_say(scheme, suppress, cost):
    made = release(scheme=scheme, suppress=suppress, cost=cost)
    assert made.data.num_rows == 80 - made.found.facts["suppressed_records"]  # verified, or it would raise
    total = made.measures.total
    measured = {"dm": total.dm, "ncp": total.ncp, "cm": total.cm}[cost]
    assert made.found.facts["cost"] == pytest.approx(measured)
    assert made.found.facts["suppressed_records"] == total.suppressed <= suppress * 80
    hides = suppress == 1 and cost == "ncp" and scheme["town"] in ("ops", "gops")  # rare towns, which no set names
    assert (made.found.facts["gap"] == 0) == made.found.facts["optimal"] != hides
    again = ByValue.from_json(json.loads(json.dumps(made.recoding.to_json())))
    assert again == made.recoding
    assert incrowd.apply(again, people()).equals(made.data)


def test_sets_of_values_are_released_with_readable_names():
    jobs = ["Clerk", "Lawyer", "Baker", "Smith", "Pupil"] * 3 + ["Tailor"]
    made = incrowd.anonymize(
        pa.table({"job": jobs}),
        quasi_identifiers=["job"],
        k=3,
        method="optimal",
        scheme="gsps",
        taxonomies={"job": JOBS},
    )
    shown = set(made.data["job"].to_pylist())
    assert len(shown) == 5
    assert shown & {"{Smith, Tailor}", "{Baker, Tailor}"}
    assert "Retired" in made.recoding.labels("job")  # it does not occur, and nothing forces it into a set


def test_a_value_that_only_suppressed_records_have_is_not_named():
    towns = ["Ulm"] * 5 + ["Bonn"] * 5 + ["Kiel"] * 5 + ["Secret"]
    made = incrowd.anonymize(
        pa.table({"town": towns}),
        quasi_identifiers=["town"],
        k=3,
        method="optimal",
        scheme="sps",
        cost="ncp",
        suppress=0.1,
    )
    assert made.found.facts["suppressed_records"] == 1
    assert "Secret" not in json.dumps(made.recoding.to_json())
    assert made.data.num_rows == 15


def test_an_unseen_value_is_suppressed_without_a_taxonomy_and_an_error_with_one():
    made = release(scheme={"age": "ops", "job": "gsps", "town": "sps"})
    new = people(5).set_column(2, "town", pa.array(["Rome"] * 5))
    assert set(incrowd.apply(made.recoding, new)["town"].to_pylist()) == {"*"}
    with pytest.raises(incrowd.DataError, match=r"holds .Astronaut., which its recoding does not know"):
        incrowd.apply(made.recoding, people(5).set_column(1, "job", pa.array(["Astronaut"] * 5)))


def table(count=60, sizes=(9, 8, 7), seed=3):
    rng = np.random.default_rng(seed)
    attributes = [FlatAttribute(f"x{i}", tuple(f"v{code}" for code in range(n))) for i, n in enumerate(sizes)]
    codes = [np.append(np.arange(n), rng.geometric(0.4, count - n) % n) for n in sizes]
    return CompressedTable.build(attributes, codes, np.ones(count, np.int64))


VALUES = [f"v{code}" for code in range(7)]  # of x2


def crowds(k, *names):
    return (Requirement(names, (KAnonymity(k),)),)


QID = crowds(4, "x0", "x1", "x2")


@pytest.mark.parametrize(
    ("records", "k", "suppressed", "direction"),
    [
        ({(0, 0): 795809, (0, 1): 805428, (3, 2): 3, (4, 2): 3, (1, 3): 3, (2, 0): 1}, 2, 5, "top-down"),
        ({(0, 0): 87371561, (0, 1): 85422535, (3, 1): 2, (2, 2): 1, (1, 0): 2}, 2, 0, "bottom-up"),
    ],
)
def test_a_value_that_nearly_all_have_costs_no_precision(records, k, suppressed, direction):
    """HDM divides by the few records that do not have it."""
    columns = [np.array(column) for column in zip(*records, strict=True)]
    names = [[f"v{code}" for code in range(column.max() + 1)] for column in columns]
    attributes = [FlatAttribute(f"x{i}", tuple(values)) for i, values in enumerate(names)]
    lopsided = CompressedTable.build(attributes, columns, np.array(list(records.values())))
    domains = [domain_of(lopsided, index, "sps") for index in (0, 1)]
    costs = Costs(lopsided, domains, "hdm", crowds(k, "x0", "x1")[0])
    spaces = ([labels_of(blocks, d.space.size) for blocks in partitions(d.space)] for d in domains)
    every = (costs.of(pair) for pair in product(*spaces))
    best = min(cost for cost, lost in every if lost <= suppressed)
    found = optimal(
        lopsided,
        crowds(k, "x0", "x1"),
        Run(),
        scheme="sps",
        cost="hdm",
        direction=direction,
        suppress=suppressed / lopsided.records,
        prunings=[word for word in PRUNINGS if word != "seeding"],
    )
    assert found.facts["optimal"]
    assert found.facts["cost"] == pytest.approx(best, rel=1e-8)


def test_a_gap_is_asked_only_of_a_release():
    options = {"scheme": "sps", "suppress": 0, "prunings": ["bound"]}
    assert optimal(table(12, (3, 3, 2)), QID, Run(), gap=0.1, **options).facts["gap"] <= 0.1


@pytest.mark.parametrize(("scheme", "size", "solved"), [("ops", 200, True), ("ops", 201, False), ("sps", 18, True)])
def test_how_many_values_the_solved_attribute_may_have(scheme, size, solved):
    told = []
    run = Run(told.append, time_limit=0.1)
    optimal(table(3 * size, (size, 3)), crowds(3, "x0", "x1"), run, scheme={"x0": scheme, "x1": "sps"}, suppress=1)
    assert ("solved" in told[0].text.splitlines()[0]) == solved


def test_progress_tells_nodes_best_and_bound():
    told = []
    run = Run(told.append, time_limit=1.5)
    optimal(table(2000, (16, 16, 16)), QID, run, scheme="sps", suppress=1)
    spaces, *told = told
    assert isinstance(spaces, Note)
    solved = "; solved for each combination of the others, not enumerated"  # of one of them
    assert sorted(spaces.text.replace(solved, "").splitlines()) == [
        f"sps on x{i}: 1.0e+10 partitions" for i in range(3)
    ]
    assert spaces.text.count(solved) == 1
    assert told
    assert all(isinstance(event, Best) and event.bound <= event.cost for event in told)
    assert [event.seen for event in told] == sorted(event.seen for event in told)


def test_a_gap_is_kept():
    exact = optimal(table(), QID, Run(), scheme="ops", cost="dm", suppress=1).facts
    facts = optimal(table(), QID, Run(), scheme="ops", cost="dm", suppress=1, gap=0.5).facts
    assert facts["gap"] <= 0.5
    assert facts["bound"] <= exact["cost"] <= facts["cost"]


def test_little_memory_changes_the_order_not_the_optimum(monkeypatch):
    monkeypatch.setattr("incrowd.search.optimal.branch_and_bound.NODE_BYTES", 1e6 / 20)  # 20 nodes in a megabyte
    options = {"scheme": "sps", "suppress": 1, "direction": "bottom-up", "cost": "dm"}
    small = table(200, (8, 6, 5))
    few = optimal(small, QID, Run(), memory=1, **options).facts["cost"]
    assert few == optimal(small, QID, Run(), **options).facts["cost"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": {"x0": "ops"}}, "must name every column. Missing: x1, x2"),
        ({"scheme": {"y": "ops"}}, "no quasi-identifier column 'y'"),
        ({"scheme": "ops", "cost": "cm"}, "needs a target"),
        ({"scheme": "ops", "direction": "pairs", "prunings": ["bound"]}, "the direction 'pairs' uses all prunings;"),
        (
            {"scheme": "ops", "order": {"x0": ["v0", "v1"]}},
            "order of 'x0' must name every value; it leaves out v2 and",
        ),
        ({"scheme": "ops", "order": {"x2": [*VALUES, "v6"]}}, "must name each value once; it repeats v6"),
        ({"scheme": "ops", "order": {"x2": [*VALUES, "v7"]}}, "names values that the column does not have: v7"),
        ({"scheme": "ops", "order": {"x5": ["v0"]}}, "no quasi-identifier column 'x5'"),
    ],
)
def test_bad_options_are_refused_in_one_line(options, message):
    with pytest.raises(PolicyError, match=re.escape(message)) as caught:
        method_of("optimal", options)(table(), QID, options, Run())
    assert "\n" not in str(caught.value)


def test_numbers_need_a_taxonomy_for_hierarchical_schemes():
    with pytest.raises(PolicyError, match="the scheme 'ghs' needs a taxonomy for 'age'"):
        release(scheme="ghs")


@pytest.mark.parametrize(
    ("scheme", "size", "message"), [("sps", 101, "sets of 101 values"), ("ops", 501, "501 values")]
)
def test_a_hopeless_number_of_values_is_refused(scheme, size, message):
    with pytest.raises(PolicyError, match=f"'{scheme}' on 'x0' would .*{message}; the limit is"):
        optimal(table(size, (size, 2, 2)), QID, Run(), scheme=scheme)


def test_numbers_have_their_own_order():
    with pytest.raises(PolicyError, match="'age' holds numbers, which are already ordered"):
        release(scheme="ops", order={"age": ["18", "19"]})


def test_an_order_must_fit_the_taxonomy():
    order = ["Clerk", "Baker", "Lawyer", "Smith", "Tailor", "Pupil", "Retired"]
    with pytest.raises(PolicyError, match="it separates the values of 'Office'"):
        release(scheme={"age": "ops", "job": "gops", "town": "sps"}, order={"job": order})


def test_an_order_of_the_users_is_used():
    attribute = TaxonomyAttribute("job", JOBS)
    rows = CompressedTable.build([attribute], [np.arange(7)], np.array([9, 1, 9, 9, 9, 1, 9]))
    qid = crowds(2, "job")
    order = ["Lawyer", "Pupil", "Clerk", "Baker", "Smith", "Tailor", "Retired"]
    assert (
        optimal(rows, qid, Run(), scheme="ops").facts["cost"]
        > optimal(rows, qid, Run(), scheme="ops", order={"job": order}).facts["cost"]
    )


def test_too_few_records_for_any_generalization():
    with pytest.raises(InfeasibleError, match="no generalization satisfies k=4 for 3 records"):
        optimal(table(3, (2, 2, 2)), QID, Run(), scheme="ops", suppress=0.5)


def test_the_command_line_takes_the_limits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(people().drop_columns("town"), "people.csv")
    words = ["--qi", "age,job", "--k", "4", "--method", "optimal", "--time-limit", "20", "--gap", "0", "--json"]
    more = ["--scheme", "ops", "--cost", "ncp", "--suppress", "0.1", "--direction", "top-down", "--memory", "100"]
    result = CliRunner().invoke(app, ["anonymize", "people.csv", "-o", "release.csv", *words, *more])
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines() == [
        "ops on age: 32 partitions; solved for each combination of the others, not enumerated",
        "ops on job: 16 partitions",
    ]
    facts = json.loads(result.stdout)["result"]["facts"]
    assert facts["optimal"]
    assert facts["direction"] == "top-down"


def test_without_a_time_limit_a_search_stops_after_a_minute_and_says_so(monkeypatch):
    monkeypatch.setattr("incrowd.search.optimal.optimal.SECONDS", 0.3)
    notes = []
    run = Run(lambda event: notes.append(event.text) if isinstance(event, Note) else None)
    facts = optimal(table(2000, (16, 16, 16)), QID, run, scheme="sps", suppress=1).facts
    assert facts["stopped"] == "time limit"
    assert notes[-1].startswith("stopped after 0.3 seconds, since no time limit was given")
    assert run.seconds_left is None  # it does not end what comes after
    notes.clear()
    optimal(table(2000, (16, 16, 16)), QID, Run(time_limit=0.2), scheme="sps", suppress=1)
    assert not any("stopped" in note for note in notes)


@pytest.mark.parametrize("cost", ["dm", "ncp", "hdm"])
@pytest.mark.parametrize("limit", [1e-9, None])
def test_without_seeding_there_is_always_somebody_in_the_release(cost, limit):
    """Where everyone differs all may as well be left out as be one class; one class it is."""
    options = {"scheme": "ops", "suppress": 1, "cost": cost, "prunings": ["bound"]}
    found = optimal(table(12, (4, 4, 4)), crowds(12, "x0", "x1", "x2"), Run(time_limit=limit), **options)
    assert found.facts["suppressed_records"] < 12


@pytest.mark.parametrize("scheme", ["bhs", "ops", "sps"])
def test_a_constant_column_is_released_as_it_is(scheme):
    rows = pa.table({"job": ["clerk"] * 6, "zip": list("ababab")})
    words = {"quasi_identifiers": ["job", "zip"], "k": 3, "method": "optimal"}
    release = incrowd.anonymize(rows, scheme=scheme, **words)
    assert release.data["job"].to_pylist() == ["clerk"] * 6
    assert release.measures.total.ncp == release.found.facts["cost"] == 0
    if scheme != "bhs":
        numbers = rows.append_column("age", pa.array([30.5] * 6))
        release = incrowd.anonymize(numbers, scheme=scheme, **{**words, "quasi_identifiers": ["job", "zip", "age"]})
        assert release.data["age"].to_pylist() == [30.5] * 6
        assert release.measures.total.ncp == 0
