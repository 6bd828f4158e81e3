"""`recuse compare`: may one judge replace another? Two judges of a file, of two files, of a panel or of two panels."""
