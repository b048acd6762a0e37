"""Random small problems: mixed attributes, small domains, missing values, odd taxonomies, several quasi-identifiers."""

from hypothesis import strategies as st

from incrowd.policy.policy import QuasiIdentifier
from incrowd.taxonomies.taxonomy import Taxonomy
from tests.reference.problem import Column, Problem

KINDS = "tree", "number", "flat"
CRITERIA = st.sampled_from(["tds", "tdr", "gain"])
WHOLE = st.integers(0, 6)
HALVES = st.integers(0, 12).map(lambda number: number / 2)
DOMAINS = st.sampled_from([None, (0, 6), (-3, 300)])


@st.composite
def taxonomies(draw, most_nodes=9):
    """Random trees: every node but the root hangs below an earlier one, so chains and unequal depths are common."""
    parents = [draw(st.integers(0, node)) for node in range(draw(st.integers(1, most_nodes - 1)))]
    paths = []
    for leaf in sorted(set(range(1, len(parents) + 1)) - set(parents)):
        path = [leaf]
        while path[-1]:
            path.append(parents[path[-1] - 1])
        paths.append([f"node {node}" for node in path])
    return Taxonomy.from_paths(paths)


@st.composite
def columns(draw, name, crowds, kinds=KINDS):
    """A column of one of some kinds, one value per crowd; some have missing values, or nothing else."""
    kind = draw(st.sampled_from(kinds))
    taxonomy = draw(taxonomies()) if kind == "tree" else None
    values = {
        "tree": lambda: st.sampled_from(sorted(taxonomy.leaf_codes)),
        "number": lambda: draw(st.sampled_from([WHOLE, HALVES])),
        "flat": lambda: st.sampled_from("abcd"),
    }[kind]()
    if draw(st.booleans()):
        values = st.none() | values
    drawn = draw(st.lists(values, min_size=len(crowds), max_size=len(crowds)))
    repeated = tuple(value for value, size in zip(drawn, crowds, strict=True) for _ in range(size))
    return Column(name, repeated, kind, taxonomy, draw(DOMAINS) if kind == "number" else None)


@st.composite
def problems(draw, target=True, kinds=KINDS):
    """A table with 1 to 4 attributes and 1 to 3 quasi-identifiers, with or without a target of 1 to 3 classes.

    Records come in crowds of equal ones, else few refinements would be valid.
    """
    crowds = draw(st.lists(st.sampled_from([4, 6, 3, 2, 5, 1]), min_size=2, max_size=7))
    names = draw(st.permutations(["age", "job", "sex", "zip"]))[: draw(st.integers(1, 4))]
    labels = draw(st.sampled_from([None, "YN", "YNM", "Y"])) if target else None
    classes = None if labels is None else tuple(draw(st.sampled_from(labels)) for _ in range(sum(crowds)))
    subsets = draw(st.lists(st.lists(st.sampled_from(names), min_size=1, unique=True), min_size=1, max_size=3))
    subsets[0] = subsets[0] + [name for name in names if not any(name in subset for subset in subsets)]
    qids = tuple(QuasiIdentifier(subset, draw(st.integers(2, min(5, sum(crowds))))) for subset in subsets)
    return Problem(tuple(draw(columns(name, crowds, kinds)) for name in names), classes, qids)
