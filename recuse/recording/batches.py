"""One recording of a panel by batch: what is missing goes out as files, comes back within a day, and may be left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from recuse.batch.recording import PRICE, Batches, BatchReport
from recuse.elicitation.plan import Plan
from recuse.judges.client import keys_from_environment
from recuse.recording.panel_recording import Chains, Recorder
from recuse.recording.progress import IncompleteRecordingError, StopSignals, spent_text
from recuse.schema import RecuseError


def record_batches(recorder: Recorder, plans: Sequence[Plan], *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Return when every call of the plans is on disk; each plan must have been given to `Library.expect` before.

    Submits all protocols at once, then waits. A process that is ended while it waits loses nothing: the same plans take
    up what is under way, and only what is neither recorded nor under way is charged to the budget and submitted.

    Raises `BudgetError` before anything is submitted, `IncompleteRecordingError` if a call failed or ran out of time
    twice, or if the bill exceeds what was allowed (what is under way is then cancelled), and `RecordingInterrupted` (a
    KeyboardInterrupt) after SIGINT or SIGTERM.
    """
    panel, library = recorder.panel, recorder.library
    if panel.stand_in is not None:
        raise RecuseError(f"{panel.path}: stand-ins answer at once; record this panel with --record=missing")
    with library.use(), StopSignals().installed():
        chains = Chains(panel, library, plans)
        missing = [call for call in chains.calls() if not library.has(call)]
        if not missing:
            return
        expected = [call for call in chains.expected() if not library.has(call)]
        judges = chains.judges(expected)
        spending = recorder.spending(expected, judges, share=PRICE)  # also of what is under way

        def spent() -> str:
            return spent_text(spending.spent, spending.expected, before="; ")

        batches = Batches(
            library, judges, keys_from_environment(judges), say=lambda line: recorder.say(f"{line}{spent()}"),
            must_stop=lambda: spending.exceeded, stored=spending.add,
        )  # fmt: skip
        if others := batches.others(chains.calls()):
            recorder.say(others)
        if unsubmitted := batches.unsubmitted(chains.expected()):
            recorder.allow(unsubmitted, judges, share=PRICE, how=", by batch at half the price")
        report = BatchReport()
        while missing and not report.stopped:  # once, unless replies open up further calls
            report += batches.wait(missing, sleep=sleep)
            tried = set(missing)
            missing = [call for call in chains.calls() if not library.has(call) and call not in tried]
        missing = [call for call in chains.calls() if not library.has(call)]
    recorder.say(f"{report.text()}{spent()}")
    if missing:
        rest = f"not recorded: {len(missing)}; what came back is on disk, the same command asks the rest anew"
        raise IncompleteRecordingError(f"{report.text()}\n{rest}")
