"""What pages say works today: links and their anchors, commands and their options, Python and TOML in code blocks."""

import ast
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

import incrowd
from incrowd.cli.commands import app

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT, ROOT / "docs", ROOT / "examples", ROOT / "benchmarks", ROOT / "src" / "incrowd" / "datasets")
PAGES = [page for folder in FOLDERS for page in sorted(folder.glob("*.md"))]
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
COMMANDS = typer.main.get_command(app).commands


def text_of(page):
    return page.read_text(encoding="utf-8")


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def prose(text):
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text):
    """What the headings of a page can be linked by, as GitHub and the site name them, and explicit ones."""
    titles = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()) for title in titles]
    return {title.replace(" ", "-") for title in plain} | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


@EACH
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)", prose(text_of(page))):
        place = page.parent / target if target else page
        assert place.exists(), target
        if anchor:
            assert anchor in anchors(text_of(place)), f"{target}#{anchor}"


def typed(text):
    """The commands of a page: those in shell blocks, those that stand alone, and those in the middle of a text."""
    lines = [line for block in blocks(text, "sh") for line in block.replace("\\\n", " ").split("\n")]
    lines += re.findall(r"^    (incrowd (?:.*\\\n)*.*)$", prose(text), re.MULTILINE)
    lines += re.findall(r"`(incrowd [a-z][^`]*)`", prose(text).replace("\n", " "))
    return [line.replace("\\\n", " ") for line in lines if line.strip().startswith("incrowd ")]


@EACH
def test_commands_and_options_are_there(page):
    for line in typed(text_of(page)):
        _, name, *words = shlex.split(line.partition(" # ")[0].partition(" | ")[0])
        if name.startswith("-") or name.isupper():
            continue
        assert name in COMMANDS, line
        known = {option for param in COMMANDS[name].params for option in (*param.opts, *param.secondary_opts)}
        for word in words:
            if re.match(r"-{1,2}[a-z]", word):
                assert word.partition("=")[0] in {*known, "-h", "--help"}, line


@EACH
def test_python_is_valid_and_its_names_are_there(page):
    for block in blocks(text_of(page), "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "incrowd":
                assert hasattr(incrowd, node.attr), node.attr


@EACH
def test_toml_is_valid(page):
    for block in blocks(text_of(page), "toml"):
        tomllib.loads(block)


@EACH
def test_nothing_is_installed_from_a_registry_yet(page):
    assert not re.search(r"pip install [\"']?incrowd", text_of(page))
