"""The folder of collected data that may lie beside the repository; tests that need it are skipped where it does not."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"
HIERARCHIES = SHARED_DATA / "hierarchies"

needs_shared_data = pytest.mark.skipif(
    not SHARED_DATA.is_dir(), reason="the collected data is not beside the repository"
)
