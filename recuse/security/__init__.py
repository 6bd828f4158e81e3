"""What is never stored, never shown and never reached: keys, hidden characters, the network of a replay."""
