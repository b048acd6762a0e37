"""A ledger in the studio: releases that are tried out leave no trace in it, those that are exported do."""

import re
from html import unescape

import pytest
from tests.studio import Client, studio
from tests.unit.studio.exploring import POLICY, people, problem

import incrowd
from incrowd.errors import DataError
from incrowd.ledger.store import Ledger
from incrowd.studio.tasks.ledgers import enter, with_draft


def done(client, address, task):
    client.post(address)
    ended = client.over(task)
    assert ended["state"] == "done", ended


def test_a_growing_table(tmp_path):
    rows = people(400).splitlines(keepends=True)
    (tmp_path / "people.csv").write_text("".join(rows[:301]))
    with studio(tmp_path, "people.csv") as (_, link):
        client = Client(link)
        client.over("inspect")
        policy = tmp_path / "people.studio" / "release.toml"
        policy.write_text(POLICY.replace('"tdr"', '"mondrian"'))
        client.post("/protect/ledger", value="yes")
        client.post("/protect/setting", setting="recipient", value="ministry")
        page = client.post("/protect/setting", setting="wait", value="2")
        assert 'ledger = "../ledger"' in policy.read_text()
        assert 'value="ministry"' in page
        done(client, "/release/run", "release")
        done(client, "/release/run", "release")  # tried once more: it does not continue the one before
        page = unescape(client.get("/release"))
        assert "this is release 1 of the ledger" in page
        assert "this release is entered in the ledger when you export it" in page
        assert Ledger.read(tmp_path / "ledger").releases == ()
        done(client, "/export/make", "export")
        done(client, "/export/make", "export")  # it is the same release
        entered = Ledger.read(tmp_path / "ledger").releases
        assert [(each.number, each.records, each.recipient) for each in entered] == [(1, 300, "ministry")]
        page = client.get("/export")
        assert "incrowd ledger list ledger<" in page
        assert "Reproduce it" not in page
        assert 'ledger = "../../ledger"' in (tmp_path / "people.studio" / "export" / "release.toml").read_text()
        first = (tmp_path / "people.studio" / "export" / "release.csv").read_text().splitlines()

        (tmp_path / "people.csv").write_text("".join(rows))
        assert "rows-0001" not in client.get("/data")  # the ledger is no table to open
        client.over("inspect")
        client.post("/protect/setting", setting="wait", value="")
        done(client, "/release/run", "release")
        page = unescape(client.get("/release"))
        assert re.search(r"<b>400</b><span>records released, 100 of them new", page)
        assert "this release continues release 1 of the ledger" in page
        done(client, "/export/make", "export")
        assert [each.records for each in Ledger.read(tmp_path / "ledger").releases] == [300, 400]
        second = (tmp_path / "people.studio" / "export" / "release.csv").read_text().splitlines()
        assert set(first) <= set(second)
        assert 'ledger = "' not in client.post("/protect/ledger", value="no")


def test_a_draft_counts_only_if_nothing_was_entered_meanwhile(tmp_path):
    (tmp_path / "people.csv").write_text(people())
    settings = {"quasi_identifiers": ["age", "job"], "method": "mondrian", "ledger": "ledger"}
    drafts = [tmp_path / "first", tmp_path / "second"]
    for draft, k in zip(drafts, (3, 4), strict=True):
        draft.mkdir()
        given = {**with_draft(settings, tmp_path, draft), "k": k, "keep": ["born"]}
        made = incrowd.anonymize(tmp_path / "people.csv", **given)
        made.write(draft / "release.csv")
    enter(settings, tmp_path, drafts[0])
    entered = Ledger.read(tmp_path / "ledger").releases
    with pytest.raises(DataError, match="another release was entered"):
        enter(settings, tmp_path, drafts[1])
    assert Ledger.read(tmp_path / "ledger").releases == entered == Ledger.read(drafts[0] / "ledger").releases


def test_a_ledger_refuses_what_it_cannot_keep(tmp_path):
    (tmp_path / "people.csv").write_text(people())
    with studio(tmp_path, "people.csv") as (_, link):
        client = Client(link)
        client.over("inspect")
        (tmp_path / "people.studio" / "release.toml").write_text(POLICY)
        assert "must be" in problem(client.post("/protect/setting", 422, setting="wait", value="soon"))
