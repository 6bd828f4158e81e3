"""Names of the known factors: what is varied on purpose between two calls about the same text.

Ratings have them as columns, verdicts in their subjects. Their levels and what these mean: `recuse.ratings.factors`.
"""

from __future__ import annotations

NAMES, DIRECTION, ORDER, LABELS, VERSION = "names", "direction", "order", "labels", "version"
RUBRIC = "rubric_source"
WORDING, CHANNEL, PROMPT = "wording", "channel", "prompt"
TEMPERATURE = "temperature"
"""Its levels are numbers, whichever were asked: it is in no list of levels."""

FACTORS = (NAMES, DIRECTION, ORDER, LABELS, WORDING, CHANNEL, RUBRIC)
"""Those whose levels are known."""
