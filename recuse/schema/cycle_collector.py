"""Python's cycle collector, paused where very many objects are made that form no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 50_000


@contextmanager
def paused_cycle_collector() -> Iterator[None]:
    """A context, or a decorator. The collector looks through all living objects again and again while they grow in
    number, for cycles that a plan of calls, an index and a table do not have. What is no longer
    used is freed at once all the same, by its reference count."""
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()


def spare_the_cycle_collector() -> None:
    """For the rest of the process: what is there now, such as all that was imported, stays until the end and is not
    looked through again; of new objects OBJECTS come together before the collector looks for cycles among them, instead
    of 700: ratings and what was measured on them stay as well."""
    gc.freeze()
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
