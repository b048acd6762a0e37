"""What the kinds of attribute recodings share: the numbers of released values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[np.int64]
