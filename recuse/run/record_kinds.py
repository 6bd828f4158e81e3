"""Kinds of records in which a test hands its results to the process that reports: pytest's `user_properties`."""

from __future__ import annotations

__all__ = ["MEASURE", "MEASUREMENT", "NOBODY", "UNMEASURED", "UPGRADE", "VERDICT"]

VERDICT, MEASUREMENT, MEASURE = "recuse.verdict", "recuse.measurement", "recuse.measure"
UPGRADE = "recuse.upgrade"
UNMEASURED, NOBODY = "recuse.unmeasured", "recuse.nobody"
