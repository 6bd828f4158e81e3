"""Files that somebody already has: ratings by judges and people in a table, or in another tool's log.

read = read_file("tickets.csv")        # which column was read as what: read.mapping
read.ratings                           # what every measure is given
"""

from __future__ import annotations

from recuse.readers.file_ratings import FilePanel, read_file

__all__ = ["FilePanel", "read_file"]
