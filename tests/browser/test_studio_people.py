"""Built for people: both widths, both themes, by keyboard alone, with names for screen readers."""

from pathlib import Path

import pytest
from tests.browser.pages import NARROW, WIDE, Page
from tests.command_line import GOOD
from tests.studio import studio

from incrowd.studio.screens import SCREENS

TITLES = [screen.title for screen in SCREENS.values()]
SCRIPTS = {path.stem: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.js")}
STICKING_OUT = "document.documentElement.scrollWidth > innerWidth"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("people")
    (made / "people.csv").write_text(GOOD)
    return made


@pytest.fixture(scope="module")
def entered(chromium, folder):
    """A studio with a release, by keyboard alone."""
    with studio(folder, "people.csv") as (_, link):
        page = Page(chromium.new_context(viewport=WIDE), link)
        page.see(".column")
        yield page, page.page.context.storage_state()


def press(page, key, until):
    """Press a key until what has the focus is called so; its role."""
    for _ in range(80):
        page.page.keyboard.press(key)
        name = page.page.evaluate(SCRIPTS["focused"])
        if name.startswith(until):
            return
    raise AssertionError(f"the keyboard does not reach {until}")


def test_by_keyboard_alone(entered):
    page, _ = entered
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.page.keyboard.press("Enter")
    press(page, "Tab", "Next: roles of columns")
    page.page.keyboard.press("Enter")
    page.expect(page.page.get_by_role("heading", level=1, name="Roles")).to_be_visible()
    press(page, "Tab", "Role of income")
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("ArrowRight")
    group = page.page.get_by_role("radiogroup", name="Role of income")
    page.expect(group.get_by_role("radio", name="Predict")).to_be_checked()
    press(page, "Tab", "Next: hierarchies")
    page.page.keyboard.press("Enter")
    page.expect(page.page.get_by_role("heading", level=1, name="Hierarchies")).to_be_visible()
    press(page, "Tab", "Next: protection")
    page.page.keyboard.press("Enter")
    page.expect(page.page.get_by_role("heading", level=1, name="Protect")).to_be_visible()
    press(page, "Tab", "What is k?")
    page.page.keyboard.press("Enter")
    page.expect(page.page.locator("#term-k")).to_be_visible()
    page.page.keyboard.press("Escape")
    page.expect(page.page.locator("#term-k")).to_be_hidden()
    press(page, "Tab", "Next: make the release")
    page.page.keyboard.press("Enter")
    page.expect(page.page.get_by_role("heading", level=1, name="Release")).to_be_visible()
    press(page, "Tab", "Make the release")
    page.page.keyboard.press("Enter")
    page.see(".promise")
    press(page, "Tab", "Next: export")
    page.page.keyboard.press("Enter")
    page.expect(page.page.get_by_role("heading", level=1, name="Export")).to_be_visible()
    press(page, "Tab", "Make the files")
    page.page.keyboard.press("Enter")
    page.see(".downloads")
    page.at("Attack")
    press(page, "Tab", "Attack the release")
    page.page.keyboard.press("Enter")
    page.see(".attacks")
    assert page.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280", "400"])
def test_every_screen_fits_and_everything_has_a_name(chromium, entered, size, scheme):
    first, state = entered
    page = Page(chromium.new_context(viewport=size, color_scheme=scheme, storage_state=state), first.page.url)
    for screen in TITLES:
        page.at(screen)
        for summary in page.page.locator("main details > summary").all():
            summary.click()
        assert page.page.evaluate(SCRIPTS["nameless"]) == [], screen
        assert not page.page.evaluate(STICKING_OUT), screen
        assert page.page.locator("h1").count() == 1
        assert page.page.locator("[id]").evaluate_all("nodes => nodes.length - new Set(nodes.map(n => n.id)).size") == 0
    assert page.said == []
    page.page.context.close()


def test_contrast_of_words(chromium, entered):
    """Every word stands out against what is behind it, 4.5 to 1 or better, in both themes."""
    first, state = entered
    for scheme in ("light", "dark"):
        page = Page(chromium.new_context(viewport=WIDE, color_scheme=scheme, storage_state=state), first.page.url)
        for screen in TITLES:
            assert page.at(screen).page.evaluate(SCRIPTS["pale"]) == [], (scheme, screen)
        page.page.context.close()
