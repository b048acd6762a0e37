"""Labels that become values again: only if they are written as the same labels."""

import datetime as dt

import pyarrow as pa
import pytest

from incrowd.engines.kept_types import KeptTypes
from incrowd.recodings.attributes.partition import Partition
from incrowd.recodings.by_value import ByValue
from incrowd.verification.values import as_text, plain


def kept(labels, kind):
    recoding = ByValue((Partition("x", tuple((label,) for label in labels), tuple(labels)),))
    return KeptTypes.of(recoding, pa.schema([("x", kind)])).values.get("x")


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["1", "-2"], pa.int8()),
        (["18446744073709551615"], pa.uint64()),
        (["0.1", "3"], pa.float32()),
        (["1.5"], pa.decimal128(9, 3)),
        (["2020-02-29"], pa.date32()),
        (["2020-02-29 10:00:00", "2020-02-29 10:00:00.5"], pa.timestamp("ms")),
        (["2020-02-29 10:00:00Z"], pa.timestamp("ns", "Europe/Berlin")),
        (["true", "false"], pa.bool_()),
    ],
    ids=str,
)
def test_labels_that_are_values_of_the_type(labels, kind):
    values = kept(labels, kind)
    assert values.type == kind
    assert [as_text(value) for value in plain(values)] == labels  # as the witness reads them


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["01"], pa.int64()),
        (["0x10"], pa.int64()),
        (["300"], pa.int8()),
        (["1.5"], pa.int64()),
        (["0.10000000000000000001"], pa.float64()),
        (["1.2345"], pa.decimal128(9, 2)),
        (["2020"], pa.date32()),
        (["2020-02-29"], pa.timestamp("us")),
        (["1"], pa.string()),
        (["1"], pa.dictionary(pa.int32(), pa.int64())),
    ],
    ids=str,
)
def test_labels_that_are_not(labels, kind):
    assert kept(labels, kind) is None


def test_the_witness_reads_values_of_any_type_as_the_text_that_is_released():
    rows = {"n": pa.array([1, None]), "d": pa.array([dt.date(2020, 1, 1), None]), "t": pa.array(["a", ""])}
    read = {name: [as_text(value) for value in plain(column)] for name, column in rows.items()}
    assert read == {"n": ["1", None], "d": ["2020-01-01", None], "t": ["a", None]}
