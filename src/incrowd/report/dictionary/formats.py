"""The formats of data dictionaries by their names, which `policy.dictionary` declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from incrowd.report.dictionary.ddi import ddi_text
from incrowd.report.dictionary.described import Dictionary
from incrowd.report.dictionary.frictionless import schema_text

WRITERS: Mapping[str, Callable[[Dictionary], str]] = {"frictionless": schema_text, "ddi": ddi_text}
