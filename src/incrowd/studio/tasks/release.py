"""Makes a release: searches, writes and verifies the rows, and says what they are like.

The rows are written at once, since only what was recounted from the written file may be called protected.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.release.release import Release
from incrowd.report.labels import shown
from incrowd.report.summary import steward_summary
from incrowd.report.terminal import Preview
from incrowd.run import Run
from incrowd.studio.tasks.ledgers import with_draft
from incrowd.studio.tasks.releases import kept, made

ROWS = 12  # before and after


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Make a release as `releases.made` does, and write it to "name" in "folder"."""
    folder = Path(request["folder"])
    policy = with_draft(request["policy"], Path(request["home"]), folder)
    release = made({**request, "policy": policy}, run)
    seen: list[Preview] = []
    certificate = release.write(
        folder / request["name"], overwrite=True, run=run, before=lambda: seen.append(release.preview(ROWS))
    )
    run.stage("measuring")
    before, after = seen[0]
    digest = kept(release, folder)
    return {
        "digest": digest,
        "summary": steward_summary(release, certificate),
        "certificate": certificate.to_json(),
        "before": _rows(before),
        "after": _rows(after),
        "steps": len(release.steps),
        "begins": release.found.begins,
        "method": release.found.facts.get("method", release.policy.method),
        "policy": request["policy"],
        "codebook": codebook(release),
    }


def _rows(columns: Mapping[str, list[Any]]) -> dict[str, list[str]]:
    return {name: [shown(value, 40) for value in values] for name, values in columns.items()}


def codebook(release: Release) -> dict[str, list[str | None]]:
    """The values of the released rows, by column of the quasi-identifiers."""
    return {name: list(values) for name, values in release.released_values.items()}
