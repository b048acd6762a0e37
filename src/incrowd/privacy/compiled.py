"""The questions of a requirement for compiled code, which knows numbers and arrays only.

The functions of `privacy.needs`, compiled into whoever calls them. Compiled searches count the records of a class, and
let others join a good class without looking again.
"""

from __future__ import annotations

from numba import njit

from incrowd.privacy import size_rule as needs
from incrowd.privacy.size_rule import SizeRule, size_rule_of

__all__ = ["SizeRule", "could_be_two", "is_good", "lacking", "size_rule_of", "spare"]

is_good = njit(nogil=True, inline="always")(needs.is_good)
spare = njit(nogil=True, inline="always")(needs.spare)
lacking = njit(nogil=True, inline="always")(needs.lacking)
could_be_two = njit(nogil=True, inline="always")(needs.could_be_two)
