"""Any of the kinds of attribute recodings."""

from __future__ import annotations

from incrowd.recodings.attributes.closed_intervals import ClosedIntervals
from incrowd.recodings.attributes.cut import Cut, RuleCut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.attributes.partition import Partition

AttributeRecoding = Cut | RuleCut | Intervals | ClosedIntervals | Disclosure | Partition
