"""What is counted on the screens Data and Roles is of the table, the columns and the reading that hold now."""

import json
import os
import re
import signal

import pytest
from tests.browser.pages import going_on, halted
from tests.studio import Client, studio

TABLE = "age,job\n" + "".join(f"{20 + place % 9},{' ' * (place % 2)}cook\n" for place in range(18))
ALONE = "<b>{}</b> of 18 records are unique"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("counting")
    (made / "people.csv").write_text(TABLE)
    return made


@pytest.fixture(scope="module")
def running(folder):
    with studio(folder, "people.csv") as (process, link):
        client = Client(link)
        assert client.over("inspect")["state"] == "done"
        yield process, client


@pytest.fixture
def client(running):
    return running[1]


@pytest.fixture
def others_know(folder):
    """Say by hand what others may know."""
    path = folder / "people.studio" / "release.toml"
    return lambda *names: path.write_text(f"quasi_identifiers = {json.dumps(names)}\nk = 2\n")


def test_a_file_that_is_read_in_another_way_is_counted_again(client, others_know):
    others_know("age", "job")
    assert "data-job" in client.get("/roles/figures")
    assert client.over("uniques")["state"] == "done"
    assert ALONE.format(18) in client.get("/roles/figures")
    client.post("/data/dialect", strip="on")
    assert client.over("inspect")["state"] == "done"
    assert "data-job" in client.get("/roles/figures")
    assert client.over("uniques")["state"] == "done"
    assert ALONE.format(0) in client.get("/roles/figures")


def test_a_column_that_the_table_does_not_have_does_not_make_figures_out_of_date(client, others_know):
    others_know("age", "job", "ghost")
    found = client.get("/roles/figures")
    assert ALONE.format(0) in found
    assert "stale" not in found


def test_a_count_that_failed_beside_such_a_column_is_not_begun_again_by_its_piece(running, others_know):
    process, client = running
    stopped = halted(process)
    others_know("age", "ghost")
    assert "data-job" in client.get("/roles/figures")
    for pid in stopped:
        os.kill(pid, signal.SIGKILL)
    assert client.over("uniques")["state"] == "failed"
    found = client.get("/roles/figures")
    assert "the job was killed" in found
    assert "data-job" not in found


def test_a_table_that_changes_while_it_is_looked_at_is_looked_at_again(running, folder):
    process, client = running
    stopped = halted(process)
    client.post("/data/again")
    with (folder / "people.csv").open("a") as file:
        file.write("99,clerk\n")
    going_on(stopped)
    assert client.over("inspect")["state"] == "done"
    assert "data-job" in client.get("/data")
    assert client.over("inspect")["state"] == "done"
    assert "19 records" in client.get("/data")


def test_people_are_counted_where_it_is_known_whose_record_it_is(tmp_path):
    """Nobody is alone by records; by people, those of 30 are two, and the only one of 50 came twice."""
    visits = [("a", 30), ("b", 30), ("b", 30), ("c", 40), ("d", 40), ("e", 40), ("f", 50), ("f", 50)]
    (tmp_path / "visits.csv").write_text("patient,age\n" + "".join(f"{who},{age}\n" for who, age in visits))
    policy = tmp_path / "visits.studio" / "release.toml"
    with studio(tmp_path, "visits.csv") as (_, link):
        client, found = Client(link), []
        assert client.over("inspect")["state"] == "done"
        for unit in ("", 'unit = "patient"\n'):
            policy.write_text(f'quasi_identifiers = ["age"]\nk = 2\n{unit}')
            assert "data-job" in client.get("/roles/figures")
            assert client.over("uniques")["state"] == "done"
            found.append(client.get("/roles/figures"))
    records, people = found
    assert "<b>0</b> of 8 records are unique" in records
    assert "<b>1</b> of 6 people have a unique record" in people
    assert re.search(r"in a crowd below 2 people</th><td class=\"number\">1<", people)
    assert "age</bdi></b> alone: 1 unique" in people
