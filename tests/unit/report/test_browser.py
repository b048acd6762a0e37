"""The page in a real browser: every chart is drawn, nothing is asked for, nothing complains, and it prints whole pages.

Needs Playwright (in the `test` extra) and a Chromium: Debian's package, or the path of one in INCROWD_CHROMIUM.
"""

import os
import re
import shutil
import zlib

import pyarrow as pa
import pytest

import incrowd
from incrowd.report.page import all_charts
from incrowd.report.summary import summary_of

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("INCROWD_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium; install one, or set INCROWD_CHROMIUM to its path"
)
SECONDS = 2


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


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
def test_every_chart_is_drawn_and_nothing_leaves_the_file(browser, release, report, scheme, width):
    page = opened(browser, report, color_scheme=scheme, viewport={"width": width, "height": 800})
    charts = page.locator("svg.chart")
    assert charts.count() == len(all_charts(summary_of(release, for_public=False)))
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
    sync_api.expect(page.locator("details table").first).to_be_visible()


def test_it_prints_whole_pages_and_each_says_confidential(browser, report):
    page = opened(browser, report)
    printed = page.pdf(prefer_css_page_size=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert pages >= 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = set(re.findall(rb"/MediaBox \[([^]]*)\]", printed))
    assert len(boxes) == 1  # all of one size
    streams = [_inflated(found) for found in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", printed, re.DOTALL)]
    assert sum(b"Tj" in stream or b"TJ" in stream for stream in streams) >= pages


def _inflated(stream):
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""
