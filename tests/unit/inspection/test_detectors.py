"""Every detector with values that it must know, and with others that look alike."""

import pytest

from incrowd.inspection import detectors as d

HITS = [
    (d.email_share, ["ann@example.org", "b.c+d@mail.co.uk"]),
    (d.phone_share, ["+49 30 1234567", "212-555-0123", "(030) 123 4567", "0171/2345678", "1-212-555-0123"]),
    (
        d.id_share,
        ["P-004711", "MRN100234", "2020/004711", "123-45-6789", "DE89 3704 0044 0532 0130 00", "192.168.1.10"],
    ),
    (d.id_share, ["9f1c2b3a-1111-2222-3333-123456789abc", "d41d8cd98f00b204e9800998ecf8427e"]),
    (d.first_name_share, ["Anna Meier", "MEYER, Thomas", "José", "Mary-Jane Watson", "Dr. Peter Quinn"]),
    (d.full_name_share, ["Anna Meier", "Li Na Wu", "O'Neill Shaun", "Jean-Luc Picard"]),
    (d.single_name_share, ["Meier", "Ngo", "Van Dyke"]),
    (d.free_text_share, ["came in with a broken arm", "no change since the last visit"]),
    (d.postal_share, ["01234", "99999"]),
    (d.postal_share, ["SW1A 1AA", "M1 1AE"]),
    (d.postal_share, ["K1A 0B1", "V5K 0A1"]),
    (d.country_share, ["DE", "FR", "US"]),
    (d.country_share, ["DEU", "FRA", "USA"]),
    (d.country_share, ["Germany", "United-States", "South Korea"]),
    (d.icd10_share, ["E11.9", "I10", "S72.001A"]),
    (d.sector_share, ["541511", "23", "445"]),
    (d.occupation_share, ["2211", "0110"]),
]
MISSES = [
    (d.email_share, ["ann at example.org", "@ann", "a@b", "5 @ 3.50"]),
    (
        d.phone_share,
        ["1234567.89", "12345", "1990-1995", "12345-6789", "2020-01-31", "50000-59999", "123456789", "$ 100"],
    ),
    (d.phone_share, ["31.12.1980", "123-45-6789", "12-34"]),
    (d.id_share, ["red", "12.50", "2020-01-31", "F", "A1", "7", "<=50K", "20-30 years"]),
    (d.first_name_share, ["Red Chair", "AB-1234", "Exec-managerial", "Anna 5", "HS-grad"]),
    (d.full_name_share, ["SKU 1001", "never married", "Table", "item A of the new catalogue"]),
    (d.single_name_share, ["AB-1234", "x", "never", "One Two Three"]),
    (d.free_text_share, ["Never-married", "Married to a civilian", "White"]),
    (d.postal_share, ["50000", "61250"]),
    (d.postal_share, ["01", "001"]),
    (d.country_share, ["TX", "NY", "FL"]),
    (d.country_share, ["red", "green", "Wonderland"]),
    (d.icd10_share, ["4711", "AB-1", "red"]),
    (d.sector_share, ["18", "5", "7000000"]),
    (d.occupation_share, ["12", "12345", "a123"]),
]


@pytest.mark.parametrize(("detector", "values"), HITS)
def test_hits(detector, values):
    assert detector(values) == 1


@pytest.mark.parametrize(("detector", "values"), MISSES)
def test_misses(detector, values):
    assert detector(values) == 0


def test_shares_are_of_distinct_values():
    assert d.email_share(["a@b.org", "none", "c@d.org", "?"]) == 0.5
    assert d.email_share([]) == 0


def test_bare_digits_need_a_name():
    assert d.phone_share(["2125550123"]) == 0
    assert d.phone_share(["2125550123", "555-0123"], named=True) == 1
    assert d.postal_share(["50000", "61250"], named=True) == 1


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["1980-12-31", "1999-01-01"], "ymd"),
        (["31.12.1980"], "dmy"),
        (["12/31/1980", "1/2/1990"], "mdy"),
        (["19801231"], "ymd"),
        (["80123199"], None),
        (["31.12.1980", "12/31/1980"], None),
        (["1234567.89"], None),
        ([], None),
    ],
)
def test_the_order_of_dates(values, order):
    assert d.date_order(values) == order
