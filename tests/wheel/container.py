"""What the container file does, done in an empty environment: its pip steps, then its command without a network."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "Containerfile"
FOLDERS = ("/source", "/wheels", "/data")  # of the image


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a container file, with what each is given."""
    lines = text.replace("\\\n", " ").split("\n")
    pairs = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#")]
    return [(word, rest) for word, rest in pairs]


def command(found: list[tuple[str, str]]) -> list[str]:
    """What the image runs when nothing is asked for."""
    given = dict(found)
    return [word.strip('", ') for part in ("ENTRYPOINT", "CMD") for word in given[part].strip("[]").split(",")]


def offline() -> list[str]:
    """What a command is begun with to run without a network, where this system allows that."""
    words = ["unshare", "--net", "--map-root-user"]
    if shutil.which("unshare") is None:
        return []
    return words if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0 else []


def tried(source: Path, folder: Path) -> bool:
    """Run every step.

    Args:
        source: The sources.
        folder: Stands for the root of the image.

    Returns:
        Whether the demo ran without a network, which needs a system with `unshare`.
    """
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    for name in FOLDERS:
        (folder / name[1:]).mkdir()
    shutil.copytree(source, folder / "source", dirs_exist_ok=True)
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    plain = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    plain |= {"PATH": path, "EXTRAS": ""}
    found = instructions(FILE.read_text(encoding="utf-8"))
    here = folder
    for word, rest in found:
        if word == "WORKDIR":
            here = folder / rest.lstrip("/")
        if word == "RUN" and "pip " in rest:
            step = rest.replace("--no-cache-dir ", "")
            for name in FOLDERS:
                step = step.replace(f"{name} ", f"{shlex.quote(str(folder / name[1:]))} ")
            print(rest, flush=True)
            subprocess.run(step, shell=True, cwd=here, env=plain, check=True, stdout=subprocess.DEVNULL)
    words = offline()
    print(*command(found), "(without a network)" if words else "", flush=True)
    subprocess.run([*words, *command(found)], cwd=here, env=plain, check=True)
    return bool(words)
