"""What a run is about, whom its questions are asked of, and the ratings they are asked about."""

from recuse.suite.questions import Elicitation, NotAsked, Selection
from recuse.suite.suite import Suite

__all__ = ["Elicitation", "NotAsked", "Selection", "Suite"]
