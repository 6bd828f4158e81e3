"""Simulations whose truth is known: what a method does before anyone relies on it."""
