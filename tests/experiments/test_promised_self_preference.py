"""What self_preference promises to find with 80 % is found in 80 %: no more and no less than chance explains."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("promised", Path(__file__).with_name("promised_self_preference.py"))
promised = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(promised)


@pytest.mark.slow
def test_the_promise_comes_true_in_four_of_five_panels():
    share, error = promised.share_found(1500)
    assert abs(share - 0.8) < 3 * error
