"""What a panel's judges are used for: as stated, or the first use of the file that their ratings offer."""

from __future__ import annotations

import pytest

from recuse.gates.gate_tables import UseTable, uses_for
from recuse.schema import RecuseError

USES = {
    "choose": UseTable(of=("choices | right_answer",), yardstick=("right",)),
    "grade": UseTable(of=("scores", "people"), yardstick=("ceiling", "offset"), decides=("offset", "unanswered")),
    "estimate": UseTable(yardstick=("bias",)),
}


def test_what_is_stated_counts_whatever_is_offered():
    assert uses_for(["grade", "choose"], [{"choices"}], USES, "p").stated == ("grade", "choose")


def test_a_use_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(
        RecuseError, match=r"p: there is no use 'grad' in the gates file.*It has: choose, grade, estimate"
    ):
        uses_for(["grade", "grad"], [{"scores"}], USES, "p")


def test_otherwise_the_first_use_all_of_whose_needs_one_elicitation_offers():
    assert uses_for(None, [{"scores"}, {"people"}], USES, "p").stated == ()
    assert uses_for(None, [{"scores", "people"}], USES, "p").stated == ("grade",)
    both = uses_for(None, [{"scores", "people"}, {"right_answer"}], USES, "p")
    assert (both.stated, both.further) == (("choose",), ("grade",)), "a use without needs is never taken for granted"


def test_a_study_is_used_for_nothing_and_without_uses_every_gate_counts():
    assert uses_for(["none"], [{"scores", "people"}], USES, "p").stated == ()
    assert uses_for(None, [{"scores"}], {}, "p").stated == uses_for(None, [], {}, "p").stated != ()


def test_the_gates_of_a_use_are_each_counted_once():
    assert USES["grade"].gates == ("ceiling", "offset", "unanswered")
