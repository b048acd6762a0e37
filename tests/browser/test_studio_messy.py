"""The whole way on a table as people have it, with everything that can come in between."""

import os
import signal

import pytest
from tests.browser.pages import WIDE, Page, going_on, halted
from tests.browser.tables import messy_text
from tests.studio import studio


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("messy")
    (made / "patients.csv").write_text(messy_text(), encoding="utf-8")
    (made / "broken.csv").write_text('a;b\n1;2;3\n"4\n')
    return made


@pytest.fixture(scope="module")
def running(chromium, folder):
    with studio(folder) as (process, link):
        yield process, Page(chromium.new_context(viewport=WIDE), link)


def second(page):
    """Another tab of the same browser."""
    return Page(page.page.context, page.page.url)


def promised(page, name, value):
    """Type a promise about the sensitive column."""
    field = page.page.locator(f"#p0-{name}")
    if not field.is_visible():
        page.page.get_by_text("Other promises").click()
    with page.page.expect_response(lambda answer: answer.url.endswith("/protect/promise")):
        field.fill(value)
        field.press("Tab")


def test_an_error_on_data_and_then_the_table(page):
    page.at("Data").see("#path").fill("../secret.csv")
    page.page.get_by_role("button", name="Open").click()
    page.problem("in the folder of the studio")
    page.page.locator("#path").fill("broken.csv")
    page.page.get_by_role("button", name="Open").click()
    page.problem("broken.csv")
    page.page.get_by_text("Open a different table").click()
    page.page.get_by_role("button", name="patients.csv").click()
    page.see(".column")
    assert page.page.locator(".column").count() == 40
    assert page.page.locator(".column", has_text="full name").locator(".warn").count() >= 1
    assert "semicolon" in page.page.locator(".dialect summary").inner_text()


def test_screens_before_their_time_say_what_is_missing(page):
    page.at("Export")
    page.expect(page.page.get_by_text("There is no release yet.")).to_be_visible()


def test_an_error_on_roles(page):
    """A page from before the table was changed asks for a column that there is not."""
    page.at("Roles").see("#figures .big")
    page.page.evaluate(
        "document.querySelector('#r0-0').setAttribute('hx-vals', '{\"column\": 99, \"role\": \"target\"}')"
    )
    page.page.evaluate("document.querySelector('#r0-0').dispatchEvent(new Event('change', {bubbles: true}))")
    page.problem("out of date")


def test_roles_of_forty_columns(page):
    page.at("Roles")
    page.page.get_by_label("Names containing").fill("question")
    page.page.get_by_role("button", name="Set this role").click()
    page.expect(page.page.locator("#said")).to_have_text("30 columns: Keep.")
    page.give("height (cm)", "Keep")
    page.give("admitted", "Drop")
    roles = {"full name": "Drop", "e-mail": "Drop", "zip": "Known to outsiders", "diagnosis": "Protect"}
    for column, role in roles.items():
        group = page.page.get_by_role("radiogroup", name=f"Role of {column}", exact=True)
        page.expect(group.get_by_role("radio", name=role, exact=True)).to_be_checked()


def test_a_count_that_ends_before_the_page_that_shows_it_comes_is_seen(page):
    """Events and answers come by different ways; whichever is first, the figures are of the roles that are given."""

    def late(route):
        answer = route.fetch()
        assert "data-job" in answer.text()
        while "data-job" in page.page.context.request.get(f"{page.base}/roles/figures").text():
            pass  # until it is over
        route.fulfill(response=answer)

    figures = page.at("Roles").page.locator("#figures")
    page.expect(figures.locator(".stale")).to_have_count(0)
    before = figures.locator(".big").inner_text()
    page.page.route("**/roles/give", late)
    page.give("zip", "Keep")
    page.page.unroute("**/roles/give")
    page.expect(figures.locator(".big")).not_to_have_text(before)
    page.expect(figures.locator(".stale")).to_have_count(0)
    page.give("zip", "Known to outsiders")
    page.expect(figures.locator(".big")).to_have_text(before)


def test_a_count_that_is_killed_is_said_and_not_begun_again_and_again(page, process):
    page.at("Roles")
    stopped = halted(process)
    page.give("zip", "Keep")
    for pid in stopped:
        os.kill(pid, signal.SIGKILL)
    page.problem("the job was killed")
    page.expect(page.page.locator("#figures[data-job]")).to_have_count(0)
    page.give("zip", "Known to outsiders")
    page.expect(page.page.locator("#figures .problem, #figures .stale")).to_have_count(0)


def test_errors_on_protect_change_nothing(page):
    page.at("Protect").change("k", "one")
    page.problem("k must be a number")
    page.expect(page.page.locator("#policy")).to_contain_text("k = 5")
    page.change("k", "1")
    page.problem("at least 2")
    page.change("k", "4")
    page.expect(page.page.locator("#policy")).to_contain_text("k = 4")
    page.expect(page.page.locator(".problem")).to_have_count(0)


def test_what_another_tab_changes_is_seen_and_nothing_is_lost(page):
    other = second(page)
    other.change("k", "6")
    page.expect(page.page.locator("#policy")).to_contain_text("k = 6")
    page.change("Records that may be left out, in percent", "2")
    other.expect(other.page.locator("#policy")).to_contain_text("suppress = 0.02")
    other.expect(other.page.locator("#policy")).to_contain_text("k = 6")
    page.change("Records that may be left out, in percent", "")
    other.page.close()


def test_an_error_on_release(page):
    page.at("Protect").change("k", "5000")
    page.problem("k is 5,000, but the table has only 900 records")
    page.expect(page.page.get_by_text("Settings are valid")).to_have_count(0)
    promised(page, "l", "500")
    page.problem("l=500 asks for more values")
    page.expect(page.page.get_by_text("Settings are valid")).to_have_count(0)
    for alpha in ("0.001", ""):
        promised(page, "alpha", alpha)
        page.at("Release")
        if alpha:
            page.page.get_by_role("button", name="Make the release").click()
            page.problem("alpha=0.001")
            page.at("Protect")
    page.expect(page.page.locator(".problem")).to_have_count(0)  # it was about other settings
    page.at("Protect").change("k", "5")
    page.page.locator("#method").select_option("mondrian")
    page.expect(page.page.locator("#policy")).to_contain_text('method = "mondrian"')


def test_a_release_is_cancelled(page, process):
    page.at("Release")
    pids = halted(process)
    page.page.get_by_role("button", name="Make").click()
    page.see(".job").get_by_role("button", name="Cancel").click()
    page.expect(page.page.get_by_text("cancelled. Nothing was changed.")).to_be_visible()
    going_on(pids)


def test_a_killed_job_is_said_in_one_line(page, process):
    pids = halted(process)
    page.page.get_by_role("button", name="Make").click()
    page.see(".job")
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    page.problem("the job was killed")


def test_a_reload_in_the_middle_loses_nothing(page, process):
    pids = halted(process)
    page.page.get_by_role("button", name="Try again").click()
    page.see(".job")
    page.page.reload()
    page.ready()
    page.see(".job")
    page.at("Protect").at("Release").see(".job")
    going_on(pids)
    page.see(".promise")
    assert "at least 5 records" in page.page.locator(".promise").inner_text()
    page.page.reload()
    page.ready()
    page.see(".promise")


def test_an_error_on_export_and_then_the_files(page, folder):
    made = folder / "incrowd.studio" / "results" / "release" / "made" / "release.csv"
    kept = made.read_bytes()
    made.unlink()
    page.at("Export").page.get_by_role("button", name="Make the files").click()
    page.problem("make it again")
    made.write_bytes(kept)
    page.page.get_by_role("button", name="Try again").click()
    page.see(".downloads")
    assert (folder / "incrowd.studio" / "export" / "release.csv").read_bytes() == kept


def test_nothing_complained(page):
    failed = [text for text in page.said if "422" not in text]  # the browser says that a form was not taken
    assert failed == []


def test_a_studio_that_is_gone_is_told(page, process):
    """The last one."""
    process.send_signal(signal.SIGINT)
    process.wait(60)
    page.expect(page.page.locator("#lost")).to_be_visible()
