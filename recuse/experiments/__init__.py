"""Simulations with a known truth: what gates and measures do where the answer is known beforehand."""
