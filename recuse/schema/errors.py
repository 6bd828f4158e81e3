"""What goes wrong."""


class RecuseError(Exception):
    """A mistake in what Recuse was given. The message names the place and the remedy."""


class JudgeClosedError(RecuseError):
    """No call of this judge can succeed until somebody acts: its key is not accepted, or its account is used up. The
    message names no call and is the same for all of them, so it is told once."""


class RatingsError(RecuseError):
    """The ratings table breaks its own rules; the message lists every fault with its rows."""
