"""What the site is made of: the pages of the repository in their places, and those that are made from the code."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from docs.site.command_reference import command_reference, lists
from docs.site.python_reference import python_reference
from docs.site.stories import notebook, story

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_KEPT = (".md", ".svg", ".png", ".csv", ".toml")  # what a page of the site may lead to
SECTIONS = {
    "Start": ["docs/install", "docs/tour", "docs/studio", "examples/README"],
    "Guides": [
        "docs/inspect",
        "docs/policy",
        "docs/protection",
        "docs/formats",
        "docs/large-data",
        "docs/releases-over-time",
        "docs/report",
        "docs/packs",
        "docs/risk",
        "docs/evaluate",
        "docs/compare",
    ],
    "How it works": ["docs/how-it-works", "docs/local-recoding", "docs/baselines", "docs/papers"],
    "Reference": ["reference/python", "reference/commands", "reference/lists", "docs/glossary"],
    "The project": [
        "docs/architecture",
        "docs/decisions/README",
        "docs/security",
        "CONTRIBUTING",
        "benchmarks/README",
        "CHANGELOG",
    ],
}
_GUIDES = "Guides"  # where a page of `docs` goes that is not named above


def sources() -> list[Path]:
    """The pages of the repository that are part of the site."""
    named = [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")]
    folders = ("docs/*.md", "docs/decisions/*.md", "benchmarks/**/*.md")
    return [*named, *(page for pattern in folders for page in sorted(ROOT.glob(pattern)))]


def stage(folder: Path) -> None:
    """Put everything that the site is made of into a folder, laid out like the repository."""
    for page in sources():
        if page.name != "index.md":
            text = _with_links(page)
            titled = text if text.startswith("# ") else f"# {page.stem.replace('_', ' ')}\n\n{text}"
            _write(folder / page.relative_to(ROOT), titled)
    _write(folder / "reference/python.md", python_reference())
    _write(folder / "reference/commands.md", command_reference())
    _write(folder / "reference/lists.md", lists())
    for path in sorted((ROOT / "examples").glob("*.py")):
        _write(folder / "examples" / f"{path.stem}.md", story(path))
        _write(folder / "extra" / "examples" / f"{path.stem}.ipynb", notebook(path))
    for path in (*(ROOT / "docs").rglob("*"), *(ROOT / "benchmarks").rglob("*.svg")):
        if path.is_file() and path.suffix in (*_KEPT[1:], ".html") and HERE not in path.parents:
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    index = _with_links(ROOT / "docs" / "index.md", home=ROOT)
    _write(folder / "index.md", f"{index}\n{_tree()}")
    shutil.copyfile(HERE / "conf.py", folder / "conf.py")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sections() -> dict[str, list[str]]:
    """All pages of the navigation; those of `docs` that nobody placed are guides."""
    placed = {name for names in SECTIONS.values() for name in names}
    found = [f"docs/{path.stem}" for path in sorted((ROOT / "docs").glob("*.md")) if path.stem != "index"]
    return {
        title: [*names, *(name for name in found if name not in placed)] if title == _GUIDES else names
        for title, names in SECTIONS.items()
    }


def _tree() -> str:
    """The navigation."""
    parts = []
    for title, names in sections().items():
        parts.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(names) + "\n```\n")
    stories = "\n".join(f"examples/{path.stem}" for path in sorted((ROOT / "examples").glob("*.py")))
    results = "\n".join(str(path.relative_to(ROOT).with_suffix("")) for path in (ROOT / "benchmarks").rglob("*.md"))
    rest = [name for name in results.split("\n") if name != "benchmarks/README"]
    decisions = "\n".join(f"docs/decisions/{path.stem}" for path in sorted((ROOT / "docs/decisions").glob("0*.md")))
    parts.append(f"```{{toctree}}\n:hidden:\n:caption: Decisions\n\n{decisions}\n```\n")
    parts.append(f"```{{toctree}}\n:hidden:\n:caption: Stories\n\n{stories}\n```\n")
    parts.append("```{toctree}\n:hidden:\n:caption: Measured\n\n" + "\n".join(rest) + "\n```\n")
    return "\n".join(parts)


def _with_links(page: Path, home: Path | None = None) -> str:
    """A page whose links lead to where things are on the site.

    Args:
        page: The page.
        home: The folder that it has on the site, as a folder of the repository; its own if None.
    """
    text = page.read_text(encoding="utf-8")
    parts = _FENCE.split(text)
    return "".join(
        part if part.startswith("```") else _LINK.sub(lambda found: _link(found, page, home), part) for part in parts
    )


def _link(found: re.Match[str], page: Path, home: Path | None) -> str:
    image, words, target, anchor = found[1], found[2], found[3], found[4] or ""
    if re.match(r"[a-z]+:", target):
        return found[0]
    place = (page.parent / target).resolve()
    if place.suffix == ".html":  # shown as it is, not as a part of the site
        way = "" if home is None else "docs/"
        return f'<a href="{way}{place.name}">{words}</a>'
    if place.parent == ROOT / "examples" and place.suffix == ".py":
        place = place.with_suffix(".md")
    elif place == ROOT / "README.md":
        place = ROOT / "index.md"
    elif not (place.suffix in _KEPT and ROOT in place.parents):
        return words  # a file of the repository that the site does not have
    base = page.parent if home is None else home
    return f"{image}[{words}]({os.path.relpath(place, base)}{anchor})"
