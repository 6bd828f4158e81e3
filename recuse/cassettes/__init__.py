"""Recorded judge calls: append-only JSON-lines cassettes on vcrpy, replayed without the network. `library` answers from
those of a panel; asking what is missing, within limits and a budget, is in `recuse.recording`."""
