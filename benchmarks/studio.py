"""How quick the studio is on the census data, and whether its server stays small: `python -m benchmarks.studio`.

SizeRule Playwright and a Chromium. Each screen is opened five times (until it is loaded), each click is made five times
(until the answer is in place); the middle one counts. Then a small table is released fifty times, and the memory of
the server is read after each ten: it holds no rows, whatever the table.
"""

import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.browser.conftest import CHROMIUM
from tests.browser.pages import WIDE, Page
from tests.command_line import GOOD
from tests.studio import Client, studio

from incrowd import datasets

TIMES = 5
RUNS = 50
SCREENS = ("data", "roles", "hierarchies", "protect", "release", "compare", "export")
ANSWERED = """async (selector) => {
  const node = document.querySelector(selector);
  const told = new Promise((done) =>
    document.addEventListener("htmx:after:swap", () => done(performance.now()), { once: true }));
  const began = performance.now();
  if (node.matches("input:not([type=radio])")) node.dispatchEvent(new Event("change", { bubbles: true }));
  else node.click();
  return await told - began;
}"""
CLICKS = {
    "a role": ("roles", "#r0-{number}"),
    "another k": ("protect", "#set-0 .chip:nth-child({number})"),
    "a field of Protect": ("protect", "#suppress"),
    "undo": ("protect", "#undo"),
    "run": ("release", "#run"),
}


def middle(numbers):
    return statistics.median(numbers)


def speed(folder):
    from playwright.sync_api import sync_playwright

    with studio(folder, "adult.csv.gz") as (_, link), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = Page(browser.new_context(viewport=WIDE), link)
        page.see(".column")
        for screen in SCREENS:
            loaded = []
            for _ in range(TIMES):
                page.page.goto(f"{page.base}/{screen}", wait_until="load")
                timing = "performance.getEntriesByType('navigation')[0]"
                loaded.append(page.page.evaluate(f"{timing}.loadEventEnd - {timing}.startTime"))
            print(f"page {screen:12} ready in {middle(loaded):6.0f} ms (slowest {max(loaded):.0f})", flush=True)
        for name, (screen, selector) in CLICKS.items():
            took = []
            for number in range(1, TIMES + 1):
                page.page.goto(f"{page.base}/{screen}")
                page.page.wait_for_timeout(600)  # what other jobs have to say comes first
                took.append(page.page.evaluate(ANSWERED, selector.format(number=number)))
                for cancel in page.page.get_by_role("button", name="Cancel").all():
                    cancel.click()
                    page.page.wait_for_timeout(2_000)
            print(f"click {name:18} answered in {middle(took):6.0f} ms (slowest {max(took):.0f})", flush=True)
        browser.close()


def megabytes(process):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


def memory(folder):
    with studio(folder, "people.csv") as (process, link):
        client = Client(link)
        client.over("inspect")
        client.post("/protect/word", word="method", value="mondrian")
        for run in range(1, RUNS + 1):
            client.post("/release/run")
            assert client.over("release")["state"] == "done"
            client.get("/release")
            if run == 1 or run % 10 == 0:
                print(f"after {run:3} releases the server has {megabytes(process):6.1f} MB", flush=True)


def main():
    folder = Path(tempfile.mkdtemp())
    try:
        shutil.copyfile(datasets.adult(), folder / "adult.csv.gz")
        (folder / "people.csv").write_text(GOOD)
        began = time.monotonic()
        if "memory" not in sys.argv:
            speed(folder)
        if "speed" not in sys.argv:
            memory(folder)
        print(f"{time.monotonic() - began:.0f} s in all")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
