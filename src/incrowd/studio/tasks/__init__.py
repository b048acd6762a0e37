"""What jobs do, each in a process of its own: `work(words, run)` gets plain data, and gives plain data back.

A task is one module, listed here by name. Files that are too large for an answer go to the folder that it is told.
"""

from __future__ import annotations

from collections.abc import Mapping

TASKS: Mapping[str, str] = {
    "inspect": "incrowd.studio.tasks.inspect:work",
    "uniques": "incrowd.studio.tasks.uniques:work",
    "values": "incrowd.studio.tasks.values:work",
    "release": "incrowd.studio.tasks.release:work",
    "steps": "incrowd.studio.tasks.steps:work",
    "why": "incrowd.studio.tasks.why:work",
    "compare": "incrowd.studio.tasks.compare:work",
    "export": "incrowd.studio.tasks.export:work",
}
