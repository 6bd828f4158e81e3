"""From a panel and a task to ratings: which calls are planned, how each reply is read, and what the rows become."""
