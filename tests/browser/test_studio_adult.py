"""The whole way on the census data, by mouse: roles, promise, release, files."""

import re
import shutil

import pytest
from tests.browser.pages import WIDE, Page
from tests.studio import studio

from incrowd import datasets

KEPT = ("fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("adult")
    shutil.copyfile(datasets.adult(), made / "adult.csv.gz")
    return made


@pytest.fixture(scope="module")
def page(chromium, folder):
    with studio(folder, "adult.csv.gz") as (_, link):
        yield Page(chromium.new_context(viewport=WIDE, accept_downloads=True), link)


def test_the_whole_way(page, folder):
    assert "token" not in page.page.url
    page.see(".column")
    assert page.page.locator(".column").count() == 15
    page.expect(page.page.get_by_role("heading", name="45,222 records, 15 columns")).to_be_visible()
    page.at("Roles").see("#figures .big")
    before = page.page.locator("#figures .big b").inner_text()
    for column in KEPT:
        page.give(column, "Keep")
    with page.page.expect_response(lambda answer: answer.url.endswith("/roles/keep")):  # nearly unique
        page.page.get_by_label("Keep it unchanged on purpose").click()
    page.give("income", "Predict")
    page.expect(page.page.locator("#figures .big b")).not_to_have_text(before)
    page.expect(page.page.locator("#figures .stale")).to_have_count(0)
    page.at("Protect").page.get_by_role("button", name="10", exact=True).click()
    page.expect(page.page.locator("#policy")).to_contain_text("k = 10")
    page.expect(page.page.locator("#policy")).to_contain_text('target = "income"')
    page.at("Release").page.get_by_role("button", name="Make the release").click()
    page.see(".promise")
    assert "at least 10 records" in page.page.locator(".promise").inner_text()
    assert int(page.page.locator(".tile b").first.inner_text()) >= 10
    assert page.page.locator("svg.chart").count() >= 2
    assert page.page.locator(".pairs ins").count() > 5
    page.at("Export").page.get_by_role("button", name="Make the files").click()
    page.see(".downloads")
    with page.page.expect_download() as download:
        page.page.get_by_role("link", name="release.csv").click()
    written = (folder / "adult.studio" / "export" / "release.csv").read_bytes()
    assert download.value.suggested_filename == "release.csv"
    with open(download.value.path(), "rb") as file:
        assert file.read() == written
    assert re.match(r"incrowd anonymize adult\.csv\.gz -o release\.csv", page.page.locator("#command").inner_text())
    assert page.said == []


def test_undo_brings_the_policy_back_and_marks_the_release(page):
    page.at("Protect").change("k", "25")
    page.expect(page.page.locator("#policy")).to_contain_text("k = 25")
    page.at("Release").see(".stale")
    page.page.get_by_role("button", name="Undo").click()
    page.expect(page.page.locator(".stale")).to_have_count(0)
    page.at("Protect")
    page.expect(page.page.locator("#policy")).to_contain_text("k = 10")
