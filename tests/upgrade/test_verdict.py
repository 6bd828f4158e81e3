"""From components to one verdict: which word, what it says, and how often it errs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import permutations

import numpy as np
import pytest

from recuse.gates import Gates, decide
from recuse.gates.baseline_changes import limit_changes
from recuse.gates.baseline_file import stated, with_former
from recuse.gates.records import Evidence, changes_of
from recuse.gates.upgrade_verdict import UpgradeVerdict, decide_upgrade, not_comparable, without_answers
from recuse.metrics.estimates import estimated, undefined
from recuse.schema import Estimates
from recuse.statistics.distributions import Student
from recuse.upgrade import worst_of

MANY = 8
NAMES = ("today", "next")
FILE = "".join(
    f'[upgrade_{name}]\nwithin = [-1.0, 1.0]\nlevel = 0.9\ntogether = "upgrade"\nreason = "for the test"\n'
    for name in ("agreement", "human_offset", *map(str, range(MANY)))
)


@pytest.fixture
def gates(tmp_path):
    path = tmp_path / "gates.toml"
    path.write_text(FILE, encoding="utf-8")
    return Gates.load(path, date(2026, 1, 1))


def component(name, value, se=0.2, df=99, **more):
    distribution = Student(value, se, df)
    return f"upgrade_{name}", Estimates(
        ("judge",),
        {("next",): estimated(f"upgrade_{name}", value, distribution, n=df + 1, method="drawn", level=0.9, **more)},
    )


def decided(gates, *components):
    return decide_upgrade(gates, components, {"panel": "p"}, names=NAMES, phrase=lambda verdict: "errs more")


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ((0.0, 0.1), "equivalent"),
        ((0.0, 0.9), "undecided"),
        ((0.0, 2.0), "worse"),
        ((0.9, 2.0), "worse"),
    ],
)
def test_the_word(gates, values, word):
    assert decided(gates, *(component(k, value) for k, value in enumerate(values))).word == word


def test_better_takes_every_component_and_a_win(gates):
    won = component("agreement", 0.6, se=0.1)
    assert decided(gates, won, component(0, 0.0)).word == "better"
    assert decided(gates, won, component(0, 0.9)).word == "undecided"
    assert decided(gates, component("agreement", 0.1, se=0.1), component(0, 0.0)).word == "equivalent"
    assert decided(gates, component(1, 0.6, se=0.1), component(0, 0.0)).word == "equivalent"


def test_a_better_agreement_speaks_for_its_parts_that_are_too_close_to_tell(gates):
    won = component("agreement", 0.6, se=0.1)
    assert decided(gates, won, component("human_offset", 0.9)).word == "better"
    assert decided(gates, won, component("human_offset", 1.1)).word == "undecided", "outside its limit, if not surely"
    lacking = Estimates(("judge",), {("next",): undefined("upgrade_human_offset", "nobody rated", method="drawn")})
    assert decided(gates, won, ("upgrade_human_offset", lacking)).word == "undecided"


@pytest.mark.parametrize(
    ("words", "worst"),
    [(("equivalent", "worse"), "worse"), (("undecided", "better"), "undecided"), (("better", "equivalent"), "better"),
     (("not comparable", "different", "undecided"), "not comparable")],
)  # fmt: skip
def test_of_several_places_the_worst_counts(words, worst):
    for order in permutations(words):
        assert worst_of(UpgradeVerdict(word, *NAMES) for word in order).word == worst


def test_what_could_not_be_measured_is_never_passed(gates):
    lacking = Estimates(("judge",), {("next",): undefined("upgrade_1", "nothing shared", method="drawn")})
    found = decided(gates, component(0, 0.0), ("upgrade_1", lacking))
    assert found.word == "undecided"
    assert found.sentence == "Whether next may replace today is undecided: upgrade_1 could not be measured."
    assert decided(gates).word == "undecided"


def test_the_deciding_row_comes_first_and_is_told(gates):
    found = decided(gates, component(0, 0.0), component(1, 1.9), component(2, 2.5))
    assert [row.gate for row in found.rows] == ["upgrade_2", "upgrade_1", "upgrade_0"]
    assert found.sentence == "Do not replace today by next: it errs more, by more than you allow."
    assert found.rows.explain().startswith(found.sentence)
    assert not found.rows


def test_undecided_says_how_many_more_with_the_power_of_every_open_row(gates):
    """Two rows are open; the one that needs more is told."""
    near, far = component(0, 0.8), component(1, 0.9)
    alone = decided(gates, near).more, decided(gates, far).more
    found = decided(gates, near, far)
    assert found.more == max(alone) > min(alone) > 0
    assert f"about {found.more:,} items more would decide" in found.sentence
    remedy = found.rows[0].remedy
    assert found.more == remedy["needed"] - remedy["observed"]
    assert "no feasible number of items decides" in decided(gates, component(0, 0.999)).sentence


def test_what_is_to_be_collected_is_what_the_open_row_counts(gates):
    found = decided(gates, component(0, 0.8, over="clusters", clusters="conversations"))
    assert found.units == "conversations"
    assert f"about {found.more} conversations more would decide" in found.sentence


def test_texts_without_an_answer_leave_open_what_was_settled(gates):
    """As many more are needed as have no answer, or as were needed before; worse stays worse."""
    fine, near, on = (decided(gates, component(0, value)) for value in (0.0, 0.8, 0.999))
    assert fine.sentence.endswith("no difference larger than you allow, in one comparison.")
    found = [without_answers(verdict, 7) for verdict in (fine, near, on)]
    assert [(one.word, one.missing, one.more) for one in found] == [
        ("undecided", 7, 7), ("undecided", 7, near.more), ("undecided", 7, None),
    ]  # fmt: skip
    assert without_answers(near, near.more + 1).more == near.more + 1
    assert without_answers(decided(gates, component(0, 2.0)), 7).word == "worse"


ACCEPTED = """
[[accepted]]
gate = "upgrade_{k}"
subject = {{ panel = "p" }}
accept = {{ outcome = ["fail", "undecided"] }}
until = {until}
reason = "r"
"""


@pytest.mark.parametrize(
    ("accepted", "word", "cause"),
    [({}, "do not merge", "next errs more"),
     ({0: 2027}, "do not merge", "next errs more"),
     ({0: 2025}, "do not merge", "next errs more"),
     ({0: 2025, 1: 2027}, "decide", "accepted failure expired on 2025-05-01: next errs more; "
      "nothing in this change caused it"),
     ({0: 2025, 1: 2027, 2: 2025}, "decide", "accepted failure expired on 2025-05-01: next errs more; "
      "nothing in this change caused it"),
     ({0: 2028, 1: 2027, 2: 2025}, "decide", "next errs more (accepted until 2027-05-01); upgrade_2 is undecided"),
     ({0: 2028, 1: 2027}, "decide", "next errs more (accepted until 2027-05-01); upgrade_2 is undecided"),
     ({0: 2028, 1: 2027, 2: 2027}, "merge", "next errs more (accepted until 2027-05-01)")],
)  # fmt: skip
def test_an_upgrade_is_accepted_where_all_that_fails_is(tmp_path, accepted, word, cause):
    """Until the first of the days; what is open beside it, and is not accepted, is for a person to decide."""
    components = [component(0, 2.0), component(1, 2.1), component(2, 0.9), component(3, 0.0)]
    tables = [ACCEPTED.format(k=k, until=f"{year}-05-01") for k, year in accepted.items()]
    (tmp_path / "gates.toml").write_text(FILE + "".join(tables), encoding="utf-8")
    found = decided(Gates.load(tmp_path / "gates.toml", date(2026, 1, 1)), *components)
    assert found.word == "worse", "whatever is accepted"
    over = 2025 in (accepted.get(0), accepted.get(1))
    assert ("; accepted until 2027-05-01" in found.sentence) == (word != "do not merge" and not over)
    assert ("; its acceptance expired on 2025-05-01" in found.sentence) == (word != "do not merge" and over)
    [change] = changes_of({"verdicts": [], "upgrades": [found.record()], "objections": []})
    assert (change.word, change.cause) == (word, cause)


@pytest.mark.parametrize("value", [2.0, 0.9])
def test_the_sentence_is_of_the_first_that_nobody_accepted(tmp_path, value):
    """What is accepted keeps its part in the word, and stands behind what a person has to look at."""
    (tmp_path / "gates.toml").write_text(FILE + ACCEPTED.format(k=0, until="2027-05-01"), encoding="utf-8")
    gates = Gates.load(tmp_path / "gates.toml", date(2026, 1, 1))
    components = [component(k, value + k / 100 * (value > 1)) for k in range(3)]
    found = decide_upgrade(gates, components, {"panel": "p"}, names=NAMES, phrase=lambda row: f"moves {row.gate}")
    assert found.word == ("worse" if value > 1 else "undecided")
    assert found.rows[0].gate in ("upgrade_1", "upgrade_2")
    assert "upgrade_0" not in found.sentence
    assert found.rows[0].gate in found.sentence
    assert not found.accepted


def test_what_only_differs_and_is_not_accepted_leaves_the_word_what_the_numbers_say(tmp_path):
    """Accepted is that people find it worse: it is still worse, and no sentence says that nobody knows."""
    shift = FILE.replace("upgrade_1]", "upgrade_shift]")
    (tmp_path / "gates.toml").write_text(shift + ACCEPTED.format(k=0, until="2027-05-01"), encoding="utf-8")
    found = decided(Gates.load(tmp_path / "gates.toml", date(2026, 1, 1)), component(0, 2.0), component("shift", 2.0))
    assert (found.word, found.rows[0].gate) == ("worse", "upgrade_shift")
    assert found.sentence == "Do not replace today by next: it errs more, by more than you allow."


def test_what_the_base_did_not_accept_never_expired(tmp_path):
    """Who brings an accepted failure with a day in the past accepts nothing."""
    file = tmp_path / "gates.toml"
    file.write_text(FILE, encoding="utf-8")
    without = Gates.load(file, date(2026, 1, 1))
    file.write_text(FILE + ACCEPTED.format(k=0, until="2025-05-01"), encoding="utf-8")
    gates = Gates.load(file, date(2026, 1, 1))
    for former, word in ((without, "do not merge"), (gates, "decide")):
        found = decided(replace(gates, former=former), component(0, 2.0))
        [change] = changes_of({"verdicts": [], "upgrades": [found.record()], "objections": []})
        assert change.word == word


def test_a_doubt_that_is_accepted_asks_nobody(tmp_path):
    (tmp_path / "gates.toml").write_text(FILE + ACCEPTED.format(k=0, until="2027-05-01"), encoding="utf-8")
    gates = Gates.load(tmp_path / "gates.toml", date(2026, 1, 1))
    [doubt] = changes_of({"verdicts": [], "upgrades": [decided(gates, component(0, 0.9)).record()], "objections": []})
    assert (doubt.word, doubt.cause) == (
        "merge", "whether next may replace today is undecided (accepted until 2027-05-01)"
    )  # fmt: skip
    assert not without_answers(decided(gates, component(0, 0.9)), 7).accepted, "that answers are missing is not"
    known, refused = decided(gates, component(0, 2.0)), decided(gates, component(1, 2.0))
    assert worst_of([known, refused]) is worst_of([refused, known]) is refused


def test_the_next_step_of_what_may_be_merged_can_be_followed(gates):
    """A judge that is removed takes with it what its candidate names; one changed in place was compared already."""
    candidate = decided(gates, component(0, 0.0)).record()
    same = {"judge": "today", "panel": "p", "kind": "model", "was": "a", "is": "b", "cause": "", "steps": []}
    results = {"verdicts": [], "upgrades": [candidate], "objections": []}
    rows = [{**same, "word": word} for word in ("better", "equivalent", "decide")]
    assert [(change.word, change.next) for change in changes_of({**results, "in_place": rows})] == [
        ("merge", "remove today and the line replaces of next, and write a new baseline"),
        ("merge", ""), ("merge", ""), ("decide", "declare it (replaces = ...) and record both"),
    ]  # fmt: skip
    brought = {"kind": "recording", "what": "next is recorded", "cause": "next is recorded: 80 new replies", "word":
               "merge", "before": None, "after": None, "place": {"panel": "p", "judge": "next"}}  # fmt: skip
    found = tuple(changes_of({**results, "changed": [brought]}))
    nobody = Evidence(
        panels=(), due=(), uses={}, conditions=frozenset(), peers=frozenset(), verdicts=(), changes=found
    )  # fmt: skip
    assert decide(nobody).cause == "next may replace today: no difference larger than you allow"


def test_a_limit_that_was_widened_says_what_an_upgrade_was_without(gates, tmp_path):
    """Component by component; of one that the baseline did not decide nothing is known."""
    new = FILE.partition("\n[")[0].replace("[upgrade_agreement]", "[upgrade_new]")
    (tmp_path / "wide.toml").write_text(f"{FILE.replace('1.0', '9.0')}{new}\n", encoding="utf-8")
    now = with_former(Gates.load(tmp_path / "wide.toml", date(2026, 1, 1)), stated(gates))
    found = decided(now, component("new", 0.0), component(0, 2.0), component(1, 0.9), component(2, 0.0))
    assert found.word == "equivalent"
    assert {row.gate.removeprefix("upgrade_"): row.formerly for row in found.rows} == {
        "new": None, "0": "fail", "1": "undecided", "2": "pass",
    }  # fmt: skip
    changes = limit_changes(gates, now, [row.record() for row in found.rows])
    assert {row["gate"]: row["consequence"] for row in changes}["upgrade_0"] == "next fails"


def test_not_comparable_says_why():
    found = not_comparable(NAMES, ("not the same texts",), ("model",))
    assert (found.word, found.exit_code, found.outcome) == ("not comparable", 3, "not measured")
    assert found.sentence == "today and next cannot be compared: not the same texts."


def test_a_gate_that_is_decided_alone_is_refused(gates, tmp_path):
    path = tmp_path / "other.toml"
    path.write_text(FILE.replace('together = "upgrade"\n', "", 1), encoding="utf-8")
    other = Gates.load(path, date(2026, 1, 1))
    with pytest.raises(Exception, match='add together = "upgrade"'):
        decided(other, component("agreement", 0.0))


def drawn(gates, rng, truths, times=400):
    """Words of upgrades whose components are drawn around their true values."""
    return [
        decided(gates, *(component(k, rng.normal(x, 0.2)) for k, x in enumerate(truths))).word for _ in range(times)
    ]


@pytest.mark.slow
def test_one_component_on_its_margin_is_adopted_at_most_once_in_twenty(gates):
    """The intersection-union test needs no correction: seven components that are in order do not make the eighth
    pass."""
    words = drawn(gates, np.random.default_rng(1), [1.0] + [0.0] * (MANY - 1))
    assert words.count("equivalent") / len(words) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(words))


@pytest.mark.slow
def test_components_on_their_margins_are_called_worse_at_most_once_in_twenty(gates):
    """Eight chances to be called worse, none of them deserved: without Holm a third of the candidates would be."""
    words = drawn(gates, np.random.default_rng(2), [1.0] * MANY)
    assert words.count("worse") / len(words) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(words))
