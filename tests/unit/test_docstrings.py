"""The examples in docstrings are run."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import incrowd

ORIGINS = {
    found.name: Path(str(found.module_finder.find_spec(found.name).origin))
    for found in pkgutil.walk_packages(incrowd.__path__, "incrowd.")
}
MODULES = [name for name, path in ORIGINS.items() if path.suffix == ".py" and ">>>" in path.read_text(encoding="utf-8")]


def test_there_are_examples():
    assert {"incrowd.release.anonymize", "incrowd.verification.verify", "incrowd.search.registry"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted
    assert not found.failed
