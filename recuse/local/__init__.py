"""Real small models on loopback, for recording: weights by package, one server per model, stopped when done."""
