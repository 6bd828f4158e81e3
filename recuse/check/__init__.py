"""`recuse check FILE`: the shipped questions asked of a file of ratings, and the answer in plain English."""

from __future__ import annotations

from recuse.check.answers import Answers, ask_file
from recuse.check.text import told

__all__ = ["Answers", "ask_file", "told"]
