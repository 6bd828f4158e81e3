"""This repository's own wiring: none is needed. What customers said stands in the task's [people]."""
