"""Hierarchies without a browser: trees, intervals, where they begin, and files; what is done stands in the policy."""

import tomllib

import pytest
from tests.unit.studio.exploring import AGE, BORN, JOB, JOBS, POLICY, ZIP, edit, nodes, problem


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
            ("group", [], {"name": "x"}, "nothing is selected"),
            ("rename", ["nurse"], {"name": "x"}, "keeps its name"),
            ("rename", ["nurse", "cook"], {"name": "x"}, "exactly one group"),
            ("move", ["nurse"], {"target": "cook"}, "not a group"),
            ("dissolve", ["*"], {}, "cannot be dissolved"),
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
        assert "needs at least one level" in problem(client.post("/hierarchies/level", 422, place=ZIP, level="3"))
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
            (JOB, {"with": "frequent"}, "makes no groups"),
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
