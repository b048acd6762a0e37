"""The site: everything public is in its reference, every page has a place, and it builds without a warning."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
import typer
from docs.site.command_reference import command_reference, lists
from docs.site.docstrings import markdown_of
from docs.site.pages import ROOT, sections
from docs.site.python_reference import python_reference
from docs.site.stories import story

import incrowd
from incrowd.cli.commands import app
from incrowd.engines.registry import ENGINES
from incrowd.formats.registry import FORMATS
from incrowd.measures.registry import MEASURES
from incrowd.privacy.registry import MODELS
from incrowd.search.registry import METHODS


def test_every_public_name_is_described():
    pytest.importorskip("sklearn")
    page = python_reference()
    names = set(incrowd.__all__) - {"__version__", "datasets"}
    assert names <= set(re.findall(r"^### (\w+)$", page, re.MULTILINE))
    for member in ("Release.write", "Release.report", "Release.data", "Taxonomy.read", "Comparison.to_frame"):
        assert f"#### {member}\n" in page
    assert "public_report: str | Path | None = None" in page


def test_every_command_and_option_is_described():
    page = command_reference()
    for name, command in typer.main.get_command(app).commands.items():
        part = page.partition(f"## incrowd {name}\n")[2].partition("\n## ")[0]
        assert part, name
        for param in command.params:
            if param.param_type_name == "option" and not param.hidden:
                assert all(f"`{option}`" in part for option in param.opts), (name, param.opts)


def test_everything_that_is_registered_is_listed():
    page = lists()
    for name, method in METHODS.items():
        assert f"### {name}\n" in page
        assert all(f"`{option}`" in page for option in method.options)
    for names in (MODELS, MEASURES, ENGINES):
        assert all(name in page for name in names)
    assert all(suffix in page for form in FORMATS.values() for suffix in form.suffixes)


def test_every_page_has_a_place():
    placed = [name for names in sections().values() for name in names]
    assert len(placed) == len(set(placed))
    assert {f"docs/{page.stem}" for page in (ROOT / "docs").glob("*.md")} - {"docs/index"} <= set(placed)
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for name in ("tour", "policy", "protection", "report", "risk", "evaluate", "compare", "papers", "glossary"):
        assert f"({name}.md" in index


def test_a_docstring_as_markdown():
    def example(first, *rest):
        """Do *this* to `x*y`.

        Args:
            first: The first, which
                goes on.
            *rest: All others.

        Raises:
            ValueError: It cannot be done.
        """

    assert markdown_of(example).split("\n") == [
        r"Do \*this\* to `x*y`.",
        "",
        "",
        "**Args**",
        "",
        "- `first`: The first, which goes on.",
        "- `*rest`: All others.",
        "",
        "",
        "**Raises**",
        "",
        "- `ValueError`: It cannot be done.",
    ]


def test_a_story_is_prose_and_code(tmp_path):
    path = tmp_path / "story.py"
    path.write_text('"""A title.\n\nProse.\n"""\n\n# %% First this,\n# then that.\nx = 1\n\n# %% The end.\nprint(x)\n')
    text = story(path)
    assert text.startswith("# A title\n\nProse.\n")
    assert "First this, then that.\n\n```python\nx = 1\n```\n\nThe end.\n\n```python\nprint(x)\n```" in text


class Asked(HTMLParser):
    """What a page loads."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        words = dict(attrs)
        if tag in ("script", "img", "iframe") and words.get("src"):
            self.found.append(words["src"])
        if tag == "link" and words.get("rel") in ("stylesheet", "icon", "preload"):
            self.found.append(words["href"])


def test_the_site_builds_and_needs_no_network(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    command = [sys.executable, "-W", "ignore", "-m", "docs.site", "--output", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        loaded = Asked(page.read_text(encoding="utf-8")).found
        assert not [address for address in loaded if re.match(r"(https?:)?//", address)], page
    assert (tmp_path / "site" / "docs" / "example-report.html").exists()
    assert (tmp_path / "site" / "examples" / "open_data.ipynb").exists()
    assert (tmp_path / "site" / "searchindex.js").stat().st_size > 100_000
    assert f"incrowd {incrowd.__version__}" in (tmp_path / "site" / "reference" / "python.html").read_text("utf-8")
