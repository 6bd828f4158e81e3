"""Long simulations say on a terminal how far they are, and nothing anywhere else."""

from __future__ import annotations

import io
import sys
from datetime import date
from pathlib import Path

import pytest

from recuse.experiments import validate_command as clearance
from recuse.experiments.simulated_files import Setting
from recuse.experiments.validate_command import Case, words_for


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_who_waits_at_a_terminal_is_told(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(clearance, "_words", lambda *_: [])
    cases = [Case(Setting("1-5", 0.7), 30, "one more person", 3)]
    assert words_for(cases, Path(), seed=1, processes=1, today=date(2026, 1, 1)) == [[]]
    assert stream.getvalue().endswith("\n") == ("simulated 3 of 3" in stream.getvalue()) == terminal
    assert terminal or stream.getvalue() == ""
