"""The rows that a recoding was made from, as it releases them; `incrowd.apply` treats all rows as new ones."""

from incrowd.engines.arrow.recode import recoded
from incrowd.engines.plan import ReleasePlan
from incrowd.formats.registry import open_source
from incrowd.release.apply import fitted
from incrowd.run import Run


def released_by(recoding, table):
    """The rows of a table, in their order."""
    source = open_source(table)
    return recoded(source, fitted(recoding, source), Run(), ReleasePlan(keep_order=True))
