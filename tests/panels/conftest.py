"""A panel file that is sound, and a way to break it in one place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SOUND = """\
name = "mini"
description = "Two judges."
provenance = "recorded"
source = "made for this test"

[[task]]
name = "essays"
protocols = ["rubric"]
repeats = { rubric = 3 }

[[judge]]
name = "ann"
wire = "openai_chat"
base_url = "https://api.example/v1"
model = "ann-1"
author = "alpha"
api_key_env = "ANN_KEY"
timeout_s = 30
price = { input_usd_per_mtok = 1.0, output_usd_per_mtok = 4.0 }

[[judge]]
name = "bob"
label = "Bob"
wire = "anthropic_messages"
base_url = "http://127.0.0.1:8080"
model = "bob-1"
"""


@pytest.fixture
def panel_file(tmp_path: Path) -> Callable[..., Path]:
    """Write mini.toml with `old` text replaced by `new`."""

    def write(old: str = "", new: str = "") -> Path:
        assert SOUND.count(old) >= 1, f"{old!r} is not in the sound file"
        path = tmp_path / "mini.toml"
        path.write_text(SOUND.replace(old, new, 1), encoding="utf-8")
        return path

    return write
