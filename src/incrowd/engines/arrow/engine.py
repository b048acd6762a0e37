"""The Arrow engine as one object."""

from __future__ import annotations

from dataclasses import dataclass, field

from incrowd.engines.arrow.compress import compress, missing_values
from incrowd.engines.arrow.count import label_counts
from incrowd.engines.arrow.preview import preview
from incrowd.engines.arrow.recode import recoded, released
from incrowd.engines.arrow.write import output, write
from incrowd.engines.engine import Settings


@dataclass(frozen=True)
class ArrowEngine:
    """Streams Arrow batches."""

    settings: Settings = field(default_factory=Settings)
    name: str = "arrow"

    compress = staticmethod(compress)
    missing_values = staticmethod(missing_values)
    recode = staticmethod(released)
    recoded = staticmethod(recoded)
    preview = staticmethod(preview)
    label_counts = staticmethod(label_counts)
    output = staticmethod(output)
    write = staticmethod(write)
