"""`recuse init`: a repository of the fixed shape, green at once."""
