"""Panels: which judges are examined, how they are reached, and on which tasks (fixtures/panels/*.toml)."""

from __future__ import annotations

from recuse.panels.loaded_panel import OwnWords, Panel, load_panel
from recuse.panels.panel_file import LocalServer, StandIn

__all__ = ["LocalServer", "OwnWords", "Panel", "StandIn", "load_panel"]
