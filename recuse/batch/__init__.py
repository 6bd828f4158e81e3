"""Recording by batch: the missing calls go to the provider as files, for half the price, and come back within a day.

    batches = Batches(panel, judges, keys, answers, state=Path("cassettes/.batches/panel.json"))
    batches.submit(calls)              # what is neither recorded nor under way
    report = batches.wait(calls)       # polls and stores until nothing is under way; may be left at any moment
    report = batches.collect(calls)    # or: stores what has come back, without waiting

Answers are stored in the same cassettes under the same keys as if they had been asked one by one. What is under way
is in the state file, so another process can take it up: no call is submitted twice while its batch runs.
One batch interface per file; each is a module with

    MOST_REQUESTS, MOST_BYTES                       what one batch may hold
    line(number, call) -> bytes                     one request as it stands in the file
    submit(web, lines, tag) -> str                  the new batch's identifier
    progress(web, batch) -> Progress                how far it is
    results(web, progress) -> Iterator[Result]      what came back, in any order
    cancel(web, batch) -> None                      ask for no further answer of a batch
    find(web, tag, size, known) -> str | None       a batch whose submission was cut off before its identifier arrived
"""

from __future__ import annotations

from recuse.batch.interface import BATCHES, Lost, Progress, Result, batch_interface
from recuse.batch.recording import PRICE, AnswerStore, Batches, BatchReport
from recuse.batch.web import BatchError, Web

__all__ = [
    "BATCHES",
    "PRICE",
    "AnswerStore",
    "BatchError",
    "BatchReport",
    "Batches",
    "Lost",
    "Progress",
    "Result",
    "Web",
    "batch_interface",
]
