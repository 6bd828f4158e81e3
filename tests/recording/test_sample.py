"""A sample that is asked again: whoever made a recording up is found, and whose own it is is not accused."""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hosted_panel import load, opened, plans, record
from misbehaving import Server

from recuse.recording import sample
from recuse.recording.panel_recording import Recorder
from recuse.recording.sample import ALPHA, chance_of_as_much, least_chance, sample_again

PROMPTS = 20


def reading(value, criterion="helpful", item=""):
    score = value if isinstance(value, float) else None
    response = value if isinstance(value, str) and value != "refused" else None
    return {("desk", "rubric", criterion, item, ""): (score, response, "refused" if value == "refused" else "ok")}


def units(seed, alone, together, repeats=2):
    """What `alone` and `together` say to each prompt, functions of what a text is worth and of chance."""
    chance = random.Random(seed)
    worth = [chance.uniform(2, 8) for _ in range(PROMPTS)]
    return [[reading(alone(w, chance)), *(reading(together(w, chance)) for _ in range(repeats))] for w in worth]


def scores(worth, chance):
    return round(worth + chance.gauss(0, 0.3), 1)


def answers(worth, chance):
    return "A" if worth + chance.gauss(0, 1) > 5 else "B"


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("judge", [scores, answers], ids=["scores", "answers"])
@pytest.mark.parametrize("repeats", [2, 4])
def test_a_judge_that_is_asked_on_another_day_is_seldom_accused(judge, repeats, monkeypatch):
    """At two per cent at most two of a hundred, within three standard errors."""
    monkeypatch.setattr(sample, "PERMUTATIONS", 1999)
    accused = sum(chance_of_as_much(units(seed, judge, judge, repeats)) < 2 * ALPHA for seed in range(100))
    assert accused <= 2 + 3 * (100 * 0.02 * 0.98) ** 0.5


@pytest.mark.parametrize(
    ("made_up", "judge"),
    [
        (lambda worth, chance: scores(worth - 0.5, chance), scores),
        (lambda worth, chance: round(worth, 1), lambda worth, chance: scores(worth + chance.choice([-2, 2]), chance)),
        (lambda worth, chance: "A", answers),
        (lambda worth, chance: worth, lambda worth, chance: "refused"),
    ],
    ids=["half a point below", "without its noise", "always A", "what it refuses"],
)  # fmt: skip
def test_replies_that_somebody_made_up_are_found(made_up, judge):
    assert chance_of_as_much(units(1, judge, made_up)) < ALPHA / 5


def test_of_a_prompt_that_was_asked_once_the_new_replies_show_the_noise():
    """A recording that is right more often than its judge: neither its mean nor its share of As gives it away."""
    assert chance_of_as_much(units(1, answers, answers)) > ALPHA
    right = units(1, lambda worth, chance: "A" if worth > 5 else "B", lambda worth, chance: chance.choice("AB"))
    assert chance_of_as_much(right) > ALPHA, "coins are as far from each other as from what is right"
    steady = units(1, lambda worth, chance: "A" if worth > 5 else "B", lambda worth, chance: "B")
    assert chance_of_as_much(steady) < ALPHA / 5


def test_two_scores_lie_their_share_of_the_widest_apart_and_anything_else_0_or_1():
    def apart(a, b):
        return sample._distance(a, b, {("desk", "rubric", "helpful"): 4.0})

    assert apart(reading(3.0), reading(5.0)) == 0.5
    for one, other, distance in (("A", "A", 0), ("A", "B", 1), ("refused", "refused", 0), ("refused", 3.0, 1)):
        assert apart(reading(one), reading(other)) == distance
    assert apart(reading("A"), reading("A") | reading("B", "true")) == 0.5, "what only one says counts as apart"


def test_it_does_not_depend_on_the_unit_of_a_scale():
    small = units(2, scores, lambda worth, chance: scores(worth - 0.2, chance))
    big = [[{key: (10 * score, *rest) for key, (score, *rest) in one.items()} for one in unit] for unit in small]
    assert chance_of_as_much(small) == pytest.approx(chance_of_as_much(big))


# --------------------------------------------------------------------------- no word of sameness without a ground


@pytest.mark.parametrize(("prompts", "repeats"), [(1, 2), (4, 2), (5, 2), (2, 3), (3, 3), (4, 3)])
def test_the_least_chance_is_that_of_replies_that_are_nothing_like_the_recording(prompts, repeats):
    recorded, refused = [reading(3.0)] * repeats, reading("refused")
    assert chance_of_as_much([[refused, *recorded]] * prompts) == pytest.approx(
        least_chance([[refused, *recorded]] * prompts), rel=0.2
    )


def sampled(root, replies, prompts=5, conditions=1):
    """Rows and news of a sample of prompts that were asked once each; `replies`: how the servers of the judges behave,
    in turn."""
    with ExitStack() as running:
        panel = load(root.parent, "http://localhost", settings="free = true", judges=list(replies), concurrency=1)
        servers = {name: running.enter_context(Server()) for name in replies}
        for name, server in servers.items():
            server.script["", -1] = replies[name]
        judges = {name: replace(panel.judges[name], base_url=server.url) for name, server in servers.items()}
        panel = replace(panel, judges=judges)
        [plan] = plans(panel, repeats=1, protocols=["rubric"])
        texts = list(dict.fromkeys(item for _, item, _ in plan.items))[:prompts]
        items = {key: item for key, item in plan.items.items() if key[1] in texts}
        plan = replace(plan, items=items, factors={"condition": ("anonymized", "attributed")[:conditions]})
        record(root, panel, [plan])
        said = []
        recorder = Recorder(panel, opened(root, panel, [plan]), root.parent, root.parent, say=said.append)
        return sample_again(recorder, recorder.library, [plan]), "\n".join(said)


@pytest.mark.parametrize(("prompts", "word"), [(4, "decide"), (5, "merge")])
def test_so_few_prompts_that_nobody_could_be_found_are_no_ground_to_merge(root, prompts, word):
    [row], _ = sampled(root, {"ann": ["refusal"]}, prompts)
    assert (row["word"], row["red"]) == (word, word != "merge")
    assert (f"{prompts} prompts are too few to tell its replies" in row["cause"]) == (word == "decide")


def test_a_judge_that_answered_some_of_what_it_was_asked_is_not_taken_for_the_same(root):
    """Nine of the ten prompts would do, were they all that was asked."""
    [row], said = sampled(root, {"ann": ["refusal"] * 28 + ["404"]}, conditions=2)
    assert (row["word"], row["red"]) == ("decide", True)
    assert "answered only 9 of 10 prompts: " in row["cause"]
    assert "HTTP 404" in row["cause"]
    assert "the same command goes on" not in said, "nothing of a sample is kept"


def test_each_judge_is_named_with_a_reason_of_its_own(root):
    rows, _ = sampled(root, {"ann": ["refusal"] * 5 + ["401"], "bob": ["refusal"] * 5 + ["404"]})
    for row, own, other in zip(rows, ("HTTP 401", "HTTP 404"), ("HTTP 404", "HTTP 401"), strict=True):
        assert own in row["cause"]
        assert other not in row["cause"]
