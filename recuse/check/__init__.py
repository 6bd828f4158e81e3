"""`recuse check FILE`: the shipped questions asked of a file of ratings, and the answer in plain English."""

from __future__ import annotations

from recuse.check.check_text import told
from recuse.check.file_answers import Answers, ask_file

__all__ = ["Answers", "ask_file", "told"]
