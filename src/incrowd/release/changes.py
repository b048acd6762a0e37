"""What became of each quasi-identifier column of a release, as a table of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from incrowd.display import Rows, Tabular
from incrowd.errors import many


@dataclass(frozen=True, repr=False)
class Changes(Tabular):
    """Changes by column: how many values there were and are, the loss (NCP, from 0 to 1), and the released values."""

    name: str
    rows: tuple[dict[str, Any], ...]

    def headline(self) -> str:
        worst = max(self.rows, key=lambda row: row["ncp"])
        return (
            f"{self.name}: changes of {many(len(self.rows), 'column')}, most of {worst['column']} ({worst['ncp']:.1%})"
        )

    def to_rows(self) -> Rows:
        return [dict(row) for row in self.rows]
