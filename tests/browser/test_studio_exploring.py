"""Hierarchies, Compare, the steps of a search and why, in a real browser: on Adult, on a messy table, by keyboard."""

import tomllib

import pytest
from tests.browser.pages import NARROW, WIDE, Page, going_on, halted
from tests.browser.tables import messy_text
from tests.studio import studio

from incrowd import datasets

ADULT = """quasi_identifiers = ["age", "education", "marital-status", "sex"]
k = 10
target = "income"
identifiers = ["fnlwgt"]
insensitive = ["workclass", "education-num", "occupation", "relationship", "race"]
method = "tdr"

[taxonomies]
age = { widths = [5, 20] }
"""
AGE, EDUCATION = 0, 1


PATIENT = 150_000  # milliseconds; a busy machine is slow


class Adult:
    """A studio with Adult, entered once."""

    def __init__(self, folder, process, page):
        self.policy = folder / "adult.studio" / "release.toml"
        self.process, self.page = process, page

    def words(self):
        return tomllib.loads(self.policy.read_text())

    def at(self, path):
        self.page.page.goto(f"{self.page.base}/{path}")
        return self.page.page


@pytest.fixture(scope="module")
def entered(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("adult")
    table, _ = datasets.copy("adult", folder)
    with studio(folder, table.name) as (process, link):
        page = Page(chromium.new_context(viewport=WIDE), link)
        page.expect.set_options(timeout=PATIENT)
        page.page.set_default_timeout(PATIENT)
        page.see(".column")
        yield Adult(folder, process, page)


@pytest.fixture
def adult(entered):
    entered.policy.write_text(ADULT)
    entered.page.said.clear()
    return entered


def item(page, name):
    return page.get_by_role("treeitem", name=name)


def test_a_tree_by_keyboard_alone(adult):
    page, expect = adult.at(f"hierarchies/{EDUCATION}"), adult.page.expect
    tree = page.get_by_role("tree", name="Hierarchy of education")
    expect(tree).to_be_visible()
    page.get_by_label("Find a value or a group").focus()
    page.keyboard.press("Tab")
    expect(item(page, "*, group of 16 values")).to_be_focused()
    for key in ("ArrowDown", " ", "ArrowDown", " ", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#chosen")).to_have_text("3 selected: 10th, 11th, 12th")
    expect(item(page, "11th")).to_have_attribute("aria-selected", "true")
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.id") == "node-name":
            break
    page.keyboard.type("Late school")
    page.keyboard.press("Enter")
    group = item(page, "Late school, group of 3 values, 3,419 records")
    expect(group).to_be_visible()
    expect(page.locator("#chosen")).to_contain_text("Nothing is selected")
    assert adult.words()["taxonomies"]["education"].startswith("hierarchies/education-")
    # Folding and going around
    page.get_by_label("Find a value or a group").focus()
    page.keyboard.press("Tab")
    expect(group).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(item(page, "11th")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(item(page, "10th")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("F2")
    expect(page.locator("#node-name")).to_be_focused()
    page.keyboard.type("Upper school")
    page.keyboard.press("Enter")
    expect(item(page, "Upper school, group")).to_be_visible()
    assert adult.page.said == []


def test_what_is_wrong_is_said_at_the_node_and_undo_survives_a_reload(adult):
    page, expect = adult.at(f"hierarchies/{EDUCATION}"), adult.page.expect
    item(page, "Masters").locator(".node").click()
    item(page, "Doctorate").locator(".node").click()
    page.fill("#node-name", "Graduate")
    page.get_by_role("button", name="Group", exact=True).click()
    expect(item(page, "Graduate, group of 2 values")).to_be_visible()
    item(page, "Bachelors").locator(".node").click()
    page.fill("#node-name", "Graduate")
    page.get_by_role("button", name="Group", exact=True).click()
    wrong = item(page, "Bachelors").get_by_role("alert")
    expect(wrong).to_contain_text("there is already a group 'Graduate'")
    page.reload()
    expect(item(page, "Graduate, group of 2 values")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(item(page, "Graduate, group")).to_have_count(0)
    assert "education" not in adult.words()["taxonomies"]


def test_dragging_moves_and_another_tab_sees_it(adult):
    page, expect = adult.at(f"hierarchies/{EDUCATION}"), adult.page.expect
    other = Page(page.context, page.url)
    item(page, "9th").locator(".node").click()
    page.fill("#node-name", "School")
    page.get_by_role("button", name="Group", exact=True).click()
    expect(item(page, "School, group of 1 value")).to_be_visible()
    item(page, "10th").locator(".node").drag_to(item(page, "School, group").locator(".node").first)
    expect(item(page, "School, group of 2 values")).to_be_visible()
    expect(item(other.page, "School, group of 2 values")).to_be_visible()
    assert other.page.url == page.url
    other.page.close()


def test_intervals_by_keyboard_and_by_mouse(adult):
    page, expect = adult.at(f"hierarchies/{AGE}"), adult.page.expect
    first = page.get_by_role("button", name="Level 1, less than 20")
    first.focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#cut-chosen")).to_contain_text("Selected on level 1: [25-30)")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#cut-chosen")).to_contain_text("Selected on level 2: [20-40)")
    page.keyboard.press("ArrowUp")
    page.get_by_role("button", name="Join with the next").press("Enter")
    expect(page.locator("#cut-chosen")).to_contain_text("records")
    expect(page.locator("#levels [data-level='0']")).to_have_count(15)
    box = page.locator("#histogram").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.155, box["y"] + 30)
    expect(page.locator("#cut-value")).to_be_focused()
    bound = int(page.input_value("#cut-value"))
    assert 27 <= bound <= 30
    page.keyboard.press("Enter")
    expect(page.locator("#levels [data-level='0']")).to_have_count(16)
    assert bound in adult.words()["taxonomies"]["age"]["bounds"][0]
    page.fill("#cut-value", "200")
    page.keyboard.press("Enter")
    expect(page.locator("#intervals").get_by_role("alert")).to_contain_text("must be above 17")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#levels [data-level='0']")).to_have_count(15)


def test_a_file_comes_in_and_goes_out(adult, tmp_path):
    page, expect = adult.at(f"hierarchies/{EDUCATION}"), adult.page.expect
    own = datasets.taxonomies("adult")["education"]
    page.set_input_files("#hierarchy-file", own)
    expect(item(page, "No diploma, group")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    download.value.save_as(tmp_path / "out.csv")
    from incrowd.taxonomies.taxonomy import Taxonomy

    assert Taxonomy.read(tmp_path / "out.csv") == Taxonomy.read(own)
    (tmp_path / "few.csv").write_text("Masters;Much;*\nDoctorate;Much;*\n")
    page.set_input_files("#hierarchy-file", tmp_path / "few.csv")
    expect(item(page, "Not in the hierarchy, 14 values")).to_be_visible()
    (tmp_path / "bad.csv").write_text("Masters;Much;*\nMasters;Little;*\n")
    page.set_input_files("#hierarchy-file", tmp_path / "bad.csv")
    expect(page.locator("#import-problem")).to_contain_text("line 2")
    expect(item(page, "Not in the hierarchy, 14 values")).to_be_visible()


def test_a_comparison_is_cancelled_and_made_and_a_point_is_taken(adult):
    page, expect = adult.at("compare"), adult.page.expect
    for name in ("mondrian", "cover"):
        page.locator(f"#try-{name}").uncheck()
    page.locator("#try-datafly").check()
    page.fill("#ks", "10, 50")
    stopped = halted(adult.process)
    page.get_by_role("button", name="Compare").press("Enter")
    page.get_by_role("button", name="Cancel").click()
    going_on(stopped)
    expect(page.locator("[data-cancelled]")).to_contain_text("Nothing was changed")
    for name in ("mondrian", "cover"):
        page.locator(f"#try-{name}").uncheck()
    page.locator("#try-datafly").check()
    page.fill("#ks", "10, 50")
    page.get_by_role("button", name="Compare").press("Enter")
    expect(page.locator("#settings tbody tr")).to_have_count(4)
    expect(page.locator("#try-tdr")).to_be_hidden()  # the picture has the room
    point = page.get_by_role("button", name="k = 50").and_(page.locator(".point")).first
    point.focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr.now")).to_contain_text("k = 50")
    assert adult.words()["k"] == 50
    page.get_by_role("button", name="Use tdr, k = 10").click()
    expect(page.locator("tr.now")).to_contain_text("tdr, k = 10")
    assert adult.page.said == []


def test_the_steps_of_a_search_and_what_helps(adult):
    page, expect = adult.at("release"), adult.page.expect
    page.locator("#run").click()
    slider = page.get_by_role("slider", name="Step")
    expect(slider).to_be_visible()
    expect(page.locator("#step .tag")).to_have_text("released")
    last = int(slider.get_attribute("max"))
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator("#step")).to_contain_text("Where the search began")
    expect(page.locator("#step .tile").first).to_contain_text("45,222")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#step")).to_contain_text(f"Step 1 of {last}")
    assert slider.get_attribute("aria-valuetext") == f"step 1 of {last}"
    page.get_by_role("button", name="Release this step").press("Enter")
    expect(page.get_by_role("button", name="Run the search to the end")).to_be_enabled()
    expect(page.locator("#step")).to_contain_text(f"Step 1 of {last} released")
    assert adult.words()["max_steps"] == 1
    page.get_by_role("button", name="Why is sex").or_(page.get_by_role("button", name="Why is age")).first.click()
    expect(page.locator("#answer")).to_be_visible()
    take = page.get_by_role("button", name="Use the method mondrian")
    take.click()
    expect(page.locator(".job, .promise").first).to_be_visible()
    expect(page.locator(".run .faint")).to_contain_text("method mondrian")
    expect(page.locator("#steps")).to_have_count(0)
    assert adult.words()["method"] == "mondrian"
    assert adult.page.said == []


def test_attacks_are_cancelled_and_played(adult):
    page, expect = adult.at("release"), adult.page.expect
    cancel, stopped = page.get_by_role("button", name="Cancel"), halted(adult.process)
    page.locator("#run").click()
    expect(cancel).to_be_visible()
    going_on(stopped)
    expect(cancel).to_have_count(0)  # the promise of an earlier release would be there at once
    expect(page.locator(".promise")).to_be_visible()
    adult.at("attack")
    stopped = halted(adult.process)
    page.get_by_role("button", name="Attack the release").click()
    page.get_by_role("button", name="Cancel").click()
    going_on(stopped)
    expect(page.locator("[data-cancelled]")).to_contain_text("Nothing was changed")
    page.get_by_role("button", name="Attack the release").click()
    expect(page.locator("#attack-linking")).to_contain_text("nobody has fewer than 10 candidates", ignore_case=True)
    expect(page.locator("svg.chart")).to_be_visible()
    assert adult.page.said == []


def test_a_messy_table_on_a_narrow_page(chromium, tmp_path):
    (tmp_path / "messy.csv").write_text(messy_text())
    with studio(tmp_path, "messy.csv") as (_, link):
        page = Page(chromium.new_context(viewport=NARROW, color_scheme="dark"), link)
        page.see(".column")
        page.at("Hierarchies")
        page.see("#tree, #intervals, .notice")
        links = page.page.get_by_role("navigation", name="Columns").get_by_role("link")
        for place in range(links.count()):
            links.nth(place).click()
            page.see("#tree, #intervals, .hierarchy .notice")
            assert not page.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        page.page.get_by_role("navigation", name="Columns").get_by_role("link", name="zip").click()
        page.see("#tree")
        page.page.get_by_label("Find a value or a group").fill("130")
        group = item(page.page, "130**, group").or_(item(page.page, "130*, group")).first
        page.expect(group).to_be_visible()
        group.locator(".node").first.click()
        page.page.fill("#node-name", "North <b>")
        page.page.get_by_role("button", name="Rename").click()
        page.page.get_by_label("Find a value or a group").fill("")
        page.expect(item(page.page, "North <b>, group")).to_be_visible()
        assert page.said == []


def test_counting_is_cancelled_and_begun_again(adult):
    adult.policy.write_text(ADULT.replace('"sex"]', '"sex", "native-country"]'))
    stopped = halted(adult.process)
    page, expect = adult.at("hierarchies/4"), adult.page.expect
    page.get_by_role("button", name="Cancel").click()
    again = page.get_by_role("button", name="Count the values again")
    expect(again).to_be_visible()
    going_on(stopped)  # not before: it could have counted before it is told
    again.click()
    expect(page.get_by_role("tree", name="Hierarchy of native-country")).to_be_visible()
    assert page.url.endswith("/4")
