"""Progress for people: who watches, what the line and the bar show, and when."""

import io
import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.key import Key
from incrowd.recodings.steps import RefineNode, Step
from incrowd.report import progress
from incrowd.report.progress import Lines, NotebookBar, ProgressLine, watching
from incrowd.run import Amount, Best, Note, Rows, Stage, StepTaken

PEOPLE = pa.table({"age": [20, 21, 30, 31, 40, 41, 50, 51], "income": ["low"] * 4 + ["high"] * 4})


class Clock:
    """A clock that a test winds."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


def test_an_amount_that_is_known_tells_how_long_the_rest_takes(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    lines = Lines()
    lines.line(Stage("searching"))
    assert lines.line(Amount(0, 100, "restarts")) == "searching: 0 of 100 restarts"
    clock.now += 2
    assert lines.line(Amount(20, 100, "restarts")) == "searching: 20 of 100 restarts, about 8 s left"
    clock.now += 1_000
    assert lines.line(Amount(25, 100, "restarts")).endswith(", about 50 min left")
    assert lines.line(Amount(1, 50, "columns")) == "searching: 1 of 50 columns"  # another amount begins
    assert lines.line(Amount(100, 100, "restarts")) == "searching: 100 of 100 restarts"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


@pytest.fixture
def terminal(monkeypatch):
    """Makes stderr a terminal; while a test runs, since pytest sets its own stderr before that."""

    def make():
        terminal = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", terminal)
        return terminal

    return make


@pytest.fixture
def notebook(monkeypatch):
    """A notebook that keeps what it is given to show."""
    shown = []

    def show(item, raw):
        assert raw is True
        shown.append(item["text/html"])

    def display(item, raw, display_id):
        assert display_id is True
        show(item, raw)
        return SimpleNamespace(update=show)

    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return shown


def step(number=3, anonymity=(7, 5)):
    return StepTaken(Step(number, "sex", "*", ("f", "m"), 1.0, 2.0, 0.5, anonymity, RefineNode(0)))


class TestLines:
    def test_every_event_in_the_words_of_its_stage(self):
        lines = Lines()
        events = [Stage("reading"), Rows(1000), Rows(500), Stage("searching"), Rows(10), Amount(3, 8, "rounds")]
        assert [lines.line(event) for event in events] == [
            "reading",
            "reading: 1,000 rows",
            "reading: 1,500 rows",
            "searching",
            "searching: 10 rows",
            "searching: 3 of 8 rounds",
        ]
        assert lines.line(Amount(3, None, "rounds")) == "searching: 3 rounds"
        assert lines.line(Note("compiling")) == "searching: compiling"
        assert lines.line(Best(2000, 1500.5, 10, 3)) == (
            "searching: best 2,000, bound 1,500.5, 10 nodes seen, 3 waiting"
        )

    def test_a_step_with_the_smallest_class(self):
        assert Lines().line(step()) == "working: step 3, smallest class 5"
        assert Lines().line(step(anonymity=())) == "working: step 3"


class TestProgressLine:
    def test_nothing_is_shown_where_nobody_looks_except_notes(self, clock, capsys):
        with ProgressLine() as line:
            clock.now += 10
            line(Stage("reading"))
            line(Rows(5))
            line(Note("compiling; once per machine"))
            assert not line.is_shown
        assert capsys.readouterr().err == "compiling; once per machine\n"

    def test_a_long_job_shows_where_it_is_and_what_an_interrupt_would_do(self, clock, terminal):
        shown = terminal()
        with ProgressLine(quiet=True) as line:
            clock.now += 10
            line(Stage("reading"))
        with ProgressLine() as line:
            clock.now += progress.PATIENCE - 0.1
            line(Rows(5))
            assert shown.getvalue() == ""
            clock.now += 0.1
            line.run = SimpleNamespace(can_stop=True, seconds_left=None)
            line(Stage("[18-65) searching"))
            assert line.is_shown
        assert "[18-65) searching, 2 s so far (Ctrl-C: stop" in shown.getvalue()  # brackets are no markup

    def test_what_says_nothing_is_shown_as_time_goes_by(self, clock, terminal):
        terminal()
        shown = []
        with ProgressLine() as line:
            line(Stage("searching"))
            line.tick()
            assert not line.is_shown
            clock.now += progress.PATIENCE
            line.tick()
            line._status.update = lambda text: shown.append(str(text))
            line.run = SimpleNamespace(can_stop=True, seconds_left=12.2)
            for _ in range(4):
                clock.now += 1
                line.tick()
        assert shown[-1] == f"searching (time limit: 12 s left), 6 s so far {progress.STOPS}"

    def test_the_line_changes_now_and_then_only_but_for_stages(self, clock, terminal):
        terminal()
        shown = []
        with ProgressLine() as line:
            clock.now += progress.PATIENCE
            line(Rows(5))
            line._status.update = lambda text: shown.append(str(text))
            line(Rows(5))
            line(Stage("writing"))
            clock.now += progress.OFTEN / 2
            line(Rows(1))
            clock.now += progress.OFTEN
            line(Rows(1))
            line.say("another thing")
        assert shown == [f"{text}, 2 s so far" for text in ("writing", "writing: 2 rows", "another thing")]

    def test_after_a_note_the_stage_is_shown_at_once(self, clock, terminal):
        shown = terminal()
        with ProgressLine() as line:
            line(Stage("searching"))
            assert not line.is_shown
            line(Note("compiling"))
            assert line.is_shown
        assert shown.getvalue().startswith("compiling\n")
        assert "searching" in shown.getvalue()


class TestNotebookBar:
    def test_a_long_job_shows_one_bar_that_goes_when_it_is_done(self, clock, notebook):
        with NotebookBar() as bar:
            bar(Stage("reading"))
            assert notebook == []
            clock.now += progress.PATIENCE
            bar(Rows(5))
            bar(Rows(5))  # too soon
            bar(Stage("searching"))
            clock.now += 1
            bar(Amount(3, 8, "rounds"))
        moving, ended = '<progress aria-label="incrowd"></progress> ', ""
        assert notebook == [
            f"{moving}reading: 5 rows",
            f"{moving}searching",
            '<progress max="8" value="3" aria-label="incrowd"></progress> searching: 3 of 8 rounds',
            ended,
        ]

    def test_notes_are_shown_at_once_and_escaped(self, clock, notebook):
        with NotebookBar() as bar:
            bar(Note("a < b & c"))
        assert notebook[0].endswith(" working: a &lt; b &amp; c")


class TestWatching:
    def test_whoever_is_given_watches(self):
        with watching(print) as watch:
            assert watch is print

    def test_outside_of_notebooks_only_where_it_is_asked_for(self):
        for word, kind in ((None, type(None)), (False, type(None)), (True, ProgressLine)):
            with watching(word) as watch:
                assert isinstance(watch, kind)

    def test_a_bar_in_a_notebook_unless_it_is_not_wanted(self, notebook, monkeypatch):
        for word, kind in ((None, NotebookBar), (True, NotebookBar), (False, type(None))):
            with watching(word) as watch:
                assert isinstance(watch, kind)
        for shell in (None, SimpleNamespace(config={})):  # IPython on a terminal
            monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda shell=shell: shell)
            with watching(None) as watch:
                assert watch is None


class TestAnonymize:
    def test_tells_every_stage_the_rows_and_the_steps_in_order(self):
        events = []
        words = {"quasi_identifiers": ["age"], "k": 2, "target": "income", "method": "tdr"}
        release = incrowd.anonymize(PEOPLE, **words, progress=events.append)
        assert release.steps
        assert events == [
            Stage("reading"),
            Rows(8),
            Stage("searching"),
            *(StepTaken(step) for step in release.steps),
        ]

    def test_shows_a_bar_in_a_notebook_by_itself(self, notebook, monkeypatch):
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        incrowd.anonymize(PEOPLE, quasi_identifiers=["age"], k=2)
        assert notebook[0].endswith("reading")
        assert any("searching" in shown for shown in notebook)
        assert notebook[-1] == ""

    def test_whoever_watches_may_cancel(self):
        def watch(event):
            if isinstance(event, StepTaken):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            incrowd.anonymize(PEOPLE, quasi_identifiers=["age"], k=2, method="tdr", progress=watch)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_how_far_it_is(method):
    events = []
    words = {"quasi_identifiers": ["age", "job"], "k": 20, "target": "credit", "keep": ["credit-amount"]}
    if method == "optimal":  # reports now and then, so it needs some work to do
        words |= {"quasi_identifiers": ["age", "job", "purpose", "duration"], "k": 5, "time_limit": 10}
    incrowd.anonymize(
        incrowd.datasets.german(), method=method, progress=events.append, key=Key.for_experiments(1), **words
    )
    begins = events.index(Stage("searching"))
    assert [event for event in events[begins + 1 :] if isinstance(event, Amount | Best | StepTaken)]


@pytest.mark.parametrize("face", ["evaluate", "compare", "verify", "apply"])
def test_every_long_job_can_be_watched(face):
    data, events = incrowd.datasets.german(), []
    words = {"quasi_identifiers": ["age"], "k": 5}
    if face == "evaluate":
        incrowd.evaluate(data, target="credit", classifiers=["bayes"], progress=events.append, **words)
    elif face == "compare":
        incrowd.compare(data, quasi_identifiers=["age"], ks=[5], methods=["tdr"], progress=events.append)
    elif face == "verify":
        incrowd.verify(data, progress=events.append, **words)
    else:
        keep = ["credit-amount"]
        incrowd.apply(incrowd.anonymize(data, **words, keep=keep).recoding, data, keep=keep, progress=events.append)
    assert events
