"""Builders of what fixtures/ holds. Not part of the engine, not in the wheel: run once, the result is committed."""
