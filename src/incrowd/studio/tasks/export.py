"""Puts together what leaves: the release with its certificate, reports, codebook and policy, in one folder.

The rows are those that were written and verified when the release was made; nothing is searched again.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.errors import DataError
from incrowd.policy.dictionary import DICTIONARIES
from incrowd.policy.toml_text import policy_text
from incrowd.release.files import ReleaseFiles
from incrowd.report.files import WRITERS
from incrowd.report.labels import EMPTY, meaning
from incrowd.report.summary import public_summary
from incrowd.run import Run
from incrowd.studio.tasks.ledgers import enter
from incrowd.verification.certificate import Certificate

ABOUT = {  # what each file is, and whether anyone may have it
    "release": ("the released rows", True),
    "certificate": ("what is promised, and how to check it", True),
    "recoding": ("how every value was recoded", True),
    "public-report": ("a report for anyone, from the released rows alone", True),
    "codebook": ("what every released value means", True),
    "dictionary": ("a data dictionary, for archives and programs that read it", True),
    "report": ("the full report, which shows the original table", False),
    "policy": ("the policy, to make the release again", False),
    "hierarchy": ("a hierarchy that the policy names", False),
    "confidential": ("for you only", False),
}
_CONFIDENTIAL = {
    "commitment.json": "the secret half of the certificate",
    "key.json": "the key, to make exactly the same release again",
    "steps.json": "the steps of the search",
    "taxonomies.toml": "the hierarchies that the search made for numbers",
}


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Fill "folder" with the release "name" in "made", its reports and its policy; "of" is its digest."""
    files = _fill(Path(request["folder"]), request, run)
    return {"files": files, "name": request["name"], "policy": _moved(request["policy"])[0], "of": request["of"]}


def _fill(folder: Path, request: Mapping[str, Any], run: Run) -> list[dict[str, Any]]:
    run.stage("copying")
    made = ReleaseFiles.of(Path(request["made"]) / request["name"])
    if not made.release.exists() or not made.certificate.exists():
        raise DataError("the files of the release are gone; make it again on the screen Release")
    certificate = Certificate.read(made.certificate)
    if certificate.output != request["summary"]["check"]["release"]:
        raise DataError("the files are not those of the release that is shown; make it again on the screen Release")
    kinds: dict[str, str] = {}
    public = [(made.release, "release"), (made.certificate, "certificate"), (made.recoding, "recoding")]
    for path, kind in (*public, *((made.dictionary(name), "dictionary") for name in DICTIONARIES)):
        if path.exists():
            shutil.copyfile(path, folder / path.name)
            kinds[path.name] = kind
    if made.confidential.is_dir():
        shutil.copytree(made.confidential, folder / made.confidential.name)
        for path in sorted((folder / made.confidential.name).iterdir()):
            kinds[path.relative_to(folder).as_posix()] = "confidential"
    enter(request["policy"], Path(request["home"]), Path(request["made"]))
    run.stage("reporting")
    _write(folder / "public-report.html", WRITERS[".html"](public_summary(made.release, certificate)))
    run.check()
    _write(folder / "report.html", WRITERS[".html"](request["summary"]))
    _write(folder / "codebook.csv", codebook_text(request["codebook"]))
    policy, copied = _moved(request["policy"])
    _write(folder / "release.toml", policy_text(policy))
    for source, name in copied.items():
        (folder / name).parent.mkdir(0o700, exist_ok=True)
        shutil.copyfile(Path(request["home"]) / source, folder / name)
        kinds[name] = "hierarchy"
    own = {"public-report.html": "public-report", "report.html": "report", "codebook.csv": "codebook"}
    kinds |= {**own, "release.toml": "policy"}
    return [_listed(folder, name, kind) for kind in ABOUT for name, its in kinds.items() if its == kind]


def _listed(folder: Path, name: str, kind: str) -> dict[str, Any]:
    path = folder / name
    os.chmod(path, 0o600)
    about, public = ABOUT[kind]
    about = _CONFIDENTIAL.get(path.name, about) if kind == "confidential" else about
    return {"name": name, "kind": kind, "about": about, "public": public, "size": path.stat().st_size}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _moved(policy: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The policy as it is in a folder of the project, with its hierarchies next to it, and which file goes where."""
    given, copied = policy.get("taxonomies", {}), {}
    if (ledger := policy.get("ledger")) and not Path(ledger).is_absolute():
        policy = {**policy, "ledger": f"../{ledger}"}
    if not isinstance(given, Mapping):
        return dict(policy), {}
    moved = {}
    for column, item in given.items():
        moved[column] = item
        if isinstance(item, str):
            moved[column] = f"hierarchies/{Path(item).name}"
            copied[item] = moved[column]
    return {**policy, **({"taxonomies": moved} if moved else {})}, copied


def codebook_text(codebook: Mapping[str, list[str | None]]) -> str:
    """The released values of every column, and what each stands for, as CSV."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["column", "released value", "stands for"])
    for column, values in codebook.items():
        for value in values:
            rows.writerow([column, value or "", meaning(value or EMPTY) or "itself"])
    return text.getvalue()
