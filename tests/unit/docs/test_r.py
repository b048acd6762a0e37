"""The script of the page for R runs as it stands there, where R and reticulate are."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.examples import check

PAGE = Path(__file__).parents[3] / "docs" / "r.md"
FOUND = ["Rscript", "-e", "quit(status = !requireNamespace('reticulate', quietly = TRUE))"]


@check
def test_the_script_for_r_runs(tmp_path):
    if shutil.which("Rscript") is None or subprocess.run(FOUND, capture_output=True, check=False).returncode:
        pytest.skip("R with reticulate is not installed")
    (script,) = re.findall(r"^```r\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (tmp_path / "script.R").write_text(script, encoding="utf-8")
    words = {**os.environ, "INCROWD_PYTHON": sys.executable}
    command = ["Rscript", "--vanilla", "script.R"]
    done = subprocess.run(command, cwd=tmp_path, env=words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "500 records released, each in a crowd of at least 10 on age, sex, zip" in done.stdout
    assert (tmp_path / "release.csv").exists()
