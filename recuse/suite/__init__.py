"""What a run is about, whom its questions are asked of, and the ratings they are asked about."""

from recuse.suite.asked import Asked, NotAsked
from recuse.suite.selection import Selection
from recuse.suite.suite import Suite

__all__ = ["Asked", "NotAsked", "Selection", "Suite"]
