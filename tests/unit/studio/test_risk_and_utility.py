"""Risk and Utility, without a browser: what stands there is what the library says of the same table and release."""

import re
from html import unescape

import pytest
from tests.unit.studio.exploring import POLICY, problem

import incrowd
from incrowd.report.tables import percent


def section(page, label):
    """The cells of a table, row by row."""
    found = page.partition(f'aria-label="{label}"')[2].partition("</table>")[0].partition("<tbody>")[2]
    rows = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in found.split("</tr>"))
    return [[unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in row] for row in rows if row]


@pytest.fixture(scope="module")
def release(client, folder):
    """A release that the studio has made, as a file."""
    (folder / "people.studio" / "release.toml").write_text(POLICY)
    client.post("/release/run")
    assert client.over("release")["state"] == "done"
    return folder / "people.studio" / "results" / "release" / "made" / "release.csv"


def test_before_a_release(client):
    assert "no release yet" in problem(client.post("/risk/run", 422))
    assert "no release yet" in problem(client.post("/utility/run", 422))


def test_the_risk_is_that_of_the_table_and_of_the_released_file(client, release, folder):
    client.post("/risk/run")
    ended = client.over("risk")
    assert ended["state"] == "done", ended
    page = client.get("/risk")
    names = ["age", "job", "zip", "born"]
    before, after = (incrowd.assess(path, quasi_identifiers=names) for path in (folder / "people.csv", release))
    prosecutor = [row[1:] for row in section(page, "Attackers before and after") if row[0] == "prosecutor"]
    assert prosecutor[0] == ["highest", percent(before.prosecutor.highest), percent(after.prosecutor.highest)]
    assert prosecutor[1] == ["average", percent(before.prosecutor.average), percent(after.prosecutor.average)]
    assert prosecutor[2][1:] == [f"{before.prosecutor.at_risk:,}", f"{after.prosecutor.at_risk:,}"]
    columns = {name: int(alone) for name, alone, _ in section(page, "Columns that make people stand out")}
    assert columns == dict(before.uniques.without)
    stand_out = section(page, "Records that stand out in the original table")
    assert [int(row[0].replace(",", "")) for row in stand_out] == [each.row for each in before.special.highest[:10]]
    bins = re.search(r"Most frequent: (.*?)\.<", unescape(page))[1]
    assert f"1: {float(before.uniques.share):.1%} before, 0.0% after" in bins
    client.post("/protect/crowd", set="0", k="4")
    assert "this release is outdated" in client.get("/risk")


def test_a_model_of_ones_choice(client, release, folder):
    page = client.get("/utility")
    places = dict(re.findall(r'<option value="(\d+)"[^>]*>(\w+)</option>', page.partition('id="predict"')[2]))
    place = next(number for number, name in places.items() if name == "income")
    assert "born" not in places.values()  # hundreds of days are neither classes nor numbers
    assert f'value="{place}" selected' in page  # the target of the policy
    assert "no model" in problem(client.post("/utility/run", 422, target=place))
    assert "out of date" in problem(client.post("/utility/run", 422, target="99", model="tree"))
    client.post("/utility/run", target=place, model="tree")
    ended = client.over("utility")
    assert ended["state"] == "done", ended
    page = client.get("/utility")
    assert "tree predicts" in page
    assert "records to learn from" in page
    assert 'id="measure-ncp"' in page
