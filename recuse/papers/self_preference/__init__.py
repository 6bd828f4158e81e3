"""Self-preference and scale framing in the judging of headlines (paper 003)."""
