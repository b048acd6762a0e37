"""Entropy of the labels of some records."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def entropy(frequencies: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Entropy in bits over the last axis of frequencies; 0 for no records."""
    total = frequencies.sum(axis=-1, keepdims=True)
    shares = frequencies / np.maximum(total, 1)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=-1))
