"""Compare, the steps of a search and why, without a browser: what is done stands in the policy."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from html import unescape
from types import SimpleNamespace

import pytest
from tests.studio import Client, studio
from tests.unit.studio.exploring import AGE, JOB, POLICY, edit, nodes, people, problem

from incrowd import anonymize, attack
from incrowd.policy.making import make_policy
from incrowd.policy.toml import read_policy
from incrowd.release.release import made_again
from incrowd.studio.screens import compare
from incrowd.studio.wording import points


class TestCompare:
    @pytest.mark.parametrize(
        ("sent", "told"),
        [
            ({"ks": "5"}, "no method"),
            ({"ks": "5", "method": "magic"}, "no method"),
            ({"ks": "", "method": "tdr"}, "no k is given"),
            ({"ks": "five", "method": "tdr"}, "must be a number"),
            ({"ks": "1", "method": "tdr"}, "from 2 to"),
            ({"ks": "2.5", "method": "tdr"}, "whole number"),
            ({"ks": "2,3,4,5,6,7,8,9,10", "method": "tdr"}, "at most 8"),
            ({"ks": "2,3", "method": "tdr", "seconds": "0"}, "above 0"),
            ({"ks": "2,3", "method": "tdr", "seconds": "soon"}, "must be a number"),
        ],
    )
    def test_what_cannot_be(self, client, words, sent, told):
        assert told in problem(client.post("/compare/run", 422, **sent))

    def test_a_setting_is_taken(self, client, words, folder):
        path = folder / "people.studio" / "release.toml"
        path.write_text(POLICY.replace('"tdr"', '"tdr"\nmax_steps = 2\nrestarts = 1'))
        client.post("/compare/run", method=["tdr", "mondrian"], ks="2, 10", seconds="60")
        assert client.over("compare")["state"] == "done"
        page = client.get("/compare")
        rows = re.findall(r'id="row-(\d)".*?<b>(\w+)</b>, k = (\d+)', page, re.DOTALL)
        assert rows == [("0", "tdr", "2"), ("1", "tdr", "10"), ("2", "mondrian", "2"), ("3", "mondrian", "10")]
        assert set(re.findall(r'data-row="(\d)"', page)) <= set("0123")
        assert "With k = 3 or more," not in page  # which was not compared
        assert "or more, " in page
        assert "From k = 2 to k = 10, the least loss goes from" in page
        digest = re.search(r"sha256:\w+", page)[0]
        for wrong in ({"row": "9"}, {"row": "x"}, {"digest": "sha256:old"}):
            sent = {"row": "3", "digest": digest, **wrong}
            assert "out of date" in problem(client.post("/compare/take", 422, **sent))
        page = client.post("/compare/take", row="3", digest=digest)
        assert (words()["method"], words()["k"]) == ("mondrian", 10)
        assert not {"max_steps", "restarts"} & set(words())
        assert "restarts" in re.search(r'data-said="(.*?)"', page)[1]
        assert "have changed since" not in page
        assert 'class="now" cx=' in page  # the current setting is marked in the picture

    def test_what_is_finished_is_shown_while_it_goes_on(self, client, words, folder):
        found = client.get("/compare/points")
        assert re.findall(r'id="row-(\d)".*?<b>(\w+)</b>', found, re.DOTALL) == [
            ("0", "tdr"),
            ("1", "tdr"),
            ("2", "mondrian"),
            ("3", "mondrian"),
        ]
        assert 'data-row="' not in found  # nothing can be taken yet
        assert found.count("disabled") == 4

    def test_a_release_that_another_setting_beats_by_far_says_so(self, client, words, folder):
        run = {"method": "cover", "k": 10, "status": "done", "losses": {"ncp": 0.1}}
        worse = {"method": "tdr", "k": 3, "status": "done", "losses": {"ncp": 0.01}}
        project = SimpleNamespace(settings=dict, result=lambda name: {"data": {"key": "of", "runs": [run, worse]}})
        known = SimpleNamespace(project=project, digest_of=lambda *known: "of")
        project.settings = lambda: {**words(), "k": 5}
        assert compare.better(known, 0.25)["method"] == "cover"  # tdr protects less
        assert compare.better(known, 0.15) is None
        known.digest_of = lambda *known: "of other settings"
        assert compare.better(known, 0.25) is None


def released(client, address, **words):
    """Do what makes a release, and wait until that very one is made."""
    page = client.post(address, **words)
    number = int(re.search(r'data-job="(\d+)"[^>]*aria-label="Making the release"', page)[1])
    over = ("done", "failed", "cancelled")
    ended = client.events(lambda told: told.get("job") == number and told["state"] in over)[-1]
    assert ended["state"] == "done", ended


@pytest.fixture(scope="module")
def made(client, folder):
    """The screen of a release."""
    (folder / "people.studio" / "release.toml").write_text(POLICY)
    released(client, "/release/run")
    client.get("/release")
    assert client.over("steps")["state"] == "done"
    return client.get("/release")


class TestRelease:
    """Steps and reasons, on a release by a search that goes step by step."""

    def test_a_step_is_released(self, client, words, made):
        total = int(re.search(r'id="step-slider" min="0" max="(\d+)"', made)[1])
        assert total >= 2
        first, last = client.get("/release/step/0"), client.get(f"/release/step/{total}")
        assert "Where the search began" in first
        marked = [re.findall(r'class="chosen" cx="([\d.]+)"', page) for page in (first, last)]
        assert len(marked[0]) == 2  # in both charts
        assert all(float(left) < float(right) for left, right in zip(*marked, strict=True))
        assert 'class="tag">released' in last
        assert 'class="tag">released' not in first
        digest = re.search(r'stop&#34;: |"digest": "(sha256:\w+)"', first)[1]
        client.get("/release/step/999", 422)
        for wrong in ({"stop": "999"}, {"stop": ""}, {"digest": "old"}):
            assert "out of date" in problem(
                client.post("/release/choose-step", 422, **{"stop": "1", "digest": digest, **wrong})
            )
        assert words() == tomllib.loads(POLICY)
        released(client, "/release/choose-step", stop="1", digest=digest)
        assert words()["max_steps"] == 1
        page = client.get("/release")
        assert 'class="tag">released' in page
        assert f'max="{total}" value="1"' in page  # the other steps are still there
        released(client, "/release/all-steps")
        assert "max_steps" not in words()

    def test_what_helps_is_taken(self, client, words, made):
        assert "out of date" in problem(client.post("/release/why", 422, column="99"))
        client.post("/release/why", column="1")
        assert client.over("why")["state"] == "done"
        page = client.get("/release")
        changes = [unescape(text) for text in re.findall(r'aria-label="Use (.*?)"', page)]
        assert {"the method mondrian", "dropping the column age"} & set(changes)  # what a busy machine had time for
        digest = re.search(r'"digest": "(sha256:\w+)", "trial"', page)[1]
        for wrong in ({"trial": "99"}, {"digest": "old"}):
            assert "out of date" in problem(
                client.post("/release/take", 422, **{"trial": "0", "digest": digest, **wrong})
            )
        for place, change in enumerate(changes):
            client.post("/release/take", trial=str(place), digest=digest)
            now = words()
            if change.startswith("the method"):
                assert now["method"] == change.rpartition(" ")[2]
            elif change.startswith("dropping"):
                assert change.rpartition(" ")[2] in now["identifiers"]
            elif change.startswith("leaving"):
                assert now["suppress"] in (0.01, 0.05)
            elif change.startswith("crowds"):
                assert now["k"] == 2
            elif change.startswith("a hierarchy"):
                assert change.rpartition(" ")[2] in now["taxonomies"]
            assert 'class="problem"' not in client.post("/undo", way="undo", screen="release")
            assert words() == tomllib.loads(POLICY)


def test_what_was_edited_and_chosen_is_in_what_the_exported_lines_make(client, words, folder, made):
    """An edited tree, edited intervals and a step of the search: byte for byte the same by command and by Python."""
    edit(client, JOB, "group", ["nurse", "teacher"], name="Care; and more")
    client.post("/hierarchies/cut", place=AGE, act="split", level=0, value="45")
    released(client, "/release/run")
    client.get("/release")
    assert client.over("steps")["state"] == "done"
    digest = re.search(r'"digest": "(sha256:\w+)", "stop"', client.get("/release"))[1]
    released(client, "/release/choose-step", stop="2", digest=digest)
    client.post("/export/make")
    assert client.over("export")["state"] == "done"
    page = client.get("/export")
    expected = (folder / "people.studio" / "export" / "release.csv").read_bytes()
    for place, start in (("command", ["-m"]), ("python", ["-c"])):
        text = unescape(re.search(rf'id="{place}"[^>]*>(.*?)</pre>', page, re.DOTALL)[1])
        command = [sys.executable, *start, *(shlex.split(text) if place == "command" else [text])]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (folder / "release.csv").read_bytes() == expected
        for path in folder.glob("release.*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_tomorrow_everything_can_still_be_undone(tmp_path):
    (tmp_path / "people.csv").write_text(people(60))
    with studio(tmp_path, "people.csv") as (_, link):
        client = Client(link)
        client.over("inspect")
        (tmp_path / "people.studio" / "release.toml").write_text(POLICY)
        client.get("/hierarchies")
        client.over("values")
        edit(client, JOB, "group", ["nurse", "teacher"], name="Care")
    with studio(tmp_path, "people.csv") as (_, link):
        client = Client(link)
        assert "Care" in nodes(client.get(f"/hierarchies/{JOB}"))[0]
        page = client.post("/undo", screen="hierarchies", place=JOB, way="undo")
        assert "Care" not in nodes(page)[0]


def test_before_there_is_anything(tmp_path):
    (tmp_path / "people.csv").write_text(people(60))
    with studio(tmp_path, "people.csv") as (_, link):
        client = Client(link)
        client.over("inspect")
        for address in ("/release/why", "/release/steps"):
            assert "no release" in problem(client.post(address, 422, column="0"))
        for address in ("/release/take", "/release/choose-step", "/compare/take"):
            assert "out of date" in problem(client.post(address, 422))
        client.get("/release/step", 422)
        (tmp_path / "people.studio" / "release.toml").write_text('insensitive = ["age"]\n')
        assert "nothing has to be generalized" in client.get("/hierarchies")


class TestAttack:
    """What attackers achieve against the file that was written, in figures and in words."""

    def test_attackers_are_played(self, client, words, folder, made):
        released(client, "/release/run")
        client.post("/attack/run")
        assert client.over("attack")["state"] == "done"
        page = client.get("/attack")
        home = folder / "people.studio"
        file = home / "results" / "release" / "made" / "release.csv"
        codebook = file.with_name("release.recoding.json")
        again = made_again(make_policy(**read_policy(home / "release.toml")[0]))
        found = attack(file, folder / "people.csv", policy=home / "release.toml", codebook=codebook, again=again)
        assert "last-record" not in found.skipped
        shown = re.findall(r'id="attack-(\S+)">.*?<b>(.*?)</b>', page, re.DOTALL)
        assert dict(shown) == {result.attack.name: points(result.excess.value) for result in found.results}
        for result in found.results:
            assert result.sentence[1:] in unescape(page)
            assert f"Knows {result.attack.knows}." in unescape(page)
        assert all(f"not played: {name}" in page for name in found.skipped)
        assert page.count('class="tag warn-tag"') == len(found.leaks)
        assert "Up to date with the current release" in page
        client.post("/protect/crowd", set="0", k="5")
        assert "this release is outdated" in client.get("/attack")
        released(client, "/release/run")
        assert "The release has changed since" in client.get("/attack")

    def test_a_leak_is_called_one_and_the_policy_may_forbid_it(self, client, words, folder, made):
        path = folder / "people.studio" / "release.toml"
        path.write_text(
            'quasi_identifiers = ["age", "job"]\nk = 3\ninsensitive = ["zip", "born", "income"]\nkeep = ["born"]\n'
            '[attack]\nonly = ["auxiliary"]\nmax_excess = 0.05\n'
        )
        released(client, "/release/run")
        client.post("/attack/run")
        assert client.over("attack")["state"] == "done"
        page = client.get("/attack")
        assert "1 of 1 attack surely learns something" in page
        assert "The policy allows an" in page
        assert "(not asked for)" in page

    def test_classes_are_no_codebook_of_single_values(self, folder, tmp_path):
        words = {"quasi_identifiers": ["age", "job", "zip"], "k": 3, "identifiers": ["born"], "method": "cover"}
        release = anonymize(folder / "people.csv", **words)
        release.write(tmp_path / "release.csv")
        given = {"quasi_identifiers": words["quasi_identifiers"], "k": 3, "only": ["linking"]}
        codebook = tmp_path / "release.recoding.json"
        found = attack(tmp_path / "release.csv", folder / "people.csv", codebook=codebook, **given)
        assert found.to_rows() == attack(tmp_path / "release.csv", folder / "people.csv", **given).to_rows()
