"""The page in a real browser: every chart is drawn, nothing is asked for, nothing complains, and it prints whole pages.

Needs Playwright (in the `test` extra) and a Chromium (see `tests.chromium`).
"""

import io

import pyarrow as pa
import pytest
from playwright.sync_api import expect
from pypdf import PdfReader
from tests import chromium

import incrowd
from incrowd.report.files import write_result

pytestmark = [chromium.needed, pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")]
SECONDS = 20  # below 1 where nothing else runs


@pytest.fixture(scope="module")
def browser():
    with chromium.launched() as found:
        yield found


@pytest.fixture(scope="module")
def release():
    names = ["</script><img src=x onerror=alert(1)>", "שלום", "clerk", "nurse"]
    rows = 400
    table = pa.table(
        {
            "age": [18 + (number * 7) % 60 for number in range(rows)],
            "job": [names[(number * 3) % 4] for number in range(rows)],
            "sex": [("f", "m")[number % 2] for number in range(rows)],
            "ill": [("flu", "cold", "ache")[number % 3] for number in range(rows)],
        }
    )
    words = {"quasi_identifiers": ["age", "job", "sex"], "k": 5, "sensitive": ["ill"], "method": "tdr"}
    return incrowd.anonymize(table, **words)


@pytest.fixture(scope="module")
def report(release, tmp_path_factory):
    return release.report(tmp_path_factory.mktemp("report") / "report.html")


def opened(browser, path, **words):
    """A page, with what it said on the console and what it asked for."""
    page = browser.new_context(**words).new_page()
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("dialog", lambda dialog: page.said.append(dialog.message))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_every_chart_is_drawn_and_nothing_leaves_the_file(browser, report, scheme, width):
    page = opened(browser, report, color_scheme=scheme, viewport={"width": width, "height": 800})
    charts = page.locator("svg.chart")
    assert charts.count() == report.read_text(encoding="utf-8").count('<svg class="chart"') >= 7
    for chart in charts.all():
        box = chart.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 40
        assert chart.locator("rect, polyline, circle").count()
    assert page.said == []
    assert page.asked == [report.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing sticks out
    assert page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart") < SECONDS * 1000


def test_names_for_keyboard_and_screen_reader(browser, report):
    page = opened(browser, report)
    for chart in page.get_by_role("img").all():
        assert chart.evaluate("node => node.querySelector('title').textContent.length") > 0
        assert chart.evaluate("node => node.querySelector('desc').textContent.length") > 20
    for question in ("Is it safe?", "What did it cost?", "What was done?", "How can anyone check it?"):
        assert page.get_by_role("heading", name=question).count() == 1
        assert page.get_by_role("link", name=question).count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Is it safe?"
    page.locator("details summary").first.press("Enter")
    expect(page.locator("details table").first).to_be_visible()


@pytest.mark.parametrize("public", [False, True])
def test_it_prints_whole_pages_and_each_says_confidential(browser, release, tmp_path, public):
    page = opened(browser, release.report(tmp_path / "report.html", public=public))
    pages = printed(page)
    assert len(pages) >= 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len({(sheet.mediabox.width, sheet.mediabox.height) for sheet in pages}) == 1
    for number, sheet in enumerate(pages, start=1):
        text = " ".join(sheet.extract_text().split())
        assert ("CONFIDENTIAL" in text) == (not public)
        assert f"page {number} of {len(pages)}" in text


@pytest.mark.parametrize("result", ["inspection", "comparison"])
def test_pages_of_other_results_say_confidential_too(browser, tmp_path, result):
    rows = pa.table({f"column {number}": [(row * number) % 7 for row in range(70)] for number in range(1, 60)})
    names = rows.column_names[:2]
    found = (
        incrowd.inspect(rows)
        if result == "inspection"
        else incrowd.compare(rows, methods=["mondrian", "datafly"], ks=[2, 3, 4, 5], quasi_identifiers=names)
    )
    page = opened(browser, write_result(found, tmp_path / "page.html"), viewport={"width": 360, "height": 800})
    assert page.said == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert all("CONFIDENTIAL" in sheet.extract_text() for sheet in printed(page))


def test_a_setting_says_what_it_is_when_it_is_pointed_at(browser, tmp_path):
    rows = pa.table({"age": [row % 40 for row in range(400)], "sex": ["f", "m"] * 200})
    words = {"methods": ["mondrian", "datafly"], "ks": [2, 10, 40], "quasi_identifiers": ["age", "sex"]}
    page = opened(browser, write_result(incrowd.compare(rows, **words), tmp_path / "page.html"))
    chart = page.get_by_role("group", name="NCP by k")
    point = chart.get_by_role("img", name="mondrian, k=40: NCP")
    for reach in (point.hover, point.focus):
        expect(point.locator(".tip")).to_be_hidden()
        expect(chart.locator(".hint")).to_be_visible()
        reach()
        expect(point.locator(".tip")).to_be_visible()
        expect(chart.locator(".hint")).to_be_hidden()
        page.mouse.move(0, 0)
    grey = chart.locator(".point:has(circle.before)")
    assert grey.count()
    assert all("dominated by" in name for name in grey.evaluate_all("all => all.map(each => each.ariaLabel)"))


def printed(page):
    """The sheets of a page on paper."""
    return PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages
