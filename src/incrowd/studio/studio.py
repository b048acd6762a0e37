"""What the screens work with: the project, the jobs, and the few things that several screens ask."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd.errors import DataError, PolicyError, many, shorten
from incrowd.studio import policy_settings
from incrowd.studio.jobs import Job, Jobs
from incrowd.studio.project import Project

if TYPE_CHECKING:
    from incrowd.policy.policy import Policy

MOST_NAMING = 8  # columns that a message has room for
CSV_OPTIONS = ("separator", "quote", "encoding", "header", "strip")


class Studio:
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
            raise DataError("the table has not been inspected yet; open the screen Data")
        return list(found["columns"])

    def names(self) -> list[str]:
        return [column["name"] for column in self.known_columns()]

    def roles(self) -> dict[str, str]:
        return policy_settings.roles(self.project.settings(), self.names())

    def policy_problem(self, settings: Mapping[str, Any] | None = None) -> str:
        """What is wrong with the policy, in one line; empty if nothing is."""
        try:
            settings = self.project.settings() if settings is None else settings
            policy, _ = policy_settings.policy_of(settings, self.project.folder)
            policy.check_columns(self.names(), self.project.table or "the table")
        except (PolicyError, DataError) as error:
            return " ".join(str(error).split())
        if impossible := self._too_large(settings) or self._too_diverse(policy):
            return impossible
        naming = [f"'{name}' {reason}" for name, reason in self.naming(settings).items()]
        return policy_settings.names_people(shorten(naming, MOST_NAMING)) if naming else ""

    def _too_large(self, settings: Mapping[str, Any]) -> str:
        """Whether a crowd would need more records, or people, than the table has."""
        unit = settings.get("unit")
        people = next((column["distinct"] for column in self.known_columns() if column["name"] == unit), None)
        most, noun = ((self.inspection() or {})["records"], "record") if people is None else (people, "person")
        k = max((each["k"] for each in policy_settings.quasi_sets(settings) if isinstance(each["k"], int)), default=0)
        has = many(most, noun, "people" if noun == "person" else "records")
        return f"k is {k:,}, but the table has only {has}; choose a smaller k" if k > most else ""

    def _too_diverse(self, policy: Policy) -> str:
        """Whether a crowd would need more values of a sensitive column than there are."""
        values = {each["name"]: each["distinct"] + (each["missing"] > 0) for each in self.known_columns()}
        for model in policy.models_of_columns:
            column = model.column
            if column in values and not getattr(model, "harmless", ()) and model.least_size > values[column]:
                asked = str(model).removesuffix(f" of {column}")
                return f"{asked} asks for more values than '{column}' has, which is {values[column]}; ask for fewer"
        return ""

    def naming(self, settings: Mapping[str, Any]) -> dict[str, str]:
        """The columns that would leave as they are though they may name people, and why."""
        given, on_purpose = policy_settings.roles(settings, self.names()), policy_settings.kept(settings)
        return {
            column["name"]: column["stops"]
            for column in self.known_columns()
            if column.get("stops")
            and given[column["name"]] in policy_settings.PASSING
            and column["name"] not in on_purpose
        }

    def result(self, name: str) -> dict[str, Any] | None:
        """What a job has found, with "stale", whether the table or the policy has changed since."""
        found = self.project.result(name)
        if found is None:
            return None
        return {**found["data"], "stale": found["made_from"] != self.project.made_from()}

    def digest_of(self, *known: Any) -> str:
        """What something was made from: the table as it is, and some settings."""
        text = json.dumps([self.project.table_state(), *known], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def seen(self) -> list[str]:
        """The screens that somebody has looked at since the table was opened."""
        found = self.project.result("seen")
        return [] if found is None else list(found["data"]["screens"])

    # What is done

    def see(self, screen: str) -> None:
        """Remember that a screen was looked at: what was only proposed counts as done from then on."""
        seen, project = self.seen(), self.project
        if screen not in seen and project.table is not None:
            project.keep("seen", {"screens": [*seen, screen]}, project.made_from())

    def take(self, table: str) -> None:
        """Open a different table; jobs about the one before are ended."""
        before = self.project.table
        self.project.choose(table)
        if table != before:
            for job in list(self.jobs.all.values()):
                self.jobs.cancel(job.number)
            self.digests.clear()

    def run(self, task: str, settings: Mapping[str, Any], title: str, *, fresh: bool = False) -> Job:
        """Start a job and keep its answer; if `fresh`, its files replace earlier ones once all of them are there."""
        made_from, state, project = self.project.made_from(), self.project.table_state(), self.project
        table = str(project.table_path)
        folder = project.fresh(task) if fresh else project.folder_of(task)
        request = {"table": table, "folder": str(folder), **settings}

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

        job = self.jobs.start(task, request, finish, title, drop)
        job.made_from = made_from
        return job

    def unfinished(self, task: str) -> Job | None:
        """The last job of a task if it is running, or has failed or been cancelled with the current settings."""
        job = self.jobs.unfinished(task)
        return job if job is not None and (not job.is_over or job.made_from == self.project.made_from()) else None

    def change(self, settings: Mapping[str, Any], parked: Mapping[str, Any] | None = None) -> None:
        """Write another policy; one that makes no sense does not take the place of one that does."""
        problem = self.policy_problem(settings)
        if problem and not self.policy_problem():
            raise PolicyError(problem)
        self.project.change(settings, parked)

    def policy_task(self) -> dict[str, Any]:
        """What a task is request of the policy as it is now."""
        settings = self.project.settings()
        if problem := self.policy_problem(settings):
            raise PolicyError(problem)
        return {"policy": settings, "home": str(self.project.folder)}

    def release_task(self) -> dict[str, Any]:
        """What a task is request of the release that was made, so that `tasks.releases.again` gives it."""
        found = self.result("release")
        if found is None:
            raise DataError("there is no release yet; make one on the screen Release")
        folder = str(self.project.made("release"))
        home, digest = str(self.project.folder), self.digests.get("release")
        return {"policy": found["policy"], "home": home, "folder": folder, "digest": digest}

    def of_release(self) -> dict[str, Any]:
        """What a task is asked that looks closer at the release as it was made; "of" is its digest."""
        made = self.project.result("release")
        return {**self.release_task(), "of": None if made is None else made["digest"]}

    def is_of_release(self, task: str) -> bool:
        """Whether what a task has found is about the release as it is now."""
        made, found = self.project.result("release"), self.project.result(task)
        return made is not None and found is not None and found["data"]["of"] == made["digest"]

    def changed(self, task: str = "") -> None:
        """Tell all pages that something has changed; if a task has found it, those that show what it finds."""
        self.jobs.tell({"kind": "changed", "revision": self.project.revision, "task": task})
