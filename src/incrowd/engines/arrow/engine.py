"""The Arrow engine as one object."""

from __future__ import annotations

from incrowd.engines.arrow.compress import compress, missing_values
from incrowd.engines.arrow.count import label_counts
from incrowd.engines.arrow.preview import preview
from incrowd.engines.arrow.recode import recoded, released
from incrowd.engines.arrow.write import write
from incrowd.engines.engine import Engine


class ArrowEngine:
    """Streams Arrow batches."""

    compress = staticmethod(compress)
    missing_values = staticmethod(missing_values)
    recode = staticmethod(released)
    recoded = staticmethod(recoded)
    preview = staticmethod(preview)
    label_counts = staticmethod(label_counts)
    write = staticmethod(write)


ENGINE: Engine = ArrowEngine()
