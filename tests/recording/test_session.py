"""One recording of a panel: one budget for all its protocols, and an end when the bill or the replies say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hosted_panel import PROTOCOLS, load, opened, plans, record
from misbehaving import Server

from recuse.elicitation.plan import Plan
from recuse.recording.panel_recording import Recorder
from recuse.recording.progress import IncompleteRecordingError, RecordingReport
from recuse.schema import Call, RawResponse, RecuseError

PRICE = "price = { input_usd_per_mtok = 1.0, output_usd_per_mtok = 100.0 }"


def everything_reads(call: Call, response: RawResponse) -> None:
    return None


def test_stored_replies_that_are_none_are_named_and_asked_again(
    root: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = load(root.parent, server.url, settings="free = true")
    planned = plans(panel, repeats=1)
    server.default = "no choice"
    with monkeypatch.context() as earlier:  # a version that stored them
        earlier.setattr("recuse.cassettes.matching.no_reply", lambda payload: "")
        record(root, panel, planned, readable=everything_reads)
    first, server.default = server.requests, "ok"
    said = "\n".join(record(root, panel, planned, readable=everything_reads))
    assert f"{first} stored answers are no reply of the model and are asked again: the body holds no reply" in said
    assert server.requests == 2 * first
    assert "no reply" not in "\n".join(record(root, panel, planned, readable=everything_reads))


# --------------------------------------------------------------------------- the budget


def test_the_budget_is_that_of_all_protocols_together_and_asked_before_the_first_call(
    root: Path, server: Server
) -> None:
    """Each protocol alone is within the budget; the three together are not."""
    panel = load(root.parent, server.url, settings="budget_usd = 4.5", more=PRICE)
    planned = plans(panel)
    alone = []
    for each in planned:
        with pytest.raises(RecuseError) as told:
            record(root, load(root.parent, server.url, settings="budget_usd = 0", more=PRICE), [each])
        alone.append(float(str(told.value).split("it may cost $")[1].split(",")[0]))
    assert max(alone) < 4.5 < sum(alone)
    with pytest.raises(RecuseError, match=r"it may cost \$(\d+\.\d\d), the budget is \$4\.50") as together:
        record(root, panel, planned, readable=everything_reads)
    told = float(str(together.value).split("it may cost $")[1].split(",")[0])
    assert told == pytest.approx(sum(alone), abs=0.02)  # each is told to the cent
    assert server.requests == 0


def test_it_is_said_once_what_all_of_it_will_cost(root: Path, server: Server) -> None:
    panel = load(root.parent, server.url, settings="free = true")
    planned = plans(panel, repeats=1)
    said = record(root, panel, planned, readable=everything_reads)
    total = sum(len(each.calls) for each in planned)
    assert len(planned) == len(PROTOCOLS) == 3
    assert [line for line in said if "to record" in line] == [said[0]]
    assert f"ann: {total} calls, about" in said[0]
    assert f"recorded {total} of {total} missing answers" in said[-1]
    assert opened(root, panel, planned, mode="replay").coverage().complete


def test_a_proxy_on_this_machine_is_not_taken_for_free(root: Path, server: Server) -> None:
    panel = load(root.parent, server.url)
    with pytest.raises(RecuseError, match="no price is known for ann"):
        record(root, panel, plans(panel))
    assert server.requests == 0


def test_recording_stops_when_the_bill_exceeds_what_was_allowed(root: Path, server: Server) -> None:
    """The provider counts a million tokens in every answer, which nothing in the requests foretold."""
    server.usage = {"prompt_tokens": 10, "completion_tokens": 1_000_000}
    panel = load(root.parent, server.url, settings="budget_usd = 150", more=PRICE, concurrency=1)
    with pytest.raises(IncompleteRecordingError, match=r"\$200\.00 are spent, more than the \$150\.00"):
        record(root, panel, plans(panel), readable=everything_reads)
    assert server.requests == 2
    assert opened(root, panel, plans(panel), mode="replay").coverage().present == 2


def test_the_bill_that_ended_a_recording_holds_what_was_on_its_way(root: Path, server: Server) -> None:
    server.usage, server.delay = {"prompt_tokens": 10, "completion_tokens": 1_000_000}, 0.3
    panel = load(root.parent, server.url, settings="budget_usd = 150", more=PRICE)
    with pytest.raises(IncompleteRecordingError) as told:
        record(root, panel, plans(panel), readable=everything_reads)
    dollars = f"${100 * server.requests:.2f}"
    assert server.requests > 2
    assert f"stopped early: {dollars} are spent, more than the $150.00" in str(told.value)
    assert f", {dollars} spent" in str(told.value)


def test_what_was_spent_stands_beside_what_was_expected(
    root: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    panel = load(root.parent, server.url, settings="budget_usd = 50", more=PRICE)
    planned = plans(panel, repeats=1)
    said = record(root, panel, planned, readable=everything_reads)
    total = sum(len(each.calls) for each in planned)
    spent = total * (1000 * 1.0 + 100 * 100.0) / 1e6
    assert f"${spent:,.2f} of at most $" in capsys.readouterr().err.splitlines()[-1]
    assert f"${spent:,.2f} spent" in said[-1]


# --------------------------------------------------------------------------- what failed


def test_a_failed_call_says_whose_it_is_what_came_back_and_how_many_more_there_are(root: Path, server: Server) -> None:
    """Eighteen reasons, of which twelve are told, the commonest first."""
    panel = load(root.parent, server.url, settings="free = true")
    calls = plans(panel)[0].calls[:20]
    whys = [f"reason {min(n, 17)}" for n in range(len(calls))]
    text = RecordingReport(20, 0, failed=tuple(zip(calls, whys, strict=True))).text()
    assert text.startswith("3 calls failed (ann): reason 17\njudge ann, protocol rubric, item ")
    assert text.count(": reason ") == 12
    assert "... and 6 more reasons of 6 calls" in text


def test_a_body_that_is_not_kept_is_quoted(root: Path, server: Server) -> None:
    server.default = "html"
    panel = load(root.parent, server.url, settings="free = true")
    with pytest.raises(IncompleteRecordingError, match=r"\(ann\): the body is not a complete JSON object: “\w+"):
        record(root, panel, plans(panel))


# --------------------------------------------------------------------------- replies that cannot be read


def test_a_form_that_cannot_be_read_costs_five_calls_per_judge_and_protocol(root: Path, server: Server) -> None:
    """The server's replies are no ratings. Concurrency is far above five, and yet no more than five go out."""
    panel = load(root.parent, server.url, settings="free = true", concurrency=64)
    planned = plans(panel, repeats=6)
    with pytest.raises(IncompleteRecordingError) as told:
        record(root, panel, planned)
    assert server.requests == 5 * len(planned)
    text = str(told.value)
    for each in planned:
        assert f"judge ann, merchant_risk/{each.protocol}: 5 of the first 5 replies cannot be read" in text
    assert "(5x)" in text  # reasons with their counts
    assert "One of them begins: " in text
    assert "naïve café" in text  # an excerpt of what the judge said


def test_trying_again_pays_for_no_further_reply_in_a_form_that_cannot_be_read(root: Path, server: Server) -> None:
    panel = load(root.parent, server.url, settings="free = true")
    planned = plans(panel, repeats=4, protocols=["rubric"])
    for _ in range(2):
        with pytest.raises(IncompleteRecordingError, match="5 of the first 5 replies cannot be read"):
            record(root, panel, planned)
    assert server.requests == 5


def test_eight_of_the_first_ten_are_too_many_and_other_protocols_go_on(root: Path, server: Server) -> None:
    panel = load(root.parent, server.url, settings="free = true", concurrency=16)
    planned = plans(panel, repeats=4, protocols=PROTOCOLS[:2])
    seen: list[str] = []

    def two_of_ten(call: Call, response: RawResponse) -> tuple[str, str] | None:
        if call.protocol != "rubric":
            return None
        seen.append(call.item)
        return None if len(seen) in (1, 6) else ("no total", "words")

    with pytest.raises(IncompleteRecordingError, match=r"8 of the first 10 replies cannot be read.*no total \(8x\)"):
        record(root, panel, planned, readable=two_of_ten)
    library = opened(root, panel, planned, mode="replay")
    assert sum(library.has(call) for call in planned[0].calls) == 10
    assert all(library.has(call) for call in planned[1].calls)


def test_where_the_server_alone_was_mended_it_is_said_what_asks_it_anew(root: Path, server: Server) -> None:
    panel = load(root.parent, server.url, settings="free = true")
    [plan] = plans(panel, repeats=1, protocols=["rubric"])
    with pytest.raises(IncompleteRecordingError):
        record(root, panel, [plan])
    server.default, asked = "refusal", server.requests
    with pytest.raises(IncompleteRecordingError, match="where only the server was mended, --record=all asks"):
        record(root, panel, [plan])
    assert server.requests == asked, "what cannot be read is in the recording still"
    Recorder(panel, opened(root, panel, [plan], "all"), root.parent, root.parent).record([plan])
    assert server.requests == asked + len(plan.calls)


def test_a_few_unreadable_replies_stop_nothing(root: Path, server: Server) -> None:
    panel = load(root.parent, server.url, settings="free = true", concurrency=16)
    planned = plans(panel, repeats=2, protocols=["rubric"])
    seen: list[str] = []

    def seven_of_ten(call: Call, response: RawResponse) -> tuple[str, str] | None:
        seen.append(call.item)
        return ("no total", "words") if len(seen) not in (5, 8, 9) else None

    record(root, panel, planned, readable=seven_of_ten)
    assert len(seen) == 9  # three of nine can be read: eight of ten can no longer fail
    assert server.requests == len(planned[0].calls)


def test_a_refusal_is_an_answer_that_can_be_read(root: Path, server: Server) -> None:
    server.default = "refusal"
    panel = load(root.parent, server.url, settings="free = true")
    planned = plans(panel, repeats=2, protocols=["rubric"])
    record(root, panel, planned)
    assert server.requests == len(planned[0].calls)


def test_an_excerpt_shows_no_key_and_moves_no_cursor(root: Path, server: Server) -> None:
    server.padding = "\x1b[2J\u202e"
    panel = load(root.parent, server.url, settings="free = true")
    with pytest.raises(IncompleteRecordingError) as told:
        record(root, panel, plans(panel, protocols=["rubric"]))
    assert "\x1b" not in str(told.value)
    assert "\u202e" not in str(told.value)
    assert "⟦U+001B⟧[2J⟦U+202E⟧" in str(told.value)


# --------------------------------------------------------------------------- going on


def test_how_much_is_kept_of_an_interrupted_recording_anew_is_said(root: Path, server: Server) -> None:
    panel = load(root.parent, server.url, settings="free = true", concurrency=1)
    planned = plans(panel, repeats=1, protocols=["rubric"])
    server.usage = {}
    server.script["", -1] = [*["ok"] * 4, *["400"] * 100]
    said: list[str] = []
    for attempt in ("stopped", "complete"):
        library = opened(root, panel, planned, mode="all")
        recorder = Recorder(panel, library, root.parent, root.parent, say=said.append)
        try:
            recorder.record(planned, readable=everything_reads)
        except IncompleteRecordingError:
            assert attempt == "stopped"
            server.script["", -1] = ["ok"]
    assert [line for line in said if "going on with a recording anew" in line] == [
        "hosted: going on with a recording anew that was interrupted; 4 of 10 answers are from then "
        "(delete the files ending in .new to ask for all of them)"
    ]


def test_it_is_said_where_all_that_is_wanted_is_from_then(root: Path, server: Server) -> None:
    """Two judges, of whom one failed: the other's replies are put in place without asking it again."""
    panel = load(root.parent, server.url, settings="free = true", judges=("ann", "bob"))
    said: list[str] = []

    def recorded(wanted: Plan) -> None:
        recorder = Recorder(panel, opened(root, panel, [wanted], "all"), root.parent, root.parent, say=said.append)
        recorder.record([wanted], readable=everything_reads)

    with Server() as of_bob:
        panel = replace(panel, judges=panel.judges | {"bob": replace(panel.judges["bob"], base_url=of_bob.url)})
        [plan] = plans(panel, repeats=1, protocols=["rubric"])
        recorded(plan)
        of_bob.default = "400"
        with pytest.raises(IncompleteRecordingError):
            recorded(plan)
    said.clear()
    recorded(plan.without({"bob"}))
    assert said == [
        "hosted: going on with a recording anew that was interrupted; 10 of 10 answers are from then "
        "(use --record=all once more to ask for all of them)"
    ]
