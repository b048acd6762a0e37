"""Build the site: what is made from the code and the pages of the repository go to a folder, which Sphinx reads."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from docs.site.pages import stage


def build(output: Path) -> int:
    """Build the site.

    Args:
        output: The folder of the site; what is there of an earlier one is replaced.

    Returns:
        0 if all went well, and no page has a broken link.
    """
    from sphinx.cmd.build import build_main

    with tempfile.TemporaryDirectory() as made:
        source = Path(made) / "source"
        stage(source)
        extra = source / "extra" / "docs"
        extra.mkdir(parents=True)
        for page in (source / "docs").glob("*.html"):
            shutil.move(page, extra / page.name)
        words = ["-q", "-W", "--keep-going", "-d", f"{made}/trees", str(source), str(output)]
        return build_main(words)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m docs.site", description="Build the documentation as a site.")
    parser.add_argument("--output", type=Path, default=Path("build/site"))
    words = parser.parse_args()
    status = build(words.output)
    if status == 0:
        print(f"wrote {words.output / 'index.html'}")
    sys.exit(status)


if __name__ == "__main__":
    main()
