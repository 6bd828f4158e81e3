"""Kinds of records in which a test hands its results to the process that reports: pytest's `user_properties`."""

from __future__ import annotations

__all__ = ["MEASURE", "MEASUREMENT", "NOBODY", "UNMEASURED", "VERDICT"]

VERDICT, MEASUREMENT, MEASURE = "recuse.verdict", "recuse.measurement", "recuse.measure"
UNMEASURED, NOBODY = "recuse.unmeasured", "recuse.nobody"
