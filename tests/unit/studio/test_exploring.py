"""Hierarchies, Compare, the steps of a search and why, without a browser: what is done stands in the policy."""

import random
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from html import unescape

import pytest
from tests.studio import Client, studio

JOBS = ("nurse", "cook", "clerk", "driver", "teacher")


def people(rows=300):
    draw = random.Random(5)
    lines = ["age,job,zip,born,income"]
    for _ in range(rows):
        age, job = draw.randint(18, 79), draw.choice(JOBS)
        zip_code = f"1{draw.randint(0, 2)}{draw.randint(0, 9)}{draw.randint(0, 3)}"
        born = f"{draw.randint(1960, 2001)}-{draw.randint(1, 12):02}-01"
        lines.append(f"{age},{job},{zip_code},{born},{'high' if age > 50 else 'low'}")
    return "\n".join(lines) + "\n"


POLICY = """quasi_identifiers = ["age", "job", "zip", "born"]
k = 3
target = "income"
method = "tdr"

[taxonomies]
age = { widths = [10, 20] }
zip = { prefix = [2, 1] }

[types]
zip = "text"
"""
AGE, JOB, ZIP, BORN = range(4)


def problem(page):
    """What a page says is wrong: in one line, at the top or at its place."""
    found = re.findall(r'class="(?:problem|node-problem)" role="alert"[^>]*><bdi>(.*?)</bdi>', page, re.DOTALL)
    assert len(found) == 1, page[:2000]
    assert "\n" not in found[0]
    return unescape(found[0])


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


def nodes(page):
    """The id of each label of a tree, and its version."""
    pairs = re.findall(r'data-node="(\w+)".*?class="label"><bdi>(.*?)</bdi>', page, re.DOTALL)
    return {unescape(label): node for node, label in pairs}, re.search(r'name="version" value="(\w+)"', page)[1]


def edit(client, place, act, labels=(), status=200, **more):
    ids, version = nodes(client.get(f"/hierarchies/{place}"))
    sent = {"place": place, "version": version, "act": act, "nodes": [ids[label] for label in labels], **more}
    if "target" in more:
        sent["target"] = ids[more["target"]]
    return client.post("/hierarchies/edit", status, **sent)


class TestTrees:
    def test_a_group_becomes_a_file_that_the_policy_names(self, client, words, folder):
        page = edit(client, JOB, "group", ["nurse", "teacher"], name="Care")
        assert "Care" in nodes(page)[0]
        name = words()["taxonomies"]["job"]
        assert name.startswith("hierarchies/job-")
        lines = (folder / "people.studio" / name).read_text().splitlines()
        assert sorted(lines) == ["clerk;*", "cook;*", "driver;*", "nurse;Care;*", "teacher;Care;*"]
        edit(client, JOB, "rename", ["Care"], name="Caring")
        edit(client, JOB, "move", ["cook"], target="Caring")
        edit(client, JOB, "dissolve", ["Caring"])
        assert set(nodes(client.get(f"/hierarchies/{JOB}"))[0]) == {"*", *JOBS}

    def test_a_rule_that_is_edited_becomes_a_file(self, client, words):
        edit(client, ZIP, "rename", ["1***"], name="South")
        assert words()["taxonomies"]["zip"].endswith(".csv")
        assert words()["taxonomies"]["age"] == {"widths": [10, 20]}

    def test_undo_brings_the_file_before_back(self, client, words):
        edit(client, JOB, "group", ["nurse", "teacher"], name="Care")
        first = words()["taxonomies"]["job"]
        edit(client, JOB, "rename", ["Care"], name="Caring")
        page = client.post("/undo", screen="hierarchies", place=JOB, way="undo")
        assert words()["taxonomies"]["job"] == first
        assert "Care" in nodes(page)[0]
        client.post("/undo", screen="hierarchies", place=JOB, way="undo")
        assert "job" not in words()["taxonomies"]

    @pytest.mark.parametrize(
        ("act", "labels", "more", "told"),
        [
            ("group", ["nurse"], {"name": ""}, "needs a name"),
            ("group", ["nurse"], {"name": "cook"}, "is a value of the table"),
            ("group", [], {"name": "x"}, "nothing is chosen"),
            ("rename", ["nurse"], {"name": "x"}, "keeps its name"),
            ("rename", ["nurse", "cook"], {"name": "x"}, "one group, and only one"),
            ("move", ["nurse"], {"target": "cook"}, "not a group"),
            ("dissolve", ["*"], {}, "and stays"),
            ("burn", ["nurse"], {}, "out of date"),
        ],
    )
    def test_what_is_wrong_is_said_at_the_node(self, client, words, act, labels, more, told):
        before = words()
        page = edit(client, JOB, act, labels, 422, **more)
        assert told in problem(page)
        assert 'class="node-problem" role="alert"' in page
        assert words() == before

    @pytest.mark.parametrize(
        "wrong", [{"place": "9"}, {"place": "x"}, {"version": "old"}, {"nodes": "n99"}, {"nodes": "w"}]
    )
    def test_a_page_that_is_out_of_date(self, client, words, wrong):
        ids, version = nodes(client.get(f"/hierarchies/{JOB}"))
        sent = {"place": JOB, "version": version, "act": "group", "nodes": ids["nurse"], "name": "x", **wrong}
        answer, data = client.ask(
            "POST",
            "/hierarchies/edit",
            "&".join(f"{k}={v}" for k, v in sent.items()),
            **client.own("application/x-www-form-urlencoded"),
        )
        assert answer.status in (200, 422)
        assert b"out of date" in data
        assert words() == tomllib.loads(POLICY)


class TestIntervals:
    def cut(self, client, act, status=200, **more):
        return client.post("/hierarchies/cut", status, place=AGE, act=act, **{"level": 0, **more})

    def test_split_and_join(self, client, words):
        self.cut(client, "split", value="45", level=0)
        finest = [20, 30, 40, 45, 50, 60, 70]
        assert words()["taxonomies"]["age"] == {"bounds": [finest, [20, 40, 60]]}
        self.cut(client, "next", level=1, interval=0)
        assert words()["taxonomies"]["age"] == {"bounds": [finest, [40, 60]]}
        self.cut(client, "previous", interval=1)
        self.cut(client, "coarser")
        assert words()["taxonomies"]["age"]["bounds"][1:] == [[40, 60], [60]]
        self.cut(client, "without", level=1)
        assert words()["taxonomies"]["age"]["bounds"][1:] == [[60]]

    @pytest.mark.parametrize(
        ("act", "more", "told"),
        [
            ("split", {"value": "young"}, "must be a number"),
            ("split", {"value": ""}, "must be a number"),
            ("split", {"value": "1e400"}, "must be above"),
            ("split", {"value": "nan"}, "must be above"),
            ("split", {"value": "-5"}, "must be above"),
            ("split", {"value": "30"}, "already"),
            ("split", {"value": "33", "level": "7"}, "out of date"),
            ("next", {"interval": "99"}, "out of date"),
            ("next", {"interval": ""}, "out of date"),
            ("previous", {"interval": "0"}, "no interval on that side"),
            ("cube", {}, "out of date"),
        ],
    )
    def test_what_is_wrong_is_said(self, client, words, act, more, told):
        assert told in problem(self.cut(client, act, 422, **more))
        assert words() == tomllib.loads(POLICY)

    def test_a_tree_has_no_intervals(self, client, words):
        assert "out of date" in problem(client.post("/hierarchies/cut", 422, place=JOB, act="split", value="3"))


class TestBeginning:
    @pytest.mark.parametrize(
        ("place", "with_what", "more", "found"),
        [
            (AGE, "widths", {"widths": "5, 15"}, {"widths": [5, 15]}),
            (AGE, "none", {}, None),
            (ZIP, "prefix", {}, {"prefix": [3, 2, 1]}),
            (JOB, "country", {}, {"domain": "country"}),
            (BORN, "calendar", {}, {"calendar": ["month", "quarter", "year", "decade"]}),
        ],
    )
    def test_with_a_rule(self, client, words, place, with_what, more, found):
        client.post("/hierarchies/begin", place=place, **{"with": with_what}, **more)
        column = ("age", "job", "zip", "born")[place]
        assert words()["taxonomies"].get(column) == found
        assert client.get(f"/hierarchies/{place}")

    def test_levels_of_a_rule_come_and_go(self, client, words):
        client.post("/hierarchies/level", place=ZIP, level="3")
        assert words()["taxonomies"]["zip"] == {"prefix": [3, 2, 1]}
        client.post("/hierarchies/level", place=ZIP, level="2")
        client.post("/hierarchies/level", place=ZIP, level="1")
        assert words()["taxonomies"]["zip"] == {"prefix": [3]}
        assert "needs a level" in problem(client.post("/hierarchies/level", 422, place=ZIP, level="3"))
        client.post("/hierarchies/begin", place=BORN, **{"with": "calendar"})
        client.post("/hierarchies/level", place=BORN, level="quarter")
        assert words()["taxonomies"]["born"] == {"calendar": ["month", "year", "decade"]}
        for place, name in ((ZIP, "99"), (ZIP, "x"), (BORN, "week"), (JOB, "month"), (AGE, "")):
            assert "out of date" in problem(client.post("/hierarchies/level", 422, place=place, level=name))

    def test_again_with_what_was_proposed(self, client, words):
        client.post("/hierarchies/begin", place=AGE, **{"with": "none"})
        client.post("/hierarchies/begin", place=AGE, **{"with": "proposed"})
        assert words()["taxonomies"]["age"] == {"widths": [5, 10, 20]}

    @pytest.mark.parametrize(
        ("place", "sent", "told"),
        [
            (AGE, {"with": "widths", "widths": "5, many"}, "must be a number"),
            (AGE, {"with": "widths", "widths": "10, 15"}, "multiple"),
            (AGE, {"with": "widths", "widths": "-1"}, "above 0"),
            (JOB, {"with": "frequent"}, "groups nothing"),
            (JOB, {"with": "magic"}, "out of date"),
            (JOB, {}, "out of date"),
        ],
    )
    def test_what_cannot_be(self, client, words, place, sent, told):
        assert told in problem(client.post("/hierarchies/begin", 422, place=place, **sent))
        assert words() == tomllib.loads(POLICY)


class TestFiles:
    def send(self, client, name, data, place=JOB, status=200):
        headers = {**client.own("application/octet-stream"), "X-File-Name": name, "X-Place": str(place)}
        answer, found = client.ask("POST", "/hierarchies/upload", data, **headers)
        assert answer.status == status, found
        return found.decode()

    def test_out_and_in_again_is_the_same(self, client, words):
        edit(client, JOB, "group", ["nurse", "teacher"], name="Care")
        before = words()
        answer, data = client.ask("GET", f"/hierarchies/file/{JOB}")
        assert answer.headers["content-disposition"] == 'attachment; filename="job.csv"'
        self.send(client, "job.csv", data)
        assert words() == before

    def test_values_that_the_file_lacks_are_shown_and_can_be_placed(self, client, words):
        self.send(client, "job.csv", b"nurse;Care;*\ncook;Kitchen;*\ndoctor;Care;*\n")
        page = client.get(f"/hierarchies/{JOB}")
        ids, _ = nodes(page)
        assert [label for label, node in ids.items() if node.startswith("u")] == ["clerk", "driver", "teacher"]
        assert "1 value of the hierarchy is not in the table" in page
        edit(client, JOB, "move", ["clerk", "driver", "teacher"], target="Kitchen")
        page = edit(client, JOB, "forget")
        assert set(nodes(page)[0]) == {"*", "Care", "Kitchen", *JOBS}
        assert "to correct" not in page

    def test_a_group_that_is_a_value_of_the_table_is_told_at_its_node(self, client, words):
        self.send(client, "job.csv", b"a;nurse;*\ncook;x;*\nclerk;x;*\ndriver;x;*\nteacher;x;*\n")
        assert "a group cannot be a value; rename the group" in client.get(f"/hierarchies/{JOB}")

    @pytest.mark.parametrize(
        ("name", "data", "told"),
        [
            ("job.csv", b"", "line"),
            ("job.csv", b"nurse;*\nnurse;Care;*\n", "nurse"),
            ("job.csv", b'nurse;"*\n', "quote"),
            ("job.csv", b"\xff\xfe\x00", "UTF-8"),
            ("job.exe", b"nurse;*\n", "ends in"),
            ("", b"nurse;*\n", "ends in"),
            ("job.toml", b"= 1", "not TOML"),
        ],
    )
    def test_files_that_are_none(self, client, words, folder, name, data, told):
        text = self.send(client, name, data, status=422)
        assert told in text or not data
        assert "\n" not in text
        assert words() == tomllib.loads(POLICY)
        assert not list((folder / "people.studio" / "hierarchies").glob("import*"))

    def test_of_no_column(self, client, words):
        assert "out of date" in self.send(client, "job.csv", b"nurse;*\n", place=99, status=422)
        assert client.ask("GET", "/hierarchies/file/99")[0].status == 404

    def test_a_file_of_the_policy_that_is_gone_is_said(self, client, folder, words):
        path = folder / "people.studio" / "release.toml"
        path.write_text(POLICY.replace("[types]", 'job = "gone.csv"\n\n[types]'))
        page = client.get(f"/hierarchies/{JOB}")
        assert "no taxonomy file" in problem(page)
        client.post("/hierarchies/begin", place=JOB, **{"with": "none"})
        assert "job" not in words()["taxonomies"]


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
        digest = re.search(r"sha256:\w+", page)[0]
        for wrong in ({"row": "9"}, {"row": "x"}, {"digest": "sha256:old"}):
            sent = {"row": "3", "digest": digest, **wrong}
            assert "out of date" in problem(client.post("/compare/take", 422, **sent))
        page = client.post("/compare/take", row="3", digest=digest)
        assert (words()["method"], words()["k"]) == ("mondrian", 10)
        assert not {"max_steps", "restarts"} & set(words())
        assert "restarts" in re.search(r'data-said="(.*?)"', page)[1]
        assert "have changed since" not in page


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
        changes = [unescape(text) for text in re.findall(r'aria-label="Take (.*?)"', page)]
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
        assert "nothing has to become less exact" in client.get("/hierarchies")
