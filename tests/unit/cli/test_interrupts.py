"""How commands end before they are done: an interrupt, a time limit; one line, and nothing left behind."""

import os
import signal
import threading

import pytest
from tests.command_line import GOOD, POLICY, anonymize, contents, only_line, run

from incrowd.report.progress import STOPS, ProgressLine
from incrowd.run import Run, StepTaken

READ = "incrowd.formats.csv_reader.CsvSource.__init__"
COMMANDS = {  # and where each is when it is interrupted
    "attack": (("attack", "people.csv", "--original", "people.csv", "--qi", "age"), READ),
    "ledger": (("ledger", "list", "ledger"), "pathlib.Path.exists"),
    "anonymize": (anonymize(*POLICY), READ),
    "evaluate": (("evaluate", "people.csv", *POLICY), READ),
    "compare": (
        ("compare", "people.csv", "-o", "out", "--qi", "age", "--methods", "tds", "--ks", 5),
        READ,
    ),
    "verify": (("verify", "people.csv", "--qi", "age", "--k", 2), READ),
    "apply": (("apply", "r.json", "people.csv", "-o", "out.csv"), "incrowd.schemas.documents.Document.read"),
    "taxonomy": (("taxonomy", "sex.csv"), "incrowd.taxonomies.taxonomy.Taxonomy.read"),
    "codebook": (("codebook", "r.json"), "incrowd.schemas.documents.Document.read"),
    "numbers": (("numbers", "people.csv", "-o", "out.csv"), READ),
    "why": (("why", "people.csv", "--qi", "age", "--k", 5), READ),
    "report": (("report", "people.csv", "--qi", "age", "--k", 5, "-o", "report.html"), READ),
    "inspect": (("inspect", "people.csv"), READ),
    "risk": (("risk", "people.csv", "--qi", "age"), READ),
    "methods": (("methods",), "incrowd.search.method.Method.about"),
    "studio": (("studio", "people.csv", "--no-browser"), "incrowd.studio.project.Project.at"),
    "demo": (("demo",), "incrowd.datasets.copy"),
    "import": (("import", "project.deid", "-o", "release.toml"), "incrowd.migration.importing.read_project"),
    "sign": (("sign", "people.csv", "--key", "key.pem"), "incrowd.verification.signature.sign"),
}


@pytest.fixture
def folder(workplace):
    (workplace / "people.csv").write_text(GOOD)
    return workplace


def interrupt(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def interrupt_beside(monkeypatch):
    """An interrupt from the thread of a search, which waits until the thread that answers signals has answered."""
    answered = threading.Event()
    for name in ("stop", "cancel"):
        answer = getattr(Run, name)
        monkeypatch.setattr(Run, name, lambda *words, answer=answer: (answer(*words), answered.set()))

    def interrupts(*_):
        answered.clear()
        interrupt()
        assert answered.wait(60)

    return interrupts


@pytest.fixture
def heeded(monkeypatch):
    """SIGINT means what it means in a foreground process, whoever started the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def first_steps(monkeypatch, interrupt_beside):
    """A progress line that people see, and that interrupts its own process at the first few steps."""

    def after(times):
        hints = []

        class Impatient(ProgressLine):
            is_shown = True

            def __call__(self, event):
                if isinstance(event, StepTaken):
                    hints.append(self.hint)
                    if len(hints) <= times:
                        interrupt_beside()
                super().__call__(event)

        monkeypatch.setattr("incrowd.report.progress.ProgressLine", Impatient)
        return hints

    return after


@pytest.mark.usefixtures("heeded")
class TestInterrupt:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_command_ends_with_one_line(self, folder, monkeypatch, name):
        arguments, place = COMMANDS[name]
        stop = property(interrupt) if name == "methods" else interrupt
        monkeypatch.setattr(place, stop, raising=name != "methods")
        result = run(*arguments)
        assert only_line(result.stderr).startswith("error: interrupted; ")
        assert result.exit_code == 130
        assert list(contents(folder)) == ["people.csv"]

    @pytest.mark.parametrize(("ending", "code"), [(KeyboardInterrupt, 130), (SystemExit(143), 143)])
    def test_while_a_library_makes_its_classes(self, folder, monkeypatch, ending, code):
        """Python wraps what is raised there in another error."""

        class Late:
            def __set_name__(self, owner, name):
                raise ending

        monkeypatch.setattr(
            "incrowd.formats.registry.open_source", lambda *_, **__: type("Frame", (), {"late": Late()})
        )
        result = run(*anonymize(*POLICY))
        assert result.exit_code == code
        assert result.stderr == ("error: interrupted; no file was written\n" if code == 130 else "")

    def test_every_command_is_tried(self):
        from incrowd.cli import app

        assert set(COMMANDS) == {command.name or command.callback.__name__ for command in app.registered_commands}

    def test_during_a_search_that_nobody_sees_it_ends(self, folder, monkeypatch, interrupt_beside):
        monkeypatch.setattr("incrowd.run.Run.step", interrupt_beside)
        result = run(*anonymize(*POLICY, "--method", "tdr"))
        assert only_line(result.stderr) == "error: interrupted; no file was written"
        assert result.exit_code == 130
        assert list(contents(folder)) == ["people.csv"]

    def test_the_first_one_stops_a_search_that_says_so_and_releases(self, folder, first_steps):
        hints = first_steps(1)
        result = run(*anonymize(*POLICY, "--method", "tdr"))
        assert result.exit_code == 0, result.stderr
        assert hints[0] == STOPS
        assert len(hints) == 1
        assert "the search was stopped early (interrupted)" in " ".join(result.stderr.split())
        assert run("verify", "out.csv", *POLICY[:4]).exit_code == 0

    def test_the_second_one_ends_it(self, folder, first_steps, monkeypatch):
        monkeypatch.setattr("incrowd.run.Run.should_continue", lambda run: True)  # a search that does not listen
        first_steps(2)
        result = run(*anonymize(*POLICY, "--method", "tdr"))
        assert only_line(result.stderr) == "error: interrupted; no file was written"
        assert result.exit_code == 130
        assert list(contents(folder)) == ["people.csv"]


class TestSignals:
    @pytest.mark.parametrize("arguments", [anonymize(*POLICY), anonymize("--qi", "agee", "--k", 5)])
    def test_are_answered_as_before_when_a_command_has_ended(self, folder, arguments):
        marks = {number: lambda *_: None for number in (signal.SIGINT, signal.SIGTERM)}
        before = {number: signal.signal(number, mark) for number, mark in marks.items()}
        try:
            run(*arguments)
            assert {number: signal.getsignal(number) for number in marks} == marks
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def test_that_the_system_ignores_stay_ignored(self, folder, monkeypatch):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            monkeypatch.setattr("incrowd.run.Run.step", interrupt)
            assert run(*anonymize(*POLICY)).exit_code == 0
        finally:
            signal.signal(signal.SIGINT, before)


class TestTimeLimit:
    @pytest.mark.parametrize("command", ["anonymize", "evaluate", "compare"])
    def test_is_in_the_help(self, command):
        assert "--time-limit " in run(command, "--help").stdout

    @pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
    def test_must_be_a_number_of_seconds(self, folder, seconds):
        result = run(*anonymize(*POLICY, "--time-limit", seconds))
        assert "The 'time_limit' parameter must be a number of seconds above 0" in only_line(result.stderr)
        assert result.exit_code == 2

    def test_that_is_over_before_there_is_anything_ends_with_one_line(self, folder):
        result = run(*anonymize(*POLICY, "--time-limit", "1e-9"))
        assert "no release within 1e-09 s; allow more time" in only_line(result.stderr)
        assert result.exit_code == 1
        assert list(contents(folder)) == ["people.csv"]

    def test_that_is_not_over_changes_nothing(self, folder):
        run(*anonymize(*POLICY))
        expected = (folder / "out.csv").read_bytes()
        assert run(*anonymize(*POLICY, "--time-limit", 600, "--overwrite")).exit_code == 0
        assert (folder / "out.csv").read_bytes() == expected
