"""`recuse check FILE`: the shipped questions asked of a file of ratings, and the answer in plain English."""

from __future__ import annotations

from recuse.check.check_text import full_text
from recuse.check.file_answers import FileAnswers, ask_file

__all__ = ["FileAnswers", "ask_file", "full_text"]
