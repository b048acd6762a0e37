"""The whole way without a browser: from a table to files that the exported command makes again, byte for byte."""

import re
import shlex
import signal
import stat
import subprocess
import sys
from html import unescape

import pytest
from tests.command_line import GOOD
from tests.studio import Client, studio

from incrowd.errors import PolicyError
from incrowd.studio.screens import SCREENS, protect


def problem(page, place=0):
    """What a page says is wrong, in one line."""
    found = re.findall(r'class="problem[^>]*>(?:<p>)?<bdi>(.*?)</bdi>', page, re.DOTALL)
    assert found, page[:2000]
    assert "\n" not in found[place]
    return unescape(found[place])


def shown(page, place):
    """What is in an element that is to be copied."""
    return unescape(re.search(rf'id="{place}"[^>]*>(.*?)</pre>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("way")
    (made / "people.csv").write_text(GOOD)
    return made


@pytest.fixture(scope="module")
def running(folder):
    with studio(folder, "people.csv") as (process, link):
        yield process, link


@pytest.fixture(scope="module")
def client(running):
    found = Client(running[1])
    assert found.over("inspect")["state"] == "done"
    return found


def released(client):
    client.post("/release/run")
    ended = client.over("release")
    assert ended["state"] == "done", ended
    client.post("/export/make")
    assert client.over("export")["state"] == "done"
    return client.get("/export")


def test_the_link_works_in_one_browser(running, client):
    second = Client.__new__(Client)
    second.host, second.cookie = client.host, ""
    answer, _ = second.ask("GET", f"/{client.query}")
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_a_step_is_done_once_it_was_looked_at(client):
    def done(page):
        return re.findall(r'<li class="done"><a href="/(\w+)"', page)

    assert done(client.get("/data")) == ["data"]  # though roles are proposed, and the policy is valid
    assert done(client.get("/roles")) == ["data", "roles"]


def test_every_screen_is_there(client):
    for name in SCREENS:
        page = client.get(f"/{name}")
        assert page.count('aria-current="page"') == 1
        assert "<script>" not in page
        assert " style=" not in page
        assert " onclick=" not in page


def test_demographics_in_one_click(client, folder):
    client.post("/roles/demographics")
    policy = (folder / "people.studio" / "release.toml").read_text()
    assert re.search(r'quasi_identifiers = \["age", "sex"\]', policy), policy
    client.post("/undo", way="undo", screen="roles")
    assert '"job"' in (folder / "people.studio" / "release.toml").read_text().partition("quasi_identifiers")[2]


def test_the_first_proposals(client, folder):
    page = client.get("/roles")
    assert re.search(r'value="identifier" checked[^>]*hx-post="/roles/give"', page)  # the name is dropped
    assert (folder / "people.studio" / "release.toml").exists()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("1,000", 1000), ("12,345,678.5", 12345678.5), ("1,5", 1.5), ("0,125", 0.125), ("-1,000", -1000)],
)
def test_numbers_as_people_type_them(typed, meant):
    assert protect.number(typed, "it") == meant


@pytest.mark.parametrize("typed", ["1,00,000", "1,000,00", ",", "1.5,2"])
def test_what_could_mean_several_numbers_is_none(typed):
    with pytest.raises(PolicyError, match="must be a number"):
        protect.number(typed, "it")


def test_a_thousand_seconds(client, folder):
    client.post("/protect/setting", setting="time_limit", value="1,000")
    assert "time_limit = 1000" in (folder / "people.studio" / "release.toml").read_text()
    client.post("/protect/setting", setting="time_limit", value="")


class TestErrors:
    """What is wrong is said on the screen, in one line, and nothing is changed."""

    def check(self, client, folder, address, told, **words):
        before = (folder / "people.studio" / "release.toml").read_text()
        page = client.post(address, 422, **words)
        assert told in problem(page)
        assert "Settings are valid" not in page
        assert (folder / "people.studio" / "release.toml").read_text() == before

    @pytest.mark.parametrize(
        ("path", "told"),
        [
            ("../../etc/passwd", "in the folder of the studio"),
            ("/etc/passwd", "in the folder of the studio"),
            ("nothing.csv", "no file nothing.csv"),
        ],
    )
    def test_on_data(self, client, folder, path, told):
        self.check(client, folder, "/data/choose", told, path=path)

    def test_of_a_dialect(self, client, folder):
        self.check(client, folder, "/data/dialect", "no encoding", encoding="klingon")

    @pytest.mark.parametrize("words", [{"column": "99"}, {"column": "-1"}, {"column": "x"}, {}])
    def test_on_roles(self, client, folder, words):
        self.check(client, folder, "/roles/give", "out of date", role="target", **words)

    def test_of_a_role_that_is_none(self, client, folder):
        self.check(client, folder, "/roles/give", "no such role", role="king", column="1")

    @pytest.mark.parametrize(
        ("path", "told", "words"),
        [
            ("crowd", "k must be a number", {"set": "0", "k": "many"}),
            ("crowd", "must be an integer", {"set": "0", "k": "1"}),
            ("crowd", "must be an integer", {"set": "0", "k": "2.5"}),
            ("crowd", "k is 5,000, but the table has only", {"set": "0", "k": "5000"}),
            ("crowd", "out of date", {"set": "7", "k": "5"}),
            ("promise", "must be an integer of at least 1", {"column": "0", "setting": "l", "value": "x"}),
            ("crowd", "must be an integer", {"set": "0", "k": "-3"}),
            ("promise", "l=50 asks for more values", {"column": "0", "setting": "l", "value": "50"}),
            ("promise", "out of date", {"column": "0", "setting": "k_map", "value": "3"}),
            ("setting", "must be at least 0 and below 100", {"setting": "suppress", "value": "120"}),
            ("setting", "out of date", {"setting": "quasi_identifiers", "value": "x"}),
            ("setting", "must be", {"setting": "missing", "value": "x"}),
            ("setting", "out of date", {"setting": "seed", "value": "1"}),
            ("unit", "out of date", {"value": "77"}),
            ("priority", "must be a number", {"column": "0", "value": "high"}),
            ("remove-set", "out of date", {"set": "3"}),
            ("member", "out of date", {"set": "0", "column": "33"}),
        ],
    )
    def test_on_protect(self, client, folder, path, told, words):
        self.check(client, folder, f"/protect/{path}", told, **words)

    def test_on_protect_it_is_said_at_the_field(self, client):
        page = client.post("/protect/crowd", 422, set="0", k="-3")
        assert re.search(r'id="k-0"[^>]*aria-invalid="true" aria-describedby="wrong-k-0"', page)
        assert re.search(r'id="wrong-k-0"><bdi>[^<]*Got -3', page)

    def test_on_export(self, client, folder):
        if not (folder / "people.studio" / "results" / "release.json").exists():
            self.check(client, folder, "/export/make", "no release yet")

    def test_of_a_form_that_cannot_be_read(self, client):
        answer, data = client.ask(
            "POST", "/roles/give", b"\xff\xfe=1", **client.own("application/x-www-form-urlencoded")
        )
        assert answer.status == 422
        assert "cannot be read" in problem(data.decode())

    @pytest.mark.parametrize("name", ["people.exe", "", "..%2F..%2Fpasswd", "%00"])
    def test_of_an_upload(self, client, name):
        assert "does not say what it is" in problem(client.upload(name, b"a\n1\n", 422))

    def test_of_an_empty_upload(self, client):
        assert "is empty" in problem(client.upload("new.csv", b"", 422))

    @pytest.mark.parametrize("path", ["/nothing", "/data/nothing", "/static/nothing.js", "/export/file/99", "/jobs/1"])
    def test_of_an_address(self, client, path):
        client.get(path, 404)

    def test_of_a_release_that_cannot_be(self, client):
        client.post("/protect/promise", column="0", setting="alpha", value="0.1")
        client.post("/release/run")
        ended = client.over("release")
        assert ended["state"] == "failed"
        assert "alpha=0.1" in problem(client.get("/release"))
        client.post("/undo", way="undo", screen="protect")
        assert 'class="problem"' not in client.get("/release")  # it was about other settings


def test_what_is_chosen_stands_in_the_policy(client, folder):
    names = ["name", "age", "sex", "job", "income"]
    client.post("/roles/give", column=names.index("income"), role="target")
    client.post("/protect/crowd", set="0", k="4")
    page = client.post("/protect/setting", setting="suppress", value="5 %")
    policy = shown(page, "policy")
    assert policy == (folder / "people.studio" / "release.toml").read_text()
    for line in ("k = 4", 'target = "income"', "suppress = 0.05", 'identifiers = ["name"]'):
        assert line in policy
    client.post("/protect/setting", setting="suppress", value="")


def test_what_names_people_stops_until_it_is_dropped_or_kept_on_purpose(client, folder):
    policy = folder / "people.studio" / "release.toml"
    client.post("/roles/give", column=0, role="insensitive")
    assert "no release can be made while it leaves unchanged" in client.get("/roles")
    told = problem(client.get("/release"), -1)  # after what ended the last release
    assert "'name' looks like names of people" in told
    assert "drop them or keep them on purpose, on the screen Roles" in told
    assert told == problem(client.post("/release/run", 422))
    client.post("/roles/keep", column=0, keep="yes")
    assert 'keep = ["name"]' in policy.read_text()
    assert "it is kept on purpose" in client.get("/roles")
    assert "Settings are valid" in client.get("/protect")
    client.post("/roles/keep", column=0, keep="no")
    assert "keep = " not in policy.read_text()
    client.post("/roles/keep", column=0, keep="yes")
    client.post("/roles/give", column=0, role="identifier")  # asked again where it gets another role
    assert "keep = " not in policy.read_text()


@pytest.mark.parametrize("method", ["auto", "mondrian"])
def test_the_exported_release_is_what_its_command_makes(client, folder, method):
    client.post("/protect/setting", setting="method", value=method)
    page = released(client)
    export = folder / "people.studio" / "export"
    expected = (export / "release.csv").read_bytes()
    command, output = shlex.split(shown(page, "command")), folder / "release.csv"
    done = subprocess.run([sys.executable, "-m", *command, "--overwrite"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert output.read_bytes() == expected
    python = shown(page, "python").replace(
        "release.write('release.csv')", "release.write('release.csv', overwrite=True)"
    )
    output.unlink()
    done = subprocess.run([sys.executable, "-c", python], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert output.read_bytes() == expected
    check = shlex.split(shown(page, "check"))
    assert subprocess.run([sys.executable, "-m", *check], cwd=export, capture_output=True).returncode == 0


def test_a_release_is_outdated_until_the_change_is_undone(client):
    client.post("/protect/crowd", set="0", k="7")
    assert "these results are outdated" in client.get("/release")
    client.post("/undo", way="undo", screen="protect")
    assert "Up to date with the current settings" in client.get("/release")


def test_what_may_go_out_and_what_may_not(client, folder):
    page = client.get("/export")
    out, _, own = page.partition("Keep private")
    assert all(
        name in out for name in ("release.csv", "release.certificate.json", "public-report.html", "codebook.csv")
    )
    assert all(name in own for name in ("report.html", "release.toml", "release.confidential/"))
    answer, data = client.ask("GET", "/export/file/0")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert data == (folder / "people.studio" / "export" / "release.csv").read_bytes()


def test_data_dictionaries_are_exported_where_they_were_asked_for(client, folder):
    client.post("/protect/setting", setting="dictionary", value="all")
    assert 'dictionary = "all"' in (folder / "people.studio" / "release.toml").read_text()
    out, _, own = released(client).partition("Keep private")
    assert all(name in out and name not in own for name in ("release.dictionary.json", "release.dictionary.xml"))
    client.post("/protect/setting", setting="dictionary", value="")
    assert "dictionary" not in (folder / "people.studio" / "release.toml").read_text()
    assert "release.dictionary" not in released(client)


def test_another_tab_is_told_of_changes(client):
    before = client.events(lambda message: message["kind"] == "changed")[0]["revision"]
    client.post("/protect/crowd", set="0", k="3")
    assert client.events(lambda message: message["kind"] == "changed")[0]["revision"] > before


def test_an_upload_becomes_the_table(client, folder):
    client.upload("more%20people.csv", GOOD.encode())
    assert client.over("inspect")["state"] == "done"
    assert "uploads/more people.csv" in client.get("/data")
    client.post("/data/choose", path="people.csv")
    assert client.over("inspect")["state"] == "done"


def test_nothing_of_people_is_said_in_the_terminal(folder):
    with studio(folder) as (process, link):
        client = Client(link)
        client.post("/data/choose", path="people.csv")
        client.over("inspect")
        client.post("/roles/give", 422, column="Smith", role="Smith")
        client.get("/smith", 404)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        said = process.stderr.read()
    assert "Smith" not in said
    assert "smith" not in said
    assert said.splitlines()[-1] == f"stopped; everything is kept in {folder / 'incrowd.studio'}"


def test_the_end_stops_a_running_job_and_tomorrow_it_can_be_run_again(folder, client):
    (folder / "other.csv").write_text(GOOD)
    with studio(folder, "other.csv") as (process, link):
        mine = Client(link)
        mine.over("inspect")
        mine.post("/protect/crowd", set="0", k="6")
        mine.post("/release/run")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    with studio(folder, "other.csv") as (_, link):
        mine = Client(link)
        assert "k = 6" in shown(mine.get("/protect"), "policy")
        assert "Make the release" in mine.get("/release") or "Make it again" in mine.get("/release")


def test_all_files_are_for_their_owner_alone(running, client, folder):
    """The last one: a job that still replays steps, say, has files that come and go until the studio has ended."""
    running[0].send_signal(signal.SIGINT)
    assert running[0].wait(60) == 0
    files = [path for path in (folder / "people.studio").rglob("*") if path.is_file() and path.name != "lock"]
    assert {path.name for path in files} >= {"release.csv", "release.toml", "report.html", "key.json"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
