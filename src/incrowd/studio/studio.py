"""What the screens work with: the project, the jobs, and the few things that several screens ask."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from incrowd.errors import DataError, PolicyError, shorten
from incrowd.studio import policy_words
from incrowd.studio.jobs import Job, Jobs
from incrowd.studio.project import Project

MOST_NAMING = 8  # columns that a message has room for
CSV_WORDS = ("separator", "quote", "encoding", "header", "strip")


class Studio:
    """One studio."""

    def __init__(self, project: Project, jobs: Jobs) -> None:
        self.project, self.jobs = project, jobs
        self.digests: dict[str, str] = {}  # by result, of what its job has kept in this session

    # What is known

    def inspection(self) -> dict[str, Any] | None:
        """What was found in the table; None where it was not looked at, or has changed since."""
        found = self.project.result("inspection")
        if found is None or found["table"] != self.project.table_state():
            return None
        data: dict[str, Any] = found["data"]
        return data

    def known_columns(self) -> list[dict[str, Any]]:
        found = self.inspection()
        if found is None:
            raise DataError("the table was not looked at yet; open the first screen, Data")
        return list(found["columns"])

    def names(self) -> list[str]:
        return [column["name"] for column in self.known_columns()]

    def roles(self) -> dict[str, str]:
        return policy_words.roles(self.project.words(), self.names())

    def policy_problem(self, words: Mapping[str, Any] | None = None) -> str:
        """What is wrong with the policy, in one line; empty if nothing is."""
        try:
            words = self.project.words() if words is None else words
            policy, _ = policy_words.policy_of(words, self.project.folder)
            policy.check_columns(self.names(), self.project.table or "the table")
        except (PolicyError, DataError) as error:
            return " ".join(str(error).split())
        naming = [f"'{name}' {reason}" for name, reason in self.naming(words).items()]
        return policy_words.names_people(shorten(naming, MOST_NAMING)) if naming else ""

    def naming(self, words: Mapping[str, Any]) -> dict[str, str]:
        """The columns that would leave as they are though they may name people, and why."""
        given, on_purpose = policy_words.roles(words, self.names()), policy_words.kept(words)
        return {
            column["name"]: column["stops"]
            for column in self.known_columns()
            if column.get("stops")
            and given[column["name"]] in policy_words.PASSING
            and column["name"] not in on_purpose
        }

    def result(self, name: str) -> dict[str, Any] | None:
        """What a job has found, with "stale", whether the table or the policy has changed since."""
        found = self.project.result(name)
        if found is None:
            return None
        return {**found["data"], "stale": found["made_from"] != self.project.made_from()}

    def digest_of(self, *known: Any) -> str:
        """What something was made from: the table as it is, and some words."""
        text = json.dumps([self.project.table_state(), *known], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    # What is done

    def take(self, table: str) -> None:
        """Open a different table; jobs about the one before are ended."""
        before = self.project.table
        self.project.choose(table)
        if table != before:
            for job in list(self.jobs.all.values()):
                self.jobs.cancel(job.number)
            self.digests.clear()

    def run(self, task: str, words: Mapping[str, Any], title: str, *, fresh: bool = False) -> Job:
        """Start a job whose answer is kept as the result of the same name.

        Args:
            task: One of `tasks.TASKS`.
            words: What it is told, besides "table" and "folder".
            title: What people call the job.
            fresh: Whether its files take the place of those before only when all of them are there.
        """
        made_from, state, project = self.project.made_from(), self.project.table_state(), self.project
        table = str(project.table_path)
        folder = project.fresh(task) if fresh else project.folder_of(task)
        told = {"table": table, "folder": str(folder), **words}

        def finish(job: Job, data: dict[str, Any]) -> None:
            if digest := data.pop("digest", None):
                self.digests[task] = digest
            if fresh:
                project.whole(task, folder)
            project.keep(task, data, made_from, state)
            self.changed(task)

        def drop() -> None:
            if fresh:
                project.drop(folder)

        return self.jobs.start(task, told, finish, title, drop)

    def change(self, words: Mapping[str, Any], parked: Mapping[str, Any] | None = None) -> None:
        """Write another policy; one that makes no sense does not take the place of one that does."""
        problem = self.policy_problem(words)
        if problem and not self.policy_problem():
            raise PolicyError(problem)
        self.project.change(words, parked)

    def policy_task(self) -> dict[str, Any]:
        """What a task is told of the policy as it is now."""
        words = self.project.words()
        if problem := self.policy_problem(words):
            raise PolicyError(problem)
        return {"policy": words, "home": str(self.project.folder)}

    def release_task(self) -> dict[str, Any]:
        """What a task is told of the release that was made, so that `tasks.releases.again` gives it."""
        found = self.result("release")
        if found is None:
            raise DataError("there is no release yet; make one on the screen Release")
        folder = str(self.project.made("release"))
        home, digest = str(self.project.folder), self.digests.get("release")
        return {"policy": found["policy"], "home": home, "folder": folder, "digest": digest}

    def changed(self, task: str = "") -> None:
        """Tell all pages that something has changed; if a task has found it, those that show what it finds."""
        self.jobs.tell({"kind": "changed", "revision": self.project.revision, "task": task})
