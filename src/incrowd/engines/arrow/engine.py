"""The Arrow engine as one object."""

from __future__ import annotations

from dataclasses import dataclass, field

from incrowd.engines.arrow.compress import compress
from incrowd.engines.arrow.recode import label_counts, preview, recode, recoded
from incrowd.engines.arrow.write import output, write
from incrowd.engines.engine import Settings


@dataclass(frozen=True)
class ArrowEngine:
    """Streams Arrow batches."""

    settings: Settings = field(default_factory=Settings)
    name: str = "arrow"

    compress = staticmethod(compress)
    recode = staticmethod(recode)
    recoded = staticmethod(recoded)
    preview = staticmethod(preview)
    label_counts = staticmethod(label_counts)
    output = staticmethod(output)
    write = staticmethod(write)
