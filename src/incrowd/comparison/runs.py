"""The runs of a comparison: what is known of each, the log that keeps them, and what makes two runs the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from incrowd.policy.policy import Policy
from incrowd.release.files import OWNER_FILE
from incrowd.taxonomies.taxonomy import Taxonomy
from incrowd.version import __version__

DONE, FAILED, TIME_LIMIT = "done", "failed", "time limit"


@dataclass(frozen=True)
class SettingRun:
    """What became of one method with one k.

    Args:
        key: What identifies the input, the policy and how it was evaluated; see `key_of`.
        method: The method as the user wrote it, options included.
        k: The k.
        policy: The whole policy, as JSON-able data.
        status: "done", "failed", or "time limit".
        problem: Why it is not done.
        values: Time, memory and measures by name; None where a measure does not apply.
        errors: For each classifier its error on the original, the release and without quasi-identifiers.
        time_limit: Seconds that it was allowed.
    """

    key: str
    method: str
    k: int
    policy: Mapping[str, Any]
    status: str
    problem: str | None = None
    values: Mapping[str, float | None] = field(default_factory=dict)
    errors: Sequence[Mapping[str, Any]] = ()
    time_limit: float | None = None

    def __str__(self) -> str:
        return f"{self.method} k={self.k}"

    def value(self, name: str) -> float | None:
        """Time, memory or a measure by name, such as "ncp" or "error_tree"; None if it is not known."""
        for entry in self.errors:
            if name == f"error_{entry['classifier']}":
                return float(entry["anonymity"]["value"])
        return self.values.get(name)

    def is_final(self, time_limit: float | None) -> bool:
        """Whether repeating it with that time limit would show nothing new; a failure may have been fixed."""
        if self.status == TIME_LIMIT and self.time_limit is not None:
            return time_limit is not None and time_limit <= self.time_limit
        return self.status == DONE


def key_of(policy: Policy, **facts: Any) -> str:
    trees = {
        column: [list(tree.labels), tree.parent.tolist()] if isinstance(tree, Taxonomy) else repr(tree)
        for column, tree in policy.taxonomies.items()
    }
    known = {"incrowd": __version__, "policy": policy.to_json(), "taxonomies": trees, **facts}
    return hashlib.sha256(json.dumps(known, sort_keys=True, default=repr).encode()).hexdigest()


class RunLog:
    """Finished runs in a file, a line of JSON each; a line is on the disk before the next run begins.

    Args:
        path: The file; without one, runs are only kept as long as the process.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.runs: dict[str, SettingRun] = {}
        text = path.read_text(encoding="utf-8") if path is not None and path.exists() else ""
        self._broken = not text.endswith("\n") and text != ""  # a crash while a line was written
        for line in text.splitlines():
            try:
                run = SettingRun(**json.loads(line))
            except (ValueError, TypeError):
                continue
            self.runs[run.key] = run

    def add(self, run: SettingRun) -> None:
        self.runs[run.key] = run
        if self._path is None:
            return
        with open(self._path, "a", encoding="utf-8", opener=_for_owner) as file:  # keys are digests of the table
            file.write("\n" * self._broken + json.dumps(asdict(run), ensure_ascii=False, default=repr) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._broken = False


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, OWNER_FILE)
