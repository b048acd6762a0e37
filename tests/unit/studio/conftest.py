"""A studio in which a policy is at hand, for the tests of a module."""

import tomllib

import pytest
from tests.studio import Client, studio
from tests.unit.studio.exploring import POLICY, people


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("exploring")
    (made / "people.csv").write_text(people())
    return made


@pytest.fixture(scope="module")
def client(folder):
    with studio(folder, "people.csv") as (_, link):
        found = Client(link)
        assert found.over("inspect")["state"] == "done"
        (folder / "people.studio" / "release.toml").write_text(POLICY)
        found.get("/hierarchies")
        assert found.over("values")["state"] == "done"
        yield found


@pytest.fixture
def words(folder):
    """The policy, as it was before each test and as it is now."""
    path = folder / "people.studio" / "release.toml"
    path.write_text(POLICY)
    return lambda: tomllib.loads(path.read_text())
