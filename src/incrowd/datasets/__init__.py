"""Two public tables and their taxonomies, for the demo, the documentation and the tests.

Only paths are handed out: reading is left to whoever asks. `README.md` beside this file names the sources.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from incrowd.errors import UnknownNameError

__all__ = ["adult", "copy", "german", "taxonomies"]

_NAMES = ("adult", "german")


def adult() -> Path:
    """The 45,222 complete records of UCI Adult, 15 columns, gzipped CSV with a header."""
    return _folder("adult") / "adult.csv.gz"


def german() -> Path:
    """The 1,000 records of Statlog German credit, 21 columns, gzipped CSV with a header."""
    return _folder("german") / "german.csv.gz"


def taxonomies(name: str) -> dict[str, Path]:
    """The taxonomy files of a data set by column, in alphabetical order.

    Args:
        name: "adult" or "german".

    Raises:
        UnknownNameError: There is no such data set.
    """
    if name not in _NAMES:
        raise UnknownNameError("data set", name, _NAMES)
    return {path.stem: path for path in sorted((_folder(name) / "taxonomies").glob("*.csv"))}


def copy(name: str, folder: Path) -> tuple[Path, Path]:
    """Copy a data set into a folder of the user's, which is made if need be.

    Args:
        name: "adult" or "german".
        folder: Where to.

    Returns:
        The table, and the folder of its taxonomies.
    """
    table, trees = folder / f"{name}.csv.gz", folder / "taxonomies"
    trees.mkdir(parents=True, exist_ok=True)
    for path in taxonomies(name).values():
        shutil.copyfile(path, trees / path.name)
    shutil.copyfile(_folder(name) / table.name, table)
    return table, trees


def _folder(name: str) -> Path:
    return Path(__file__).parent / name
