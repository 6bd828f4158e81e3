"""Arrays as types. Apart from `recuse.schema` itself, so that who computes nothing imports no numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Mask"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
