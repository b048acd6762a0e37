"""Pages stay up to date whatever comes first: an answer, an event, another tab, a kill, a new start."""

import os
import signal

import pytest
from tests.browser.pages import WIDE, Page, going_on, halted
from tests.command_line import GOOD
from tests.studio import studio

MORE = "".join(f",question {number}" for number in range(12))
TABLE = "\n".join(f"{line}{MORE if not place else ',1' * 12}" for place, line in enumerate(GOOD.splitlines())) + "\n"
IDLE = "!document.body.classList.contains('busy')"  # everything that was asked for is there


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("late")
    (made / "people.csv").write_text(TABLE)
    return made


@pytest.fixture(scope="module")
def running(chromium, folder):
    with studio(folder, "people.csv") as (process, link):
        page = Page(chromium.new_context(viewport=WIDE), link)
        page.see(".column")
        yield process, page


def second(page, screen):
    """Another tab of the same browser."""
    return Page(page.page.context, f"{page.base}/{screen}")


def role(page, column, name):
    group = page.page.get_by_role("radiogroup", name=f"Role of {column}", exact=True)
    return group.get_by_role("radio", name=name, exact=True)


def test_what_is_chosen_is_what_holds_after_undo_and_in_another_tab(page):
    page.at("Roles").give("job", "Keep")
    other = second(page, "roles")
    page.page.get_by_role("button", name="Undo").click()
    page.expect(role(page, "job", "Known to outsiders")).to_be_checked()
    page.page.get_by_role("button", name="Redo").click()
    page.expect(role(page, "job", "Keep")).to_be_checked()
    other.give("job", "Protect")
    page.expect(role(page, "job", "Protect")).to_be_checked()
    page.give("job", "Known to outsiders")
    other.expect(role(other, "job", "Known to outsiders")).to_be_checked()
    for each, screen in ((page, "Protect"), (other, "Protect")):
        each.at(screen)
    page.page.locator("#method").select_option("mondrian")
    other.expect(other.page.locator("#method")).to_have_value("mondrian")
    other.page.locator("#method").select_option("tdr")
    page.expect(page.page.locator("#method")).to_have_value("tdr")
    page.page.get_by_role("button", name="Undo").click()
    page.expect(page.page.locator("#method")).to_have_value("mondrian")
    other.page.close()


def test_columns_stay_sifted_when_a_role_is_given(page):
    page.at("Roles").page.locator("#contains").press_sequentially("question")
    page.expect(page.page.locator("#role-list > :visible")).to_have_count(12)
    page.give("question 3", "Drop")
    page.expect(page.page.locator("#said")).to_have_text("question 3: Drop.")
    page.expect(page.page.locator("#role-3")).to_be_hidden()
    page.expect(page.page.locator("#role-list > :visible")).to_have_count(12)
    page.page.get_by_role("button", name="Set this role").click()
    page.expect(page.page.locator("#said")).to_have_text("12 columns: Keep.")
    page.expect(page.page.locator("#role-3")).to_be_visible()
    page.expect(page.page.locator("#contains")).to_have_value("")


def test_a_file_that_is_not_taken_is_said_for_good(page, tmp_path):
    (tmp_path / "people.exe").write_text("a\n1\n")
    page.at("Data").page.locator(".choose summary").click()
    page.page.set_input_files("#upload", tmp_path / "people.exe")
    page.expect(page.page.locator("#said")).to_have_text("The file was not taken: see above")
    page.page.wait_for_function(IDLE)
    page.problem("does not say what it is")


def test_a_page_that_was_asked_for_before_a_click_does_not_hide_what_the_click_did(page, process):
    held, stopped = [], halted(process)
    page.at("Release").page.route("**/release", lambda route: held.append((route, route.fetch())), times=1)
    other = second(page, "protect")
    with page.page.expect_request("**/release"):
        other.page.locator("#method").select_option("tdr")
    while not held:
        page.page.wait_for_timeout(20)
    page.page.locator("#run").click()
    page.page.wait_for_timeout(1_500)  # the click is answered meanwhile
    for route, answer in held:
        route.fulfill(response=answer)
    page.page.wait_for_function(IDLE)
    page.see(".job")
    going_on(stopped)
    page.see(".promise")
    other.page.close()


def release(page):
    """Make a release, and wait until nothing runs any more."""
    with page.page.expect_response("**/release/run"):
        page.page.locator("#run").click()
    while "data-job" in page.page.context.request.get(f"{page.base}/release").text():
        pass


def test_another_tab_sees_that_a_release_is_made(page):
    page.at("Release")
    release(page)
    other = second(page, "export")
    other.page.get_by_role("button", name="Make the files").click()
    other.see(".downloads")
    other.expect(other.page.get_by_text("These files are older than the release")).to_have_count(0)
    release(page)
    other.expect(other.page.get_by_text("These files are older than the release")).to_be_visible()
    other.page.close()


def test_a_piece_that_cannot_be_had_is_not_asked_for_again_and_again(page):
    asked = []
    page.at("Roles").page.route("**/roles/figures", lambda route: (asked.append(route), route.abort()))
    page.page.evaluate("document.querySelector('#figures').dataset.revision = 0")  # as if it had come too late
    page.page.evaluate("htmx.ajax('GET', '/roles/figures', '#figures')")
    page.page.wait_for_timeout(1_000)
    page.page.unroute("**/roles/figures")
    assert 1 <= len(asked) <= 3
    page.said.clear()  # the browser says that there was no answer


def test_of_several_choices_in_a_row_the_last_one_holds(page):
    held = []
    page.at("Protect").page.route("**/protect/setting", lambda route: held.append(route), times=1)
    for method in ("mondrian", "bug", "datafly", "cover"):
        page.page.locator("#method").select_option(method)
    while not held:
        page.page.wait_for_timeout(20)
    held[0].continue_()
    page.expect(page.page.locator("#policy")).to_contain_text('method = "cover"')
    page.page.wait_for_function(IDLE)
    page.expect(page.page.locator("#method")).to_have_value("cover")


def test_a_look_that_is_killed_does_not_go_on_for_ever_on_other_screens(page, process, folder):
    page.at("Data")
    stopped = halted(process)
    with (folder / "people.csv").open("a") as file:
        file.write(TABLE.splitlines()[1] + "\n")
    other = second(page, "data")
    other.see(".job")
    page.at("Protect")
    page.expect(page.page.get_by_text("The table is being inspected.")).to_be_visible()
    for pid in stopped:
        os.kill(pid, signal.SIGKILL)
    page.expect(page.page.get_by_text("Inspect the table first.")).to_be_visible()
    other.page.get_by_role("button", name="Try again").click()
    page.see("#policy")
    other.page.close()


def test_a_page_of_a_studio_that_was_started_again_is_loaded_again(page):
    """Its jobs and revisions are counted from the beginning, and nothing that the page sends would be taken."""
    told = 'data: {"kind": "changed", "revision": 0, "task": "", "start": "another"}\n\n'
    page.at("Protect").page.route(
        "**/events", lambda route: route.fulfill(body=told, content_type="text/event-stream"), times=1
    )
    with page.page.expect_navigation():
        page.page.evaluate("for (const name of ['pagehide', 'pageshow']) dispatchEvent(new Event(name))")
    page.ready().change("k", "3")
    page.expect(page.page.locator("#policy")).to_contain_text("k = 3")


def test_nothing_complained(page):
    assert [text for text in page.said if "422" not in text] == []
