"""Build the wheel, and try it in an empty environment: `python -m tests.wheel`, or `make wheel`.

What is tried is what a user would do who has the wheel and nothing else: install it, make the demo release with its
reports, and check the certificate, away from the sources.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "incrowd"
REPORT = ("--qi", "age,sex", "--k", "10", "--identifiers", "fnlwgt", "-o", "report.html")


def build(folder: Path) -> Path:
    """Build the wheel into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("incrowd-*.whl")
    return wheel


def missing(wheel: Path) -> list[str]:
    """What the sources have and the wheel lacks, its licence included."""
    with zipfile.ZipFile(wheel) as inside:
        names = set(inside.namelist())
    sources = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    wanted = {path.relative_to(PACKAGE.parent).as_posix() for path in sources}
    licences = [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    return sorted(wanted - names) + ([] if licences else ["LICENSE"])


def strange(wheel: Path) -> list[str]:
    """What the wheel has and a user has no use for."""
    with zipfile.ZipFile(wheel) as inside:
        return [name for name in inside.namelist() if not name.startswith(("incrowd/", "incrowd-"))]


def tried(wheel: Path, folder: Path) -> None:
    """Install the wheel into an empty environment, and use it."""
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    plain = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    commands = [
        [scripts / "python", "-m", "pip", "install", "--quiet", wheel],
        [scripts / "incrowd", "--version"],
        [scripts / "incrowd", "demo", "demo"],
        [scripts / "incrowd", "verify", "demo/release.csv", "--certificate", "demo/release.certificate.json"],
        [scripts / "incrowd", "report", "demo/adult.csv.gz", *REPORT],
        [scripts / "python", "-c", "import incrowd; incrowd.anonymize; incrowd.datasets.german().read_bytes()"],
    ]
    for command in commands:
        print(*(str(word) for word in command[1:]), flush=True)
        subprocess.run([str(word) for word in command], cwd=folder, env=plain, check=True)


def main() -> None:
    """Build it, look into it, try it, and leave it in `dist`."""
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    for old in target.glob("incrowd-*.whl"):
        old.unlink()
    wheel = build(target)
    if found := missing(wheel) + strange(wheel):
        sys.exit(f"wrong in the wheel: {', '.join(found)}")
    with tempfile.TemporaryDirectory() as folder:
        tried(wheel, Path(folder))
    print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size:,} bytes, works in an empty environment")


if __name__ == "__main__":
    main()
