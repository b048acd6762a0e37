"""What recipes say about incrowd is what `pyproject.toml` says; the list of what is installed sees what is wrong."""

import re
import tomllib

import pytest
from tests.wheel import container, sbom
from tests.wheel.__main__ import ROOT

import incrowd

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


def package(name, *needs):
    metadata = {"name": name, "version": "1.0", "requires_dist": [*needs]}
    return {"metadata": metadata, "download_info": {"archive_info": {"hashes": {"sha256": "ab"}}}}


REPORT = {
    "environment": {"python_version": "3.12"},
    "install": [
        package("incrowd", "Num_Py>=1", "old; python_version < '3'", "more; extra == 'all'"),
        package("num-py", "tiny"),
        package("tiny"),
    ],
}
INSTALLED = {"incrowd": "1.0", "num_py": "1.0", "Tiny": "1.0"}


def test_the_list_of_what_is_installed_is_a_graph():
    made = sbom.document(REPORT)
    assert made["dependencies"][0] == {"ref": "pkg:pypi/incrowd@1.0", "dependsOn": ["pkg:pypi/num-py@1.0"]}
    assert [one["purl"] for one in made["components"]] == ["pkg:pypi/num-py@1.0", "pkg:pypi/tiny@1.0"]
    assert made["components"][0]["hashes"] == [{"alg": "SHA-256", "content": "ab"}]
    assert sbom.wrong(made, INSTALLED) == []


@pytest.mark.parametrize(
    ("installed", "found"),
    [
        ({**INSTALLED, "tiny": "2.0"}, ["tiny"]),
        ({**INSTALLED, "stranger": "1"}, ["stranger"]),
        ({"incrowd": "1.0", "num-py": "1.0"}, ["tiny"]),
    ],
)
def test_what_differs_is_named(installed, found):
    assert sbom.wrong(sbom.document(REPORT), {sbom.normal(name): found for name, found in installed.items()}) == found


def test_what_nothing_needs_is_named():
    report = {**REPORT, "install": [*REPORT["install"], package("stray")]}
    assert sbom.wrong(sbom.document(report), {**INSTALLED, "stray": "1.0"}) == ["pkg:pypi/stray@1.0"]


def test_the_conda_recipe_asks_for_what_the_project_asks_for():
    run = RECIPE.partition("  run:\n")[2].partition("\n\n")[0]
    asked = {line.strip(" -").replace(" ", "") for line in run.split("\n")}
    project = PROJECT["project"]
    assert asked == {f"python{project['requires-python']}", *project["dependencies"]}
    assert f'version: "{incrowd.__version__}"' in RECIPE
    assert f"incrowd = {project['scripts']['incrowd']}" in RECIPE
    assert PROJECT["build-system"]["requires"][0].replace(">=", " >=") in RECIPE


def test_the_container_runs_the_demo_and_nobody_is_root():
    found = container.instructions(container.FILE.read_text(encoding="utf-8"))
    assert container.command(found) == ["incrowd", "demo"]
    assert ("USER", "incrowd") in found
    extras = {word for _, rest in found for list_ in re.findall(r"\[([a-z,]+)\]", rest) for word in list_.split(",")}
    assert extras - {"incrowd"} <= set(PROJECT["project"]["optional-dependencies"])
