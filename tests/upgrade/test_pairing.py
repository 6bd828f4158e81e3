"""Which judges can be compared, and what is said of those that cannot."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from recuse import read
from recuse.metrics.upgrade import Upgrade, measure_upgrade
from recuse.ratings import Numeric, Ratings
from recuse.schema import RecuseError

SCORES = [float(k % 9) for k in range(24)]


def ratings(scale=None, skip=0, **judges):
    rows = [(who, f"t{k}", score) for who, texts in judges.items() for k, score in enumerate(texts) if k >= skip]
    return Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "score"]), scales=scale or Numeric(0, 10))


def reasons(before, after, **more):
    return Upgrade(before, "old", after, "new", **more).not_comparable


def test_the_same_texts_on_the_same_scale_are_comparable():
    assert reasons(ratings(old=SCORES), ratings(new=SCORES)) == ()


def test_texts_of_one_judge_alone_do_not_keep_the_others_from_being_compared():
    assert reasons(ratings(old=SCORES), ratings(skip=2, new=SCORES)) == ()


def topics(ratings, *names):
    """The same with a topic told of every text, the names in turn."""
    texts = ratings.table[["item", "target"]].drop_duplicates().reset_index(drop=True)
    return replace(ratings, texts=texts.assign(topic=[names[k % len(names)] for k in range(len(texts))]), _memory={})


def test_a_name_that_stands_for_another_text_is_told():
    """Numbers of rows are the same in any two files."""
    before, after = topics(ratings(old=SCORES), "law"), topics(ratings(new=SCORES), "maths")
    [why] = reasons(before, after)
    assert why.startswith("the same names stand for other texts, item t0 has topic law in one, maths in the other")


def test_a_few_topics_that_were_corrected_keep_nothing_from_being_compared():
    before, after = topics(ratings(old=SCORES), "law"), topics(ratings(new=SCORES), "law", "law", "tax")
    assert reasons(before, after) == ()


def test_another_scale_is_told():
    [why] = reasons(ratings(old=SCORES), ratings(scale=Numeric(0, 100), new=SCORES))
    assert why.startswith("the scale of rating was 0 to 10 and is 0 to 100 (if both mean one scale, say which")


@pytest.mark.parametrize(("named", "words", "why"), [
    ("{:03}", ["fail", "pass"], "they have no text in common: 00 stands in one, 000 in the other (a text has to have"),
    ("{:02}", ["false", "true"], "the scale of rating was fail, pass and is false, true (if they say the same in"),
])  # fmt: skip
def test_other_names_of_texts_and_other_words_for_an_answer_are_told(named, words, why):
    before, after = (
        read(pd.DataFrame({"id": [form.format(k) for k in range(24)], who: given * 12}), judges=who)
        for who, form, given in (("old", "{:02}", ["fail", "pass"]), ("new", named, words))
    )
    [reason] = reasons(before, after)
    assert reason.startswith(why)


@pytest.mark.parametrize(
    ("field", "change", "remedy"),
    [
        ("prompt", "prompt", "if that is the upgrade, declare it: --change prompt"),
        ("rubric", "rubric", "if that is the upgrade, declare it: --change rubric"),
        ("temperature", "sampling", 'declare it: change = ["model", "sampling"], or --change model,sampling'),
        ("repeats", "sampling", 'declare it: change = ["model", "sampling"], or --change model,sampling'),
    ],
)
def test_what_else_was_changed_must_be_declared(field, change, remedy):
    both, settings = (ratings(old=SCORES), ratings(new=SCORES)), ({field: 1}, {field: 2})
    [why] = reasons(*both, settings=settings)
    assert why == f"{field} was 1 and is 2; {remedy}"
    assert reasons(*both, settings=settings, change=("model", change)) == ()


def test_a_scale_cannot_be_declared_away():
    [why] = reasons(ratings(old=SCORES), ratings(new=SCORES), settings=({"scale": "0..10"}, {"scale": "0..5"}))
    assert why == "scale was 0..10 and is 0..5"


def test_one_judge_of_two_files_is_told_apart_by_when():
    upgrade = Upgrade(ratings(old=SCORES), "old", ratings(old=SCORES), "old")
    assert upgrade.shown == ("old before", "old after")
    assert dict(measure_upgrade(upgrade))["upgrade_shift"].of(judge="old").value == 0.0


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("newest", "old"), "there is no judge newest in the ratings; they hold old, new"),
        (("new", "new"), "an upgrade is between two judges; new was named as both"),
    ],
)
def test_unknown_names(names, says):
    with pytest.raises(RecuseError, match=says):
        Upgrade.within(ratings(old=SCORES, new=SCORES), *names)


def test_an_unknown_change_is_refused():
    with pytest.raises(RecuseError, match="an upgrade changes model, prompt, rubric, sampling; got colour"):
        Upgrade(ratings(old=SCORES), "old", ratings(new=SCORES), "new", change=("colour",))


def test_a_pair_that_follows_the_place_is_no_repeat_that_differs():
    """Both always choose the first place, in either order: the same decisions, not one flipped."""
    rows = [(who, f"p{k}", order, "first") for who in ("old", "new") for k in range(40) for order in ("ab", "ba")]
    frame = pd.DataFrame(rows, columns=["judge", "item", "order", "response"])
    texts = pd.DataFrame({"item": [f"p{k}" for k in range(40)], "a": "x", "b": "y"})
    from recuse.ratings.pair_array import CHOICES

    found = dict(measure_upgrade(Upgrade.within(Ratings.of(frame, scales=CHOICES, texts=texts), "old", "new")))
    assert found["upgrade_flips"].of(judge="new").value == 0.0
    assert found["upgrade_position"].of(judge="new").value == 0.0
    assert "upgrade_shift" not in found


def test_a_task_may_name_the_scores_at_which_it_decides(tmp_path):
    """They say nothing to a judge, so naming them makes no recording stale."""
    from recuse.elicitation.plan import rubric_hash
    from recuse.tasks import load_task

    folder = tmp_path / "essays"
    folder.mkdir()
    table = 'name = "essays"\nscale = { minimum = 0, maximum = 10 }\ncriterion = [{ id = "c" }]\n'
    table += 'target = [{ id = "a" }]\n'
    (folder / "task.toml").write_text(table, encoding="utf-8")
    before = load_task(folder)
    (folder / "task.toml").write_text(f"thresholds = [7]\n{table}", encoding="utf-8")
    after = load_task(folder)
    assert (before.thresholds, after.thresholds) == ((), (7.0,))
    assert rubric_hash(before) == rubric_hash(after)


TOLD = {"conversation": [f"c{k // 4}" for k in range(96)], "topic": ["law", "tax"] * 48}


@pytest.mark.parametrize(("before", "after"), [
    ((), ("topic", "conversation")), (("conversation",), ("topic", "conversation")),
    *(pytest.param(*case, marks=pytest.mark.slow("further cases"))
      for case in ((("topic",), ("topic", "conversation")), (("topic", "conversation"), ("conversation", "topic")))),
])  # fmt: skip
def test_what_either_file_tells_of_the_texts_is_known(before, after):
    """Whichever file has the columns: the same texts, slices and clusters."""

    def file(columns, shift):
        scores = {who: [float((k * 7 + by) % 9) for k in range(96)] for who, by in (("judge", shift), ("anna", 0))}
        return read(pd.DataFrame({"id": [f"t{k}" for k in range(96)], **{c: TOLD[c] for c in columns}, **scores}))

    changes = measure_upgrade(Upgrade(file(before, 0), "judge", file(after, 1), "judge"))
    known = {name: next(iter(estimates.values())) for name, estimates in changes}
    assert known["upgrade_agreement"].over == "clusters"
    assert known["upgrade_agreement"].clusters == "conversations"
    assert known["upgrade_slice_agreement"].detail["looks"] == 2
    assert list(known) == list(dict(measure_upgrade(Upgrade(file(after, 0), "judge", file(before, 1), "judge"))))


def test_a_cell_that_is_empty_in_one_is_that_of_the_other():
    """Of what both tell the newer file counts; which responses are right may stand in the newer one alone."""
    before, after = topics(ratings(old=SCORES), "law"), topics(ratings(new=SCORES), "tax", "law", "law")
    after.texts.loc[3, "topic"] = None
    known = Upgrade(before, "old", replace(after, texts=after.texts.assign(gold="x"), _memory={}), "new").both.texts
    assert list(known["topic"]) == ["tax", "law", "law", "law", "law", "law", *["tax", "law", "law"] * 6]
    assert set(known["gold"]) == {"x"}
