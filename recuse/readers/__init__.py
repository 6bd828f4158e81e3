"""Files that somebody already has: ratings by judges and people in a table, or in another tool's log.

read = read_file("tickets.csv")        # which column was read as what: read.mapping.sentences()
read.ratings                           # what every measure is given
"""

from __future__ import annotations

from recuse.readers.file_panel import are_versions, as_versions
from recuse.readers.file_ratings import FilePanel, read_file
from recuse.readers.mapping import ColumnMapping
from recuse.readers.raw_table import Fault

__all__ = ["ColumnMapping", "Fault", "FilePanel", "are_versions", "as_versions", "read_file"]
