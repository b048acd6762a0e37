import pytest

from incrowd.errors import PolicyError, TaxonomyError
from incrowd.taxonomies.rules import Bounds, Coding, Flat, Intervals, Prefix, rule_of
from incrowd.taxonomies.taxonomy import Taxonomy


def test_prefix_masks_to_the_length_of_the_value():
    rule = Prefix((3, 2))
    assert rule.ancestors("12345") == ("123**", "12***", "*")
    assert rule.ancestors("1234") == ("123*", "12**", "*")
    assert rule.ancestors("12") == ("*",)
    taxonomy = rule.build(["12399", "98765", "12345", "12000"])
    assert list(taxonomy.leaf_codes) == ["12000", "12345", "12399", "98765"]
    assert taxonomy.path(1) == ("12345", "123**", "12***", "*")


def test_intervals_nest():
    rule = Intervals((5, 10))
    assert rule.ancestors("23") == ("[20-25)", "[20-30)", "*")
    assert rule.ancestors("25") == ("[25-30)", "[20-30)", "*")
    assert rule.ancestors("-1") == ("[-5 to 0)", "[-10 to 0)", "*")
    assert Intervals((5, 10), origin=18).ancestors("23") == ("[23-28)", "[18-28)", "*")
    assert list(rule.build(["100", "9", "-3", "20.5"]).leaf_codes) == ["-3", "9", "20.5", "100"]


def test_interval_arithmetic_is_exact():
    assert Intervals((0.1, 0.5)).ancestors("0.3") == ("[0.3-0.4)", "[0-0.5)", "*")
    assert Intervals((0.1,), origin=0.05).ancestors("1.15") == ("[1.15-1.25)", "*")


def test_bounds():
    rule = Bounds((18, 65))
    labels = [rule.ancestors(value)[0] for value in ("17.9", "18", "64", "65", "-2")]
    assert labels == ["<18", "[18-65)", "[18-65)", ">=65", "<18"]
    assert rule.build(["70", "9", "18"]) == Taxonomy.from_tree({"*": {"<18": ["9"], "[18-65)": ["18"], ">=65": ["70"]}})


def test_top_and_bottom_coding():
    rule = Coding(18, 90)
    assert [rule.ancestors(value) for value in ("17.9", "18", "89", "90")] == [
        ("<18", "*"),
        ("*",),
        ("*",),
        (">=90", "*"),
    ]
    assert Coding(top=0.5, comma=True).ancestors("0,75") == (">=0,5", "*")
    assert rule.build(["97", "12", "40"]) == Taxonomy.from_tree({"*": {"<18": ["12"], "40": {}, ">=90": ["97"]}})


def test_intervals_end_where_top_and_bottom_coding_begin():
    rule = Intervals((5, 20), bottom=18, top=90)
    paths = {value: rule.ancestors(value) for value in ("17", "18", "21", "89", "90", "2000")}
    assert paths == {
        "17": ("<18", "*"),
        "18": ("[18-20)", "*"),
        "21": ("[20-25)", "[20-40)", "*"),
        "89": ("[85-90)", "[80-90)", "*"),
        "90": (">=90", "*"),
        "2000": (">=90", "*"),
    }


@pytest.mark.parametrize(
    "options",
    [
        {"top": 90},
        {"bottom": 18},
        {"top": 90, "bottom": 18, "comma": True},
        {"widths": [5, 10], "origin": 0, "top": 90},
    ],
)
def test_a_rule_with_top_or_bottom_coding_is_written_as_it_is_read(options):
    assert rule_of("age", options).options() == options


def test_top_coding_by_itself_says_nothing_about_prefixes():
    with pytest.raises(PolicyError, match="is by prefix, where top says nothing"):
        rule_of("zip", {"prefix": [3], "top": 90})


def test_flat_is_sorted_whatever_the_order():
    assert Flat().build(["b", "a", "b"]) == Taxonomy.flat(["a", "b"])
    assert Flat("ANY").ancestors("new") == ("ANY",)
    with pytest.raises(TaxonomyError, match="a leaf and a root"):
        Flat().build(["a", "*"])


@pytest.mark.parametrize("rule", [Intervals((5,)), Bounds((5,))])
@pytest.mark.parametrize("value", ["abc", "", "nan", "sNaN", "inf", "1e999999999", "1e-999999999"])
def test_a_value_that_is_no_number_is_named_alone(rule, value):
    with pytest.raises(TaxonomyError, match=f"got '{value}'") as caught:
        rule.build(["4711", value])
    assert "4711" not in str(caught.value)


def test_a_masked_value_among_the_values_is_an_error():
    with pytest.raises(TaxonomyError, match=r"'12\*' is both a leaf and an inner node"):
        Prefix((2,)).build(["123", "12*"])


@pytest.mark.parametrize(
    ("rule", "arguments", "message"),
    [
        (Prefix, ((2, 3),), "'lengths' parameter of Prefix must be strictly decreasing"),
        (Prefix, ((0,),), "'lengths'"),
        (Prefix, ((),), "'lengths'"),
        (Intervals, ((5, 12),), "'widths' parameter of Intervals must each be a multiple"),
        (Intervals, ((10, 5),), "'widths'"),
        (Intervals, ((-5,),), "'widths'"),
        (Intervals, ((5,), float("nan")), "'origin'"),
        (Intervals, ((5,), 0, False, 90, 18), r"'top' parameter of Intervals must be above the bottom, 90\. Got 18"),
        (Coding, (), "'top' parameter of Coding must be a number where there is no bottom"),
        (Coding, ("18",), "'bottom' parameter of Coding must be a number"),
        (Bounds, ((65, 18),), r"'bounds' parameter of Bounds must be strictly ascending numbers\. Got \(65, 18\)"),
        (Bounds, (18,), "'bounds'"),
    ],
)
def test_a_rule_checks_its_parameters(rule, arguments, message):
    with pytest.raises(PolicyError, match=message):
        rule(*arguments)


def test_lists_of_a_policy_file_will_do():
    assert Prefix([3, 2]) == Prefix((3, 2))


def test_a_taxonomy_has_one_rule():
    with pytest.raises(PolicyError, match="has two rules, prefix and flat; choose one"):
        rule_of("zip", {"prefix": [3], "flat": True})
