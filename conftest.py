"""This repository's own wiring: none. What judges are compared with stands in each task.toml.

Fixtures of your own for evals/ belong here.
"""
