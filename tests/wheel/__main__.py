"""Build the wheel and the source archive, and try them in empty environments: `python -m tests.wheel`, or `make wheel`.

What is tried is what a user would do who has the wheel and nothing else: install it, make the demo release with its
reports, and check the certificate, away from the sources. The source archive has to give the same wheel and the same
archive again, byte for byte; the list of what was installed has to be what is there;
the container's steps have to work.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tests.wheel import container, sbom

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "incrowd"
ENDINGS = {"wheel": ".whl", "sdist": ".tar.gz"}
REPORT = ("--qi", "age,sex", "--k", "10", "--identifiers", "fnlwgt", "-o", "report.html")


def build(folder: Path, target: str = "wheel", source: Path = ROOT) -> Path:
    """Build the wheel or the source archive (`sdist`) into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (made,) = folder.glob(f"incrowd-*{ENDINGS[target]}")
    return made


def differing(wheel: Path, archive: Path, folder: Path) -> list[str]:
    """What becomes another file when it is built again from the archive, elsewhere and with strict permissions."""
    source = unpacked(archive, folder)
    before = os.umask(0o077)
    try:
        again = [build(folder, "wheel", source), build(folder, "sdist", source)]
    finally:
        os.umask(before)
    return [new.name for old, new in zip((wheel, archive), again, strict=True) if old.read_bytes() != new.read_bytes()]


def unpacked(archive: Path, folder: Path) -> Path:
    """The sources of an archive, in a folder of their own."""
    with tarfile.open(archive) as inside:
        inside.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    return source


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


def tried(wheel: Path, folder: Path) -> str:
    """Install the wheel into an empty environment, and use it.

    Returns:
        What was installed, as a CycloneDX document.
    """
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    plain = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    commands = [
        [scripts / "python", "-m", "pip", "install", "--quiet", "--report", "installed.json", wheel],
        [scripts / "incrowd", "--version"],
        [scripts / "incrowd", "demo", "demo"],
        [scripts / "incrowd", "verify", "demo/release.csv", "--certificate", "demo/release.certificate.json"],
        [scripts / "incrowd", "report", "demo/adult.csv.gz", *REPORT],
        [scripts / "python", "-c", "import incrowd; incrowd.anonymize; incrowd.datasets.german().read_bytes()"],
    ]
    for command in commands:
        print(*(str(word) for word in command[1:]), flush=True)
        subprocess.run([str(word) for word in command], cwd=folder, env=plain, check=True)

    listing = [str(scripts / "python"), "-m", "pip", "list", "--format", "json"]
    there = json.loads(subprocess.run(listing, env=plain, check=True, capture_output=True).stdout)
    installed = {one["name"]: one["version"] for one in there if one["name"] not in ("pip", "setuptools")}
    made = sbom.document(json.loads((folder / "installed.json").read_text(encoding="utf-8")))
    if found := sbom.wrong(made, installed):
        sys.exit(f"the list of what is installed is wrong about {', '.join(found)}")
    return sbom.text(made)


def main() -> None:
    """Build them, look into them, try them, and leave them in `dist`, and what was installed in `build`."""
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    for old in target.glob("incrowd-*"):
        old.unlink()
    wheel, archive = build(target), build(target, "sdist")
    if found := missing(wheel) + strange(wheel):
        sys.exit(f"wrong in the wheel: {', '.join(found)}")
    with tempfile.TemporaryDirectory() as folder:
        if other := differing(wheel, archive, Path(folder)):
            sys.exit(f"built again, and no longer the same: {', '.join(other)}")
        materials = tried(wheel, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        container.tried(unpacked(archive, Path(folder)), Path(folder))
    listed = ROOT / "build" / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json"
    listed.parent.mkdir(exist_ok=True)
    listed.write_text(materials, encoding="utf-8")
    for path in (wheel, archive, listed):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")
    print("built twice, byte for byte the same; works in an empty environment, and as the container does it")


if __name__ == "__main__":
    main()
