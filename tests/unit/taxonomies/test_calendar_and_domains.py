import pytest

from incrowd.errors import PolicyError, TaxonomyError
from incrowd.taxonomies.domains import _countries, icd10_chapter, is_code, regions_of
from incrowd.taxonomies.rules import Bounds, Calendar, Domain, Frequent, rule_of


def test_calendar_nests_months_quarters_and_years():
    rule = Calendar(("month", "quarter", "year", "decade"))
    assert rule.ancestors("1984-05-17") == ("1984-05", "1984-Q2", "1984", "1980s", "*")
    assert rule.ancestors("1984-05-17 10:30:00") == ("1984-05", "1984-Q2", "1984", "1980s", "*")
    assert list(rule.build(["2001-01-01", "1999-12-31"]).leaf_codes) == ["1999-12-31", "2001-01-01"]


@pytest.mark.parametrize(("order", "text"), [("dmy", "17.05.1984"), ("mdy", "5/17/1984"), ("ymd", "1984/5/17")])
def test_calendar_reads_dates_in_any_order(order, text):
    assert Calendar(("month", "year"), order).ancestors(text) == ("1984-05", "1984", "*")


@pytest.mark.parametrize(
    "text", ["17.05.1984", "1984-13-01", "1984-05-32", "1984-05", "soon", "1984-05/17", "84-05-17"]
)
def test_calendar_names_what_is_no_date(text):
    with pytest.raises(TaxonomyError, match="groups dates"):
        Calendar(("year",)).ancestors(text)


def test_a_day_groups_times_and_no_days():
    assert Calendar(("day", "year")).ancestors("1984-05-17 10:30") == ("1984-05-17", "1984", "*")
    assert Calendar(("day", "year")).ancestors("1984-05-17") == ("1984", "*")


@pytest.mark.parametrize("levels", [(), ("week",), ("year", "month"), "month"])
def test_calendar_refuses_other_levels(levels):
    with pytest.raises(PolicyError, match="'levels' parameter of Calendar"):
        Calendar(levels)


def test_bounds_nest():
    rule = Bounds((10, 20, 50), ((20,),))
    assert rule.ancestors("15") == ("[10-20)", "<20", "*")
    assert rule.ancestors("99") == (">=50", ">=20", "*")
    with pytest.raises(PolicyError, match="of the level before"):
        Bounds((10, 20), ((15,),))


def test_frequent_values_stand_alone():
    rule = Frequent(("France", "Spain"))
    assert rule.ancestors("France") == ("*",)
    assert rule.ancestors("Malta") == ("other", "*")
    with pytest.raises(PolicyError, match="label of its own"):
        Frequent(("other",))


def test_every_country_has_a_region():
    codes, names = _countries()
    assert sum(len(code) == 2 for code in codes) == 250  # 249 of ISO 3166, and Kosovo
    assert sum(len(code) == 3 for code in codes) == 250
    assert len({continent for _, continent in codes.values()}) == 6
    assert len(names) >= 250
    assert regions_of("de") == regions_of("DEU") == regions_of("Germany") == ("Western Europe", "Europe")
    assert regions_of("United-States") == ("Northern America", "America")
    assert regions_of("Atlantis") is None
    assert not is_code("TX")


@pytest.mark.parametrize(
    ("code", "chapter"),
    [
        ("A01.2", "A00-B99"),
        ("D48", "C00-D49"),
        ("D50.1", "D50-D89"),
        ("H60", "H60-H95"),
        ("T98", "S00"),
        ("Y10", "V00"),
    ],
)
def test_icd10_chapters(code, chapter):
    assert icd10_chapter(code).startswith(chapter)


def test_icd10_categories_are_no_codes():
    taxonomy = Domain("icd10").build(["E11", "E11.9", "E119", "none"])
    assert taxonomy.path(taxonomy.leaf_code("E11"))[1] == "E11.-"
    assert taxonomy.path(taxonomy.leaf_code("none")) == ("none", "elsewhere", "*")
    assert icd10_chapter("4711") is None


@pytest.mark.parametrize(
    "rule",
    [
        Bounds((1, 2.5)),
        Bounds((1, 2, 3), ((2,),)),
        Frequent(("a", "b"), "all others"),
        Calendar(("month", "year"), "dmy"),
        Domain("country"),
    ],
)
def test_words_are_read_back(rule):
    assert rule_of("column", rule.options()) == rule


def test_unknown_words_are_refused():
    with pytest.raises(PolicyError, match="name"):
        rule_of("place", {"domain": "planet"})
    with pytest.raises(PolicyError, match="must be a file, or one of"):
        rule_of("place", {"other": "x"})
