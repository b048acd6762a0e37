"""What was imported: the settings of a policy, its hierarchy files, and a line for everything that was found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from incrowd.errors import many
from incrowd.migration.hierarchies import Hierarchy
from incrowd.policy.toml_text import policy_text, toml_comment
from incrowd.privacy.registry import OF_POPULATION, OF_TABLE

IMPORTED, CHANGED, MISSING = "imported", "changed", "left out"


@dataclass(frozen=True)
class Line:
    """One thing that the project says.

    Attributes:
        found: How the project says it.
        kind: "imported", "changed" (something near it) or "left out" (no counterpart).
        became: What the policy says, or what to do instead.
    """

    found: str
    kind: str
    became: str


@dataclass
class Imported:
    """A policy made of a project of another tool.

    Attributes:
        source: The file that was imported.
        tool: The tool whose project it is.
        settings: The settings of the policy, without hierarchy files.
        hierarchies: The hierarchies that become files, by column.
        lines: What became of each part of the project.
    """

    source: str
    tool: str
    settings: dict[str, Any] = field(default_factory=dict)
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def add(self, found: str, kind: str, became: str) -> None:
        self.lines.append(Line(found, kind, became))

    def take(self, column: str, hierarchy: Hierarchy, found: str) -> None:
        """A hierarchy as a rule if there is one, else as a file."""
        notes = "".join(f"; {note}" for note in hierarchy.notes)
        if hierarchy.rule is None:
            self.hierarchies[column] = hierarchy
            became = f"a taxonomy of {many(len(hierarchy.paths), 'value')}{notes}"
        else:
            self.settings.setdefault("taxonomies", {})[column] = hierarchy.rule.options()
            became = f"the rule {hierarchy.rule.options()}, which groups all its values alike{notes}"
        self.add(found, CHANGED if hierarchy.notes else IMPORTED, became)

    @property
    def left_out(self) -> list[Line]:
        return [line for line in self.lines if line.kind == MISSING]

    @property
    def has_promise(self) -> bool:
        """Whether the policy promises anything; sensitive columns have a least promise at any rate."""
        return any(self.settings.get(name) for name in ("k", *OF_TABLE, *OF_POPULATION, "sensitive"))

    def files(self, policy: Path) -> dict[str, Path]:
        """Where the hierarchy file of each column goes: a folder beside the policy, which is named after it."""
        folder = policy.with_name(f"{policy.name.removesuffix('.toml')}-taxonomies")
        taken: set[str] = set()
        found = {}
        for column in self.hierarchies:
            stem = re.sub(r"[^A-Za-z0-9_-]+", "_", column)[:80] or "column"
            name = next(each for each in _numbered(stem) if each.lower() not in taken)
            taken.add(name.lower())
            found[column] = folder / f"{name}.csv"
        return found

    def policy_toml(self, policy: Path) -> str:
        """The text of the policy file; what was left out is named in comments."""
        files = {column: f"{path.parent.name}/{path.name}" for column, path in self.files(policy).items()}
        settings = {**self.settings, "taxonomies": {**self.settings.get("taxonomies", {}), **files}}
        lines = [f"# Imported from {toml_comment(self.source)}, made with {self.tool}."]
        if self.left_out:
            lines += ["# Without a counterpart, and therefore left out:"]
            lines += [toml_comment(f"# - {line.found}: {line.became}") for line in self.left_out]
        return "\n".join([*lines, "", policy_text(settings)])

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "tool": self.tool,
            "settings": _plain(self.settings),
            "taxonomies": {column: len(each.paths) for column, each in self.hierarchies.items()},
            "lines": [{"found": line.found, "kind": line.kind, "became": line.became} for line in self.lines],
        }

    def render(self) -> Iterator[str]:
        """The lines for people, what was left out last."""
        width = max(len(kind) for kind in (IMPORTED, CHANGED, MISSING))
        for kind in (IMPORTED, CHANGED, MISSING):
            for line in self.lines:
                if line.kind == kind:
                    yield f"{kind:<{width}}  {line.found}: {line.became}"


def _numbered(stem: str) -> Iterator[str]:
    return (stem if number == 1 else f"{stem}-{number}" for number in count(1))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
