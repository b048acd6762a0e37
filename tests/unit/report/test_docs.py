"""The page on reports does what it says, and the example in the docs is one of this version."""

import re
import stat
from html import unescape
from pathlib import Path

import pytest
from tests.unit.test_readme import blocks, people, shell

from incrowd.policy.toml import read_policy
from incrowd.report.summary import SECTIONS

__all__ = ["people"]
DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "report.md").read_text(encoding="utf-8")


def test_the_page_on_reports_runs(people):
    (python,), commands = blocks(PAGE, "python"), blocks(PAGE, "sh")
    exec(compile(python, "report.md", "exec"), {})
    done = shell("".join(commands))
    assert done.returncode == 0, done.stderr
    for name, own in (("report.html", True), ("public-report.html", False), ("own.html", True), ("public.html", False)):
        text = (people / name).read_text(encoding="utf-8")
        assert ("Confidential" in text) == own
        assert (stat.S_IMODE((people / name).stat().st_mode) == 0o600) == own
    assert (people / "only-a-report.md").exists()
    assert (people / "crowds.confidential" / "report.html").exists()
    assert (people / "described.dictionary.json").exists()
    assert (people / "described.dictionary.xml").exists()
    assert "Error of tree" in (people / "with-errors.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["example-report.html", "example-public-report.html"])
def test_the_example_has_all_sections_and_the_policy_beside_it(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    assert len(text) < 2_000_000
    for section in SECTIONS:
        assert f'<section id="{section}"' in text
    words, _ = read_policy(DOCS / "example-policy.toml")
    told = unescape(re.findall(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL)[0])
    assert f"k = {words['k']}" in told
    assert f'target = "{words["target"]}"' in told
