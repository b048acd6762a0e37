"""Jobs run beside the server: progress, results, cancelling, kills and limits, each told in one line."""

import asyncio
import os
import signal

import pytest
from tests.command_line import GOOD

from incrowd.studio import jobs as module
from incrowd.studio.jobs import CANCELLED, DONE, FAILED, RUNNING, Jobs
from incrowd.studio.project import Project
from incrowd.studio.studio import Studio

PATIENCE = 60  # seconds; a busy machine is slow


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text(GOOD)
    (tmp_path / "found").mkdir()
    return tmp_path


def inspecting(folder):
    return {"table": str(folder / "people.csv"), "dialect": {}, "folder": str(folder / "found")}


def releasing(folder, **policy):
    words = {"quasi_identifiers": ["age", "sex", "job"], "k": 5, "method": "tdr", "keep": ["name"], **policy}
    return {
        "table": str(folder / "people.csv"),
        "policy": words,
        "home": str(folder),
        "folder": str(folder / "found"),
        "name": "release.csv",
    }


def living(scenario):
    """Run a scenario with jobs that are ended afterwards."""

    async def run():
        jobs = Jobs()
        try:
            return await asyncio.wait_for(scenario(jobs), PATIENCE)
        finally:
            await jobs.end()

    return asyncio.run(run())


async def over(jobs, job):
    """Wait until a job is over; what was told of it in between."""
    queue, told = jobs.watch(), []
    while not job.is_over:
        told.append(await queue.get())
    jobs.unwatch(queue)
    return told


def test_a_job_tells_how_far_it_is_and_gives_its_result(folder):
    async def scenario(jobs):
        found = {}
        job = jobs.start("inspect", inspecting(folder), lambda job, data: found.update(data), "Looking")
        told = await over(jobs, job)
        assert job.state == DONE
        assert found["records"] == 60
        assert [column["name"] for column in found["columns"]] == ["name", "age", "sex", "job", "income"]
        stages = [message.get("stage") for message in told]
        assert "reading" in stages
        assert told[-1]["state"] == DONE
        assert (folder / "found" / "codes.npy").stat().st_mode & 0o777 == 0o600

    living(scenario)


@pytest.mark.parametrize("breaks", [False, True])
def test_what_is_wrong_is_one_line_without_values(folder, breaks):
    async def scenario(jobs):
        words = {"table": {"secret": "Smith"}} if breaks else releasing(folder, k=500)
        job = jobs.start("inspect" if breaks else "release", words, lambda *_: pytest.fail("no result"), "Working")
        await over(jobs, job)
        assert job.state == FAILED
        assert ("please report it" if breaks else "no release can satisfy") in job.problem
        assert "\n" not in job.problem
        assert "Smith" not in job.problem
        assert not (folder / "found" / "release.csv").exists()

    living(scenario)


def test_a_process_that_cannot_be_started_is_said_in_one_line(folder, monkeypatch):
    async def start():
        raise BlockingIOError

    monkeypatch.setattr(module, "_started", start)

    async def scenario(jobs):
        job = jobs.start("inspect", inspecting(folder), lambda *_: None, "Looking")
        await over(jobs, job)
        assert job.state == FAILED
        assert "could not run it (BlockingIOError at test_jobs.py:" in job.problem

    living(scenario)


async def _running(jobs, folder, monkeypatch, drop=None):
    """A job that runs for ever: its process is stopped before it reads its request."""
    monkeypatch.setattr(module, "GRACE", 0.05)
    job = jobs.start("inspect", inspecting(folder), lambda *_: pytest.fail("no result"), "Looking", drop)
    while job.state != RUNNING:
        await asyncio.sleep(0.01)
    process = jobs._processes[job.number]
    os.kill(process.pid, signal.SIGSTOP)
    return job, process


def test_a_cancelled_job_is_gone_even_if_it_does_not_listen(folder, monkeypatch):
    async def scenario(jobs):
        job, process = await _running(jobs, folder, monkeypatch)
        jobs.cancel(job.number)
        await over(jobs, job)
        assert job.state == CANCELLED
        assert process.returncode == -signal.SIGKILL

    living(scenario)


def test_a_search_that_can_stop_says_so_and_uses_the_best_so_far(folder):
    rows = [f"{n * 7919 % 97},{n * 104729 % 89},{n * 1299709 % 83},{'abc'[n % 3]}" for n in range(2_000)]
    (folder / "people.csv").write_text("\n".join(["a,b,c,d", *rows]))

    async def scenario(jobs):
        found = {}
        words = releasing(folder, quasi_identifiers=["a", "b", "c"], method="optimal", keep=[])
        job = jobs.start("release", words, lambda job, data: found.update(data), "Making the release")
        queue = jobs.watch()
        while not (message := await queue.get()).get("can_stop"):
            assert message.get("state") not in (DONE, FAILED)
        jobs.stop(job.number)
        await over(jobs, job)
        assert job.state == DONE, job.problem
        assert any("stopped early (stopped)" in note for note in found["summary"]["done"]["notes"])

    living(scenario)


def test_a_killed_job_is_said_in_one_line(folder, monkeypatch):
    async def scenario(jobs):
        job, process = await _running(jobs, folder, monkeypatch)
        process.kill()
        await over(jobs, job)
        assert job.state == FAILED
        assert job.problem.startswith("the job was killed, by you or because memory ran out")

    living(scenario)


def test_a_new_job_takes_the_place_of_one_of_its_kind(folder, monkeypatch):
    async def scenario(jobs):
        first, process = await _running(jobs, folder, monkeypatch)
        second = jobs.start("inspect", inspecting(folder), lambda *_: None, "Looking again")
        assert jobs.running("inspect") is second  # the first is told to end, and not over yet
        assert not first.is_over
        await over(jobs, second)
        await over(jobs, first)
        assert (first.state, second.state) == (CANCELLED, DONE)
        assert process.returncode is not None

    living(scenario)


def test_at_most_so_many_run_at_once(folder, monkeypatch):
    async def scenario(jobs):
        monkeypatch.setattr(jobs, "_room", asyncio.Semaphore(1))
        first, process = await _running(jobs, folder, monkeypatch)
        second = jobs.start("release", releasing(folder), lambda *_: None, "Releasing")
        await asyncio.sleep(0.05)
        assert second.state == "waiting"
        os.kill(process.pid, signal.SIGCONT)
        jobs.cancel(first.number)
        await over(jobs, second)
        assert second.state == DONE

    living(scenario)


def test_a_job_that_has_not_taken_its_first_step_can_be_cancelled(folder):
    async def scenario(jobs):
        job = jobs.start("release", releasing(folder), lambda *_: pytest.fail("no result"), "Releasing")
        queue = jobs.watch()
        jobs.cancel(job.number)
        assert (await queue.get())["state"] == CANCELLED
        assert job.is_over
        assert jobs.running("release") is None

    living(scenario)


def test_processes_of_jobs_that_were_cancelled_while_they_started_are_ended(folder, monkeypatch):
    started, real = [], module._started

    async def start():
        process = await real()
        started.append(process)
        await asyncio.sleep(0.05)
        return process

    monkeypatch.setattr(module, "_started", start)

    async def scenario(jobs):
        for task in ("inspect", "release"):
            jobs.start(task, {}, lambda *_: None, "Both at once")
        while len(started) < 2:
            await asyncio.sleep(0)
        for number in (1, 2):
            jobs.cancel(number)

    living(scenario)
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


def test_the_end_of_the_studio_ends_its_jobs(folder, monkeypatch):
    async def scenario(jobs):
        jobs.warm()
        job, process = await _running(jobs, folder, monkeypatch)
        await jobs.end()
        assert process.returncode is not None
        assert job.is_over

    living(scenario)


def test_jobs_that_are_over_are_forgotten_in_the_end(folder, monkeypatch):
    async def scenario(jobs):
        monkeypatch.setattr(jobs, "_room", asyncio.Semaphore(0))
        for _ in range(100):
            job = jobs.start("release", {}, lambda *_: None, "Releasing")
            await asyncio.sleep(0)
            jobs.cancel(job.number)
            await over(jobs, job)
        assert len(jobs.all) <= module.MOST_KEPT + 2

    living(scenario)


def test_nothing_that_is_over_is_missed_for_the_progress_of_another_job():
    async def scenario(jobs):
        queue = jobs.watch()
        jobs.tell({"kind": "job", "job": 1, "state": DONE})
        for number in range(1_000):
            jobs.tell({"kind": "job", "job": 2, "state": RUNNING, "done": number})
        assert queue.qsize() <= 200
        told = [queue.get_nowait() for _ in range(queue.qsize())]
        assert told[0] == {"kind": "job", "job": 1, "state": DONE}
        assert told[-1]["done"] == 999

    living(scenario)


def test_what_a_job_leaves_is_dropped_when_it_is_gone_and_has_no_result(folder, monkeypatch):
    dropped = []

    async def scenario(jobs):
        done = jobs.start("inspect", inspecting(folder), lambda *_: None, "Looking", lambda: dropped.append("done"))
        await over(jobs, done)
        job, process = await _running(
            jobs, folder, monkeypatch, drop=lambda: dropped.append((process.returncode, job.state))
        )
        process.kill()
        await over(jobs, job)

    living(scenario)
    assert dropped == [(-signal.SIGKILL, FAILED)]


def test_a_killed_job_of_a_studio_leaves_nothing_of_its_release(folder):
    project = Project(folder, folder / "people.studio")
    project.choose("people.csv")

    async def scenario(jobs):
        words = {key: value for key, value in releasing(folder).items() if key not in ("table", "folder")}
        job = Studio(project, jobs).run("release", words, "Making", fresh=True)
        home = project.folder / "results" / "release"
        while not [*home.glob("next-*/*")]:  # its rows are there, and more comes
            await asyncio.sleep(0.002)
        jobs._processes[job.number].kill()
        await over(jobs, job)
        assert [*home.iterdir()] == ([] if job.state == FAILED else [home / "made"])

    living(scenario)
    project.close()
