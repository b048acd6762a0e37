"""What tests do with pages of the studio, and with the processes of its jobs."""

import os
import signal
import time
from pathlib import Path

WAIT = 90_000  # milliseconds; a busy machine is slow
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 860}


class Page:
    """A page of a studio, and what it said on the console.

    Args:
        context: A context of the browser; it keeps the cookie.
        link: The link of the studio, or the address of a screen if the cookie is there.
    """

    def __init__(self, context, link):
        from playwright.sync_api import expect

        expect.set_options(timeout=WAIT)
        self.expect, self.page, self.said = expect, context.new_page(), []
        self.page.set_default_timeout(WAIT)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(link)
        self.base = self.page.url.rpartition("/")[0]
        self.ready()

    def at(self, screen):
        """Go to a screen by its link."""
        self.page.get_by_role("navigation", name="Screens").get_by_role("link", name=screen).click()
        self.expect(self.page.get_by_role("heading", level=1, name=screen)).to_be_visible()
        return self.ready()

    def ready(self):
        """Wait until the scripts of the page have seen it; a click before is nobody's."""
        self.expect(self.page.locator("form.undo")).to_have_attribute("data-htmx-powered", "true")
        return self

    def see(self, selector):
        """Wait until something is there."""
        found = self.page.locator(selector)
        self.expect(found.first).to_be_visible()
        return found

    def give(self, column, role):
        """Give a column a role by a click, and wait until it has it."""
        group = self.page.get_by_role("radiogroup", name=f"Role of {column}", exact=True)
        choice = group.get_by_role("radio", name=role, exact=True)
        if not choice.is_checked():
            with self.page.expect_response(lambda answer: answer.url.endswith("/roles/give")):
                choice.click()
        self.expect(choice).to_be_checked()

    def change(self, name, value):
        """Type into a field and leave it."""
        field = self.page.get_by_label(name, exact=True)
        with self.page.expect_response(lambda answer: answer.request.method == "POST"):
            field.fill(value)
            field.press("Tab")

    def problem(self, told):
        """The page says what is wrong, in one line."""
        place = self.page.locator(".problem").first
        self.expect(place).to_contain_text(told)
        text = place.inner_text()
        assert len([line for line in text.splitlines() if line and line != "Try again"]) == 1, text


def workers(process):
    """The processes that a studio has started."""
    found = []
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        children = (task / "children").read_text().split()
        found += [int(child) for child in children]
    return found


def halted(process):
    """Halt the process that waits for the next job, so that the job lasts as long as a test needs it."""
    until = time.monotonic() + 60
    while not (found := workers(process)):
        assert time.monotonic() < until
        time.sleep(0.02)
    for pid in found:
        os.kill(pid, signal.SIGSTOP)
    return found


def going_on(pids):
    """Let halted processes go on."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            continue
