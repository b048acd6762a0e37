"""Measures against their definitions, written down record by record."""

from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.engines.arrow.recode import Recoder
from incrowd.measures.measures import measure
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.recodings.attributes.cut import Cut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.by_value import ByValue
from incrowd.table.attributes import encode
from incrowd.table.compressed import CompressedTable
from incrowd.table.scales import Scale
from incrowd.taxonomies.taxonomy import Taxonomy

TREE = Taxonomy.from_tree({"*": {"s": ["a", "b"], "t": {"u": ["c", "d"], "e": {}}}})
CUTS = [("*",), ("s", "t"), ("a", "b", "t"), ("s", "u", "e"), ("a", "b", "c", "d", "e")]
LEAVES_BELOW = {"*": 5, "s": 2, "t": 3, "u": 2}
INTEGERS = Scale("integer")
QIDS = (("tree", "number"), 2), (("number", "flat"), 3)
REQUIREMENTS = tuple(Requirement(names, (KAnonymity(k),)) for names, k in QIDS)
NAMES = ("tree", "number", "flat")


def table_of(rows, target=True):
    """Rows of (tree, number, flat, class), where number may be missing."""
    tree, number, flat, classes = zip(*rows, strict=True)
    known = sorted({n for n in number if n is not None})
    attributes, codes = [], []
    for name, column, taxonomy in (("tree", tree, TREE), ("number", number, None), ("flat", flat, None)):
        values = known if name == "number" else sorted(set(column))
        kind = pa.int64() if name == "number" else pa.string()
        attribute, code_of = encode(name, pa.array(values, kind), has_missing=None in column, taxonomy=taxonomy)
        place = {**{value: i for i, value in enumerate(values)}, None: -1}
        attributes.append(attribute)
        codes.append(np.array([code_of[place[value]] for value in column]))
    counts = np.ones(len(rows), np.int64)
    if not target:
        return CompressedTable.build(attributes, codes, counts)
    labels = sorted(set(classes))
    return CompressedTable.build(attributes, codes, counts, (labels, np.array([labels.index(c) for c in classes])))


@st.composite
def problems(draw):
    row = st.tuples(
        st.sampled_from("abcde"), st.sampled_from([1, 2, 5, 9, None]), st.sampled_from("xyz"), st.booleans()
    )
    rows = [(*row[:3], "yn"[row[3]]) for row in draw(st.lists(row, min_size=1, max_size=25))]
    numbers = {row[1] for row in rows}
    known = sorted(numbers - {None})
    apart = draw(st.booleans()) or not known
    bounds = tuple(n for n in known[1:] if draw(st.booleans()))
    missing = "none" if None not in numbers else "apart" if apart else "merged"
    number = Intervals("number", INTEGERS, () if missing == "merged" else bounds, None, missing)
    nodes = tuple(TREE.node(label) for label in draw(st.sampled_from(CUTS)))
    flat = Disclosure("flat", tuple(draw(st.sets(st.sampled_from("xyz")))))
    attributes = (Cut("tree", TREE, nodes), number, flat)
    classes = None
    if draw(st.booleans()):
        cells = list(product(*(range(len(attribute.labels)) for attribute in attributes)))
        classes = tuple(cell for cell in cells if draw(st.booleans()))
    return rows, ByValue(attributes, classes=classes)


def released(rows, recoding):
    """The released cells of each record, None for a suppressed one."""
    batch = pa.RecordBatch.from_pylist([dict(zip(NAMES, row, strict=False)) for row in rows])
    columns, keep = Recoder(recoding, lambda: [batch]).recode(batch)
    cells = zip(*(columns[name].to_pylist() for name in NAMES), strict=True)
    return [cell if keep is None or keep[i] else None for i, cell in enumerate(cells)]


def cell_loss(name, row, label, recoding, rows):
    """Generalized loss of one cell by definition."""
    if name == "tree":
        return (LEAVES_BELOW.get(label, 1) - 1) / 4
    if name == "flat":
        return float(label == "*")
    value, known = row[1], sorted({r[1] for r in rows} - {None})
    intervals = recoding["number"]
    if intervals.missing == "merged":
        return 1.0
    if value is None or known[0] == known[-1]:
        return 0.0
    low = max([known[0], *(b for b in intervals.bounds if b <= value)])
    high = min([known[-1], *(b - 1 for b in intervals.bounds if b > value)])
    return (high - low) / (known[-1] - known[0])


def check(found, names, k, rows, recoding):
    """Compare one set of measures with their definitions."""
    cells = released(rows, recoding)
    places = [NAMES.index(name) for name in names]
    classes = [None if cell is None else tuple(cell[place] for place in places) for cell in cells]
    sizes = Counter(c for c in classes if c is not None)
    suppressed = classes.count(None)
    labels = defaultdict(Counter)
    for row, c in zip(rows, classes, strict=True):
        labels[c][row[3]] += 1
    wrong = sum(1 for row, c in zip(rows, classes, strict=True) if c is None) + sum(
        sum(counter.values()) - max(counter.values()) for c, counter in labels.items() if c is not None
    )
    losses = [
        1.0 if cell is None else cell_loss(name, row, cell[NAMES.index(name)], recoding, rows)
        for row, cell in zip(rows, cells, strict=True)
        for name in names
    ]
    assert found.attributes == names
    assert found.k == k
    assert found.suppressed == suppressed
    assert found.classes == len(sizes)
    assert found.anonymity == min(sizes.values(), default=0)
    assert found.largest_class == max(sizes.values(), default=0)
    assert found.median_class == (sorted(sizes.values())[(len(sizes) - 1) // 2] if sizes else 0)
    assert found.dm == sum(len(rows) if c is None else sizes[c] for c in classes)
    assert found.c_avg == pytest.approx(sum(sizes.values()) / max(1, len(sizes)) / k)
    assert found.cm == pytest.approx(wrong / len(rows))
    assert found.ncp == pytest.approx(sum(losses) / len(losses))


@given(problems())
def test_every_measure_equals_its_definition(problem):
    rows, recoding = problem
    found = measure(table_of(rows), recoding, REQUIREMENTS)
    assert found.records == len(rows)
    check(found.total, NAMES, 3, rows, recoding)
    for part, (names, k) in zip(found.quasi_identifiers, QIDS, strict=True):
        check(part, names, k, rows, recoding)
    for part, name, k in zip(found.attributes, NAMES, (2, 3, 3), strict=True):
        check(part, (name,), k, rows, recoding)


@given(problems())
def test_without_a_target_only_the_classification_metric_is_missing(problem):
    rows, recoding = problem
    with_target, without = (measure(table_of(rows, target), recoding, REQUIREMENTS).total for target in (True, False))
    assert without.cm is None
    assert without.dm == with_target.dm
    assert without.ncp == with_target.ncp


def test_an_example_by_hand():
    """Three people below 9 (2 y, 1 n) and one of 9 (n); all trees under s or t; x shown, the rest suppressed."""
    rows = [("a", 1, "x", "y"), ("b", 2, "x", "y"), ("a", 1, "x", "n"), ("e", 9, "z", "n")]
    cut = Cut("tree", TREE, (TREE.node("s"), TREE.node("t")))
    recoding = ByValue((cut, Intervals("number", INTEGERS, (9,)), Disclosure("flat", ("x",))))
    found = measure(table_of(rows), recoding, (Requirement(NAMES, (KAnonymity(2),)),))
    assert found.total.dm == 3 * 3 + 1
    assert found.total.c_avg == (4 / 2) / 2
    assert found.total.cm == 1 / 4
    tree, number, flat = (part.ncp for part in found.attributes)
    assert tree == pytest.approx((3 * 1 / 4 + 2 / 4) / 4)
    assert number == pytest.approx(3 * (8 - 1) / 8 / 4)
    assert flat == pytest.approx(1 / 4)
    assert found.total.ncp == pytest.approx((tree + number + flat) / 3)
    assert found.to_json()["total"]["classes"] == 2


def test_discernibility_is_exact_beyond_64_bits():
    attribute, _ = encode("flat", pa.array(["x"]), has_missing=False)
    table = CompressedTable.build([attribute], [np.array([0])], np.array([2**40]))
    found = measure(table, ByValue((Disclosure("flat", ()),)), (Requirement(("flat",), (KAnonymity(2),)),))
    assert found.total.dm == 2**80
