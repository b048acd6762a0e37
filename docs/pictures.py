"""Takes the pictures of these pages: `python -m docs.pictures`, with a Chromium (`python -m tests.chromium`).

The screens of the studio on the census data, as a person would walk through them, and the first page of a report.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests import chromium
from tests.browser.pages import Page
from tests.studio import studio

from incrowd import datasets

HERE = Path(__file__).parent
SIZE = {"width": 1280, "height": 800}
KEPT = ("fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week")


def walk(page: Page, folder: Path) -> None:
    """Walk through the screens and take a picture of each, into a folder."""

    def picture(name: str) -> None:
        page.page.mouse.move(0, 0)
        page.page.wait_for_timeout(6_000)  # until what was said is gone
        page.page.screenshot(path=folder / f"studio-{name}.png")

    page.see(".column")
    picture("data")
    page.at("Roles").see("#figures .big")
    for column in KEPT:
        page.give(column, "Keep")
    page.give("income", "Predict")
    boxes = page.page.locator("input[id^=keep-]:not(:checked)")
    while boxes.count():
        with page.page.expect_response(lambda answer: answer.url.endswith("/roles/keep")):
            boxes.first.click()
    page.expect(page.page.locator("#figures .stale")).to_have_count(0)
    page.page.evaluate("scrollTo(0, 0)")
    picture("roles")
    page.at("Hierarchies").see(".level")
    picture("hierarchies")
    page.at("Protect").page.get_by_role("button", name="10", exact=True).click()
    page.expect(page.page.locator("#policy")).to_contain_text("k = 10")
    picture("protect")
    page.at("Release").page.get_by_role("button", name="Make the release").click()
    page.see(".promise")
    picture("release")
    page.at("Risk").page.get_by_role("button", name="Count the risk").click()
    page.expect(page.page.locator("#risk-1")).to_be_visible(timeout=900_000)
    picture("risk")
    page.at("Utility").page.get_by_role("button", name="Train and test").click()
    page.expect(page.page.locator("#trials")).to_be_visible(timeout=900_000)
    picture("utility")
    page.at("Attack").page.get_by_role("button", name="Attack the release").click()
    page.see(".attacks")
    picture("attack")
    page.at("Compare").page.fill("#seconds", "600")
    page.page.get_by_role("button", name="Compare", exact=True).click()
    page.expect(page.page.locator("#settings")).to_be_visible(timeout=900_000)
    picture("compare")
    page.at("Export").page.get_by_role("button", name="Make the files").click()
    page.see(".downloads")
    for place in page.page.locator("bdi.mono").all():  # the folder of this run is of no interest
        place.evaluate("node => { node.textContent = node.textContent.replace(/^.*?(?=adult|$)/, 'census/') }")
    picture("export")


def report(browser: Any, folder: Path) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 594})
    page.goto((HERE / "example-report.html").as_uri())
    page.screenshot(path=folder / "report.png")


def take(folder: Path = HERE) -> None:
    """Take all pictures, into a folder."""
    with TemporaryDirectory() as made, chromium.launched() as browser:
        shutil.copyfile(datasets.adult(), Path(made) / "adult.csv.gz")
        with studio(Path(made), "adult.csv.gz") as (_, link):
            walk(Page(browser.new_context(viewport=SIZE), link), folder)
        report(browser, folder)


if __name__ == "__main__":
    take()
