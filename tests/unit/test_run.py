"""A run: what it tells, when it ends, and how compiled code is cut into slices."""

import signal
import threading
import time

import pytest

from incrowd.errors import CancelledError, PolicyError, TimeLimitError
from incrowd.key import Key
from incrowd.run import Amount, Best, Note, Rows, Run, Stage

KEY = Key.for_experiments(7)


class TestTelling:
    def test_events_come_in_order(self):
        events = []
        run = Run(events.append)
        run.stage("reading")
        run.rows(3)
        run.amount(1, 4, "rounds")
        run.note("large")
        run.tell(Best(2.0, 1.5, 10, 3))
        assert events == [Stage("reading"), Rows(3), Amount(1, 4, "rounds"), Note("large"), Best(2.0, 1.5, 10, 3)]

    def test_nobody_has_to_listen(self):
        Run().stage("reading")

    def test_events_read_well(self):
        assert str(Amount(1_000, 4_000, "rounds")) == "1,000 of 4,000 rounds"
        assert str(Amount(7, None, "sweeps")) == "7 sweeps"
        assert str(Best(12.0, 8.5, 1_000, 3)) == "best 12, bound 8.5, 1,000 nodes seen, 3 waiting"


class TestEnding:
    def test_a_new_run_goes_on(self):
        run = Run()
        run.check()
        assert run.should_continue()
        assert not run.over

    def test_a_cancelled_run_raises_everywhere(self):
        run = Run()
        other = threading.Thread(target=run.cancel)
        other.start()
        other.join()
        with pytest.raises(CancelledError, match="cancelled"):
            run.check()
        for ask in (run.check, run.should_continue, lambda: run.rows(1), lambda: run.stage("x"), run.quietly(1).check):
            with pytest.raises(CancelledError):
                ask()

    @pytest.mark.parametrize("ends", [lambda run: time.sleep(0.02), lambda run: run.stop("time limit")])
    def test_when_time_is_over_an_anytime_search_stops_and_others_raise(self, ends):
        run = Run(time_limit=0.01)
        ends(run)
        assert run.over == "time limit"
        assert not run.should_continue()
        with pytest.raises(TimeLimitError, match=r"no release within 0\.01 s; allow more time"):
            run.check()
        run.anytime = True
        run.check()
        assert run.ended_early == "time limit"

    @pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "3", True])
    def test_a_time_limit_is_a_number_of_seconds(self, limit):
        with pytest.raises(PolicyError, match="The 'time_limit' parameter must be a number of seconds above 0"):
            Run(time_limit=limit)

    def test_a_part_ends_no_later_than_the_whole(self):
        run = Run(time_limit=0.01, key=KEY)
        part = run.quietly(100)
        assert part.key == KEY
        time.sleep(0.02)
        assert part.over == "time limit"
        assert run.part().over == run.part(time_limit=100).over == "time limit"

    def test_a_part_has_the_key_and_the_limit_that_it_is_given(self):
        run = Run(key=KEY)
        assert (run.part().key, run.part().time_limit) == (KEY, None)
        other = run.part(key=Key.for_experiments(3), time_limit=100)
        assert (other.key, other.time_limit) == (Key.for_experiments(3), 100)
        run.cancel()
        with pytest.raises(CancelledError):
            run.part(time_limit=100).check()

    def test_what_ends_a_part_cancels_its_threads(self):
        run = Run()
        with pytest.raises(ZeroDivisionError), run.cancelling():
            1 / 0  # noqa: B018
        with pytest.raises(CancelledError):
            run.check()


class TestSlices:
    def test_all_work_is_done_however_it_is_cut(self):
        done, slices = [0], []

        def work(amount):
            slices.append(amount)
            done[0] += amount
            return done[0] >= 1_000_000

        Run().in_slices(work)
        assert done[0] >= 1_000_000
        assert len(slices) > 3  # they grow, as nothing takes any time

    def test_slow_work_is_cut_small(self):
        slices = []

        def work(amount):
            slices.append(amount)
            time.sleep(min(0.3, amount * 1e-3))
            return len(slices) == 8

        Run().in_slices(work)
        assert slices[-1] < slices[0]

    def test_a_cancelled_run_ends_between_two_slices(self):
        run, slices = Run(), []

        def work(amount):
            slices.append(amount)
            if len(slices) == 3:
                run.cancel()
            return False

        with pytest.raises(CancelledError):
            run.in_slices(work)
        assert len(slices) == 3


class TestInThread:
    def test_the_result_comes_back(self):
        assert Run().in_thread(lambda: threading.current_thread() is threading.main_thread()) is False

    def test_an_error_in_the_thread_is_raised_here(self):
        with pytest.raises(ZeroDivisionError):
            Run().in_thread(lambda: 1 / 0)

    def test_a_time_limit_does_not_wait_for_work_that_never_asks(self):
        run, ended = Run(time_limit=0.05), threading.Event()
        with pytest.raises(TimeLimitError):
            run.in_thread(lambda: ended.wait(20))
        ended.set()
        with pytest.raises(CancelledError):  # the work is to end as soon as it asks
            run.check()

    def test_an_interrupt_does_not_wait_for_work_that_never_asks(self):
        run, ended = Run(), threading.Event()

        def work():
            signal.raise_signal(signal.SIGINT)
            return ended.wait(20)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # though a shell ignores it
        try:
            with pytest.raises(KeyboardInterrupt):
                run.in_thread(work)
        finally:
            signal.signal(signal.SIGINT, before)
        ended.set()

    def test_submitted_work_gives_its_result_when_asked(self):
        begun, may_end = threading.Event(), threading.Event()

        def work():
            begun.set()
            return may_end.wait(20)

        wait = Run().submit(work)
        assert begun.wait(20)
        may_end.set()
        assert wait() is True

    def test_submitted_work_that_fails_raises_when_asked(self):
        wait = Run().submit(lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            wait()

    def test_an_anytime_search_may_finish(self):
        run = Run()
        run.anytime = True

        def work():
            run.stop("interrupted")
            time.sleep(0.1)
            return "what there is"

        assert run.in_thread(work) == "what there is"


def test_a_part_that_runs_out_of_time_does_not_end_the_whole():
    whole = Run()
    part, ended = whole.part(time_limit=0.05), threading.Event()
    with pytest.raises(TimeLimitError):
        part.in_thread(lambda: ended.wait(20))
    ended.set()
    assert whole.should_continue()
    whole.cancel()
    with pytest.raises(CancelledError):
        whole.part().should_continue()
