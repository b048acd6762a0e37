"""The page is one file without script or request, and no value of a table can change that."""

import json
import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest
from tests.examples import check

import incrowd
from incrowd.report.charts import class_sizes_chart
from incrowd.report.labels import LONGEST, meaning, shown
from incrowd.report.markdown import markdown_of
from incrowd.report.page import html_of
from incrowd.report.summary import summary_of

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

ATTACKS = [
    "</script><img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "\"><a href='javascript:alert(1)'>",
    "</style></title></desc><script>alert(1)</script>",
    "{{ 7*7 }}{% raw %}",
    "[x](javascript:alert(1)) | ``` |",
    "\u202eright to left\u2066",
    "שלום עולם",
    "a\x00b\x1b[31m",
    "x" * 1_000_000,
]
EMPTY_TAGS = {"meta", "link", "br", "img"}


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in EMPTY_TAGS:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def attacked(rows=80):
    """A table whose column names and values are attacks."""
    return pa.table(
        {
            ATTACKS[0]: [ATTACKS[number % len(ATTACKS)] for number in range(rows)],
            "</desc>{{ 7*7 }}": [number % 9 for number in range(rows)],
            ATTACKS[3]: [ATTACKS[number % 3] for number in range(rows)],
            "x" * 5_000: ["a"] * rows,
        }
    )


@pytest.fixture(scope="module", params=["tdr", "cover"])
def release(request):
    columns = attacked().column_names
    return incrowd.anonymize(
        attacked(), quasi_identifiers=columns[:2], k=2, sensitive=[columns[2]], method=request.param
    )


@pytest.mark.parametrize("public", [False, True])
class TestAttacks:
    def test_no_value_becomes_code(self, release, public):
        page = Page(html_of(summary_of(release, for_public=public)))
        assert page.open == []
        assert not {"script", "img", "iframe", "object", "form", "link", "base"} & set(page.tags)
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        assert all((value or "").startswith("#") for name, value in page.attributes if name in ("href", "src"))
        assert any("{{ 7*7 }}" in text for text in page.texts)

    def test_nothing_is_loaded(self, release, public):
        text = html_of(summary_of(release, for_public=public))
        assert not re.search(r"url\(|@import|https?://", text)
        assert "default-src 'none'" in text

    def test_long_values_are_cut(self, release, public):
        summary = summary_of(release, for_public=public)
        assert len(json.dumps(summary)) < 100_000
        assert len(html_of(summary)) < 200_000

    def test_direction_stays_inside_a_value(self, release, public):
        text = html_of(summary_of(release, for_public=public))
        assert "\u202e" not in text
        assert "\x00" not in text
        if not public:
            assert "שלום עולם" in text

    def test_markdown_and_notebook(self, release, public):
        told = markdown_of(summary_of(release, for_public=public))
        outside = re.sub(r"^(`{3,})\n.*?^\1$", "", told, flags=re.DOTALL | re.MULTILINE)  # code is shown as it is
        assert not re.search(r"(?<!\\)<(script|img|svg|a)", outside)
        page = Page(release._repr_html_())
        assert page.open == []
        assert not {"script", "img"} & set(page.tags)


def test_a_confidential_report_says_so_on_screen_and_on_every_printed_page(release):
    steward, public = (html_of(summary_of(release, for_public=public)) for public in (False, True))
    assert "Confidential: for the steward" in steward
    assert '@top-center { content: "CONFIDENTIAL' in steward
    assert "onfidential" not in re.sub(r"<style>.*?</style>", "", public, flags=re.DOTALL)


def test_every_chart_has_a_name_a_description_and_its_data(release):
    text = html_of(summary_of(release, for_public=False))
    assert text.count('role="img"') == text.count("The data of this chart") >= 4
    assert all(len(about) > 20 for about in re.findall("<desc[^>]*>(.*?)</desc>", text, re.DOTALL))


@check
def test_a_thousand_columns_stay_readable():
    rows = 30
    table = pa.table({f"column {number}": [(number + row) % 2 for row in range(rows)] for number in range(1000)})
    release = incrowd.anonymize(table, quasi_identifiers=table.column_names[:60], k=2, method="mondrian")
    text = html_of(summary_of(release, for_public=False))
    assert len(text) < 2_000_000
    assert "and 20 more columns" in text
    assert "and 928 more" in text  # columns that passed through


def test_ten_thousand_categories_stay_readable():
    table = pa.table({"code": [f"code {number}" for number in range(10_000)] * 2, "sex": ["f", "m"] * 10_000})
    release = incrowd.anonymize(table, quasi_identifiers=["code", "sex"], k=2, method="datafly")
    text = html_of(summary_of(release, for_public=False))
    assert len(text) < 300_000
    assert "9,989 other values" in text


def test_a_release_by_steps_shows_its_path():
    table = pa.table({"age": list(range(60)), "sex": ["f", "m"] * 30})
    release = incrowd.anonymize(table, quasi_identifiers=["age", "sex"], k=5, method="tdr")
    path = summary_of(release, for_public=False)["cost"]["path"]
    assert path["chosen"] == len(release.steps)
    assert path["anonymity"][-1]["value"] >= 5
    assert path["losses"][0]["value"] == 1
    assert path["losses"][-1]["value"] == pytest.approx(release.measures.total.ncp, abs=1e-6)


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("*", "any value"),
        ("[20-25)", "from 20 up to, but not including, 25"),
        ("[20-25]", "from 20 to 25"),
        ("<18", "less than 18"),
        ("<=18", "at most 18"),
        (">=65", "65 or more"),
        ("{a, b}", "one of these values"),
        ("<script>", ""),
        ("[not an interval", ""),
        ("clerk", ""),
    ],
)
def test_what_a_released_value_stands_for(label, told):
    assert meaning(label) == told


def test_what_is_shown_of_a_value():
    assert shown(None) == "(empty)"
    assert shown("x" * (LONGEST + 1)).endswith(f"… ({LONGEST + 1} characters)")
    assert shown("a\nb\u202e\ud800") == "a\ufffdb\ufffd\ufffd"


def test_a_bar_for_each_size():
    bins = [{"from": 2, "to": 2, "crowds": 3, "records": 6}, {"from": 3, "to": 9, "crowds": 0, "records": 0}]
    sizes = {"counted": "records", "crowds": 3, "smallest": 2, "median": 2, "largest": 2, "bins": bins}
    chart = class_sizes_chart(sizes)
    assert chart.svg.count("<rect") == 2
    assert "2: 6" in chart.svg
    assert "the smallest has 2 records" in chart.about
    people = class_sizes_chart({**sizes, "counted": "people", "smallest": 1})
    assert "the smallest has 1 person," in people.about
    assert people.title == "People by the size of their smallest crowd"
