"""Recuse decides whether an LLM judge may be trusted. See README.md; the parts are listed in docs/architecture.md."""

__version__ = "0.1.0"
