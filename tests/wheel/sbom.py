"""What an installation of incrowd consists of, as a CycloneDX document, made of what pip says that it downloaded.

The document has no time and no serial number, so the same packages give the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from packaging.requirements import Requirement

PRODUCT = "incrowd"


def normal(name: str) -> str:
    """A package's name as the registry compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def document(report: Mapping[str, Any]) -> dict[str, Any]:
    """The document.

    Args:
        report: What `pip install --report` wrote.
    """
    packages = {normal(item["metadata"]["name"]): item for item in report["install"]}
    references = {name: _reference(name, item) for name, item in sorted(packages.items())}
    needs = [
        {"ref": reference, "dependsOn": [references[need] for need in _needs(packages[name], report["environment"])]}
        for name, reference in references.items()
    ]
    components = {name: _component(item, references[name]) for name, item in packages.items()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": components.pop(PRODUCT)},
        "components": [component for _, component in sorted(components.items())],
        "dependencies": needs,
    }


def _reference(name: str, item: Mapping[str, Any]) -> str:
    return f"pkg:pypi/{name}@{item['metadata']['version']}"


def _needs(item: Mapping[str, Any], environment: Mapping[str, str]) -> list[str]:
    """What a package requires there, without its extras."""
    asked = [Requirement(text) for text in item["metadata"].get("requires_dist", ())]
    here = {**environment, "extra": ""}
    return sorted({normal(need.name) for need in asked if need.marker is None or need.marker.evaluate(here)})


def _component(item: Mapping[str, Any], reference: str) -> dict[str, Any]:
    about = item["metadata"]
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference,
        "name": about["name"],
        "version": about["version"],
        "purl": reference,
    }
    if digest := item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256"):
        found["hashes"] = [{"alg": "SHA-256", "content": digest}]
    if licence := about.get("license_expression"):
        found["licenses"] = [{"expression": licence}]
    return found


def wrong(made: Mapping[str, Any], installed: Mapping[str, str]) -> list[str]:
    """Where a document and an environment differ.

    Args:
        made: The document.
        installed: The version of each package there, apart from pip itself.
    """
    components = [made["metadata"]["component"], *made["components"]]
    listed = {normal(one["name"]): one["version"] for one in components}
    there = {normal(name): version for name, version in installed.items()}
    differing = sorted(name for name in {*listed, *there} if listed.get(name) != there.get(name))
    needs = {need["ref"]: need["dependsOn"] for need in made["dependencies"]}
    reached, ahead = set(), [made["metadata"]["component"]["bom-ref"]]
    while ahead:
        reached.add(found := ahead.pop())
        ahead += [need for need in needs[found] if need not in reached]
    unneeded = sorted(set(needs) - reached)
    return [*differing, *unneeded]


def text(made: Mapping[str, Any]) -> str:
    """The document as it is written."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
