"""`recuse check FILE --next-labels N NEXT`: which texts to label next, and what their labels count for."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recuse as engine
from recuse.check.text_lists import chosen_texts, label_spread, text_groups
from recuse.experiments.simulated_files import Draw, Setting
from recuse.metrics.expert import share_bias
from recuse.metrics.human_ceiling import human_ceiling
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.ratings.answers import COMPARED, answers_of
from recuse.ratings.chosen_labels import GROUP, label_weights
from recuse.schema import RecuseError
from recuse.statistics.clusters import stratified_mean

HERE = Path(__file__).parent
FILE, FILLED = HERE / "three_judges.csv", HERE / "three_judges_next.csv"
WORDS = np.array(["fail", "pass"], dtype=object)


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(path.open(encoding="utf-8-sig")))


@pytest.fixture(scope="module")
def listed(recuse, tmp_path_factory):
    """What the command says of `FILE`, and the list that it writes."""
    path = tmp_path_factory.mktemp("listed") / "next.csv"
    return recuse("check", FILE, "--next-labels", "80", path), path


def test_the_list_names_texts_without_a_label_and_hides_what_the_judge_says(listed):
    found, path = listed
    head, *rows = rows_of(path)
    assert head == ["item", "system", "label_group", "for_judge", "anna", "ben"]
    assert [row[:4] for row in rows] == [row[:4] for row in rows_of(FILLED)[1:]]
    assert not any("".join(row[4:]) for row in rows)
    labelled = {row[0] for row in rows_of(FILE)[1:] if row[-1]}
    assert not labelled & {row[0] for row in rows}
    settles = re.search(r"about (\d+) more labels would settle it, in random order about (\d+)", found.out)
    assert settles
    assert int(settles[1]) <= 0.75 * int(settles[2])


def test_the_list_does_not_depend_on_the_order_of_rows(recuse, listed, tmp_path):
    pd.read_csv(FILE).sample(frac=1, random_state=1).to_csv(tmp_path / "turned.csv", index=False)
    recuse("check", tmp_path / "turned.csv", "--next-labels", "80", tmp_path / "next.csv")
    assert (tmp_path / "next.csv").read_text() == listed[1].read_text()


@pytest.mark.slow("simulations")
def test_filled_in_it_settles_the_word_and_no_measure_counts_all_texts_alike(recuse, listed):
    assert listed[0].first.startswith("judge_large is undecided to decide")
    found = recuse("check", FILE, FILLED, "--all")
    assert "judge_large is cleared to decide" in found.out
    assert "a label counts for the judged texts that it stands for" in found.out
    assert not re.search(r"^  (kappa|percent agreement|Cohen)", found.out, re.M)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[1].__setitem__(4, "maybe"), "line 2, column anna: one of fail, pass is needed; got 'maybe'"),
        (lambda rows: rows[1].__setitem__(0, "9999"), "line 2: three_judges.csv has no judged text '9999'"),
        (lambda rows: rows[1].__setitem__(3, "judge_old"), "chosen for judge_old and judge_large"),
        (lambda rows: [row.__setitem__(slice(4, 6), ["", ""]) for row in rows[1:]], "no label is filled in"),
    ],
)
def test_a_list_that_cannot_be_read_names_place_and_remedy(recuse, tmp_path, change, words):
    rows = rows_of(FILLED)
    change(rows)
    with (tmp_path / "next.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    found = recuse("check", FILE, tmp_path / "next.csv")
    assert found.code == 3
    assert words in found.err


def test_nothing_to_choose_from_is_said(recuse, tmp_path):
    found = recuse("check", HERE / "two_judges_two_people.csv", "--next-labels", "5", tmp_path / "next.csv")
    assert (found.code, "has its labels" in found.err) == (3, True)


def test_a_list_without_its_file_asks_for_it(recuse):
    found = recuse("check", FILLED)
    assert (found.code, f"give their file as well: recuse check FILE {FILLED}" in found.err) == (3, True)


def test_labels_are_read_in_python_as_by_the_command(recuse):
    found = recuse("check", FILLED, FILE, "--all")
    decision = engine.check(engine.read(FILE, FILLED))
    assert decision.sentences == found.out.splitlines()[: len(decision.sentences)]
    assert "judge_large is cleared to decide" in found.out


def test_a_list_that_recuse_wrote_is_no_file_of_ratings(recuse, tmp_path):
    recuse("check", FILE, "--disagreements", tmp_path / "review.csv")
    for own, words in ((tmp_path / "review.csv", "holds your verdicts"), (FILLED, "holds labels; give their file")):
        with pytest.raises(RecuseError, match=words):
            engine.read(own)
        chosen = recuse("choose", own)
        assert (chosen.code, words in chosen.err) == (3, True)


def test_how_many_is_asked_before_anything_is_read(recuse, tmp_path):
    refused = recuse("check", tmp_path / "nothing.csv", "--next-labels", "many", tmp_path / "next.csv")
    words = "--next-labels takes how many texts and a file, as 60 next.csv; got 'many'"
    assert (refused.code, words in refused.err) == (3, True)


def test_one_experts_rates_take_labels_by_lot(recuse, tmp_path):
    """Sensitivity counts every text alike: no group may have more labels than its share."""
    frame = pd.read_csv(FILE).drop(columns=["ben"])
    frame.to_csv(tmp_path / "one.csv", index=False)
    found = recuse("check", tmp_path / "one.csv", "--next-labels", "40", tmp_path / "next.csv")
    assert "by lot among all texts: sensitivity counts every text alike" in found.out
    assert {row[2] for row in rows_of(tmp_path / "next.csv")[1:]} == {""}


def test_scores_are_grouped_by_how_far_other_judges_are():
    """Of a, 60 scores of 8: the other two give 8 as well on the first 30 texts, 2 on the others."""
    given = {"a": [8.0] * 60, "b": [8.0] * 30 + [2.0] * 30, "c": [8.0] * 30 + [2.0] * 30}
    rows = [(who, "judge", f"t{k}", score) for who, scores in given.items() for k, score in enumerate(scores)]
    rows += [("ann", "person", f"t{k}", 8.0) for k in range(2)]
    table = pd.DataFrame(rows, columns=["rater", "kind", "item", "score"])
    part = next(part for _, part in Ratings.of(table, scales=Numeric(0, 10)).each(*COMPARED))
    groups = text_groups(answers_of(part, part), 0)
    near, far = (f"its score is low; other judges are {level} steps away" for level in (0, 1))
    assert groups.tolist() == [near] * 30 + [far] * 30


def test_a_mean_over_groups_by_hand():
    """Group 0 has 3/4 of the texts and values 0, 2, group 1 has 1/4 and values 4, 8: 3/4 + 6/4 = 2.25, and
    variance 9/16 * 2/2 + 1/16 * 8/2 + (3/4 * 1.25^2 + 1/4 * 3.75^2) / 40."""
    groups = np.array([0, 0, 1, 1])
    judged = np.repeat([0, 1], [30, 10])
    everyone = np.ones(40, dtype=bool)
    labelled = np.isin(np.arange(40), [0, 1, 30, 31])
    weights = label_weights(judged, everyone, labelled)
    assert weights.tolist() == [15, 15, 5, 5]
    mean = stratified_mean(np.array([0.0, 2, 4, 8]), groups, weights, np.arange(4))
    assert (mean.value, mean.se**2) == pytest.approx((2.25, 9 / 16 + 1 / 4 + 4.6875 / 40))
    with pytest.raises(RecuseError, match="10 judged texts lie in groups without a label"):
        label_weights(judged, everyone, np.arange(40) < 2)


# --------------------------------------------------------------------------- simulated: fewer labels, the same errors


def labelled_file(seed: int, error: float, labels: int, first: int, texts: int = 1200) -> tuple[Ratings, str]:
    """Ratings with `labels` labelled texts: `first` by lot, the others chosen; 85 % pass, people agree by kappa .6."""
    rng = np.random.default_rng(seed)
    draw = Draw(Setting("pass/fail", 0.6, 2, 0.85, systems=1), texts, rng, lambda gate: 0.1)
    judges = [draw.answers(error)[0], draw.answers(1.0)[0], draw.answers(1.0)[0]]
    return labelled(rng, judges, draw.people, labels, first), "j0"


def labelled(rng: np.random.Generator, judges, people, labels: int, first: int) -> Ratings:
    """Ratings by judges of all texts and by people of `labels`, the first by lot and the others chosen for j0."""
    texts = len(judges[0])

    def ratings(places, known=None):
        items = np.arange(texts).astype(str)
        frames = [
            pd.DataFrame({"rater": f"j{k}", "kind": "judge", "item": items, "response": WORDS[j]})
            for k, j in enumerate(judges)
        ] + [
            pd.DataFrame({"rater": f"p{k}", "kind": "person", "item": places.astype(str), "response": WORDS[p[places]]})
            for k, p in enumerate(people)
        ]  # fmt: skip
        table = pd.concat(frames, ignore_index=True).assign(target="")
        return Ratings.of(table, scales=Ordinal(("fail", "pass")), texts=known)

    places = rng.permutation(texts)[:first]
    if first == labels:
        return ratings(places)
    part = next(part for _, part in ratings(places).each(*COMPARED))
    given = answers_of(part, part)
    names = text_groups(given, given.judges.index("j0"))
    code = np.unique(names.astype(str), return_inverse=True)[1]
    have = given.raters >= 2
    spread = label_spread(given, given.judges.index("j0"), code, have)
    more, _ = chosen_texts(code, spread, given.requested[0], have, labels - first, rng)
    known = pd.DataFrame({"item": given.items, "target": given.targets, GROUP: names})
    return ratings(np.concatenate([places, [int(given.items[k]) for k in more]]), known)


def cleared(error: float, labels: int, first: int, runs: int) -> float:
    """Share of files in which the gates of `decide` pass."""
    words = []
    for seed in range(runs):
        ratings, judge = labelled_file(seed, error, labels, first)
        ceiling = human_ceiling(ratings).of(judge=judge)
        bias = share_bias(ratings, positive="fail").of(judge=judge)
        words.append(ceiling.low > -0.1 and bias.low > -0.1 and bias.high < 0.1)
    return float(np.mean(words))


@pytest.mark.slow("simulations")
def test_chosen_labels_say_what_all_labels_would():
    """Of 240 labels 180 chosen where judges differ: people's share of fails stays where all labels have it, and
    counting them alike would not."""
    every, chosen, alike = [], [], []
    for seed in range(10):
        some = labelled_file(seed, 1.6, 240, 60)[0]
        each = (labelled_file(seed, 1.6, 1200, 1200)[0], some, replace(some, texts=None, _memory={}))
        for shares, ratings in zip((every, chosen, alike), each, strict=True):
            shares.append(share_bias(ratings, positive="fail").of(judge="j0").detail["people"])
    assert np.mean(chosen) == pytest.approx(np.mean(every), abs=0.02)
    assert np.mean(alike) > np.mean(every) + 0.05


@pytest.mark.slow
def test_a_quarter_fewer_labels_reach_the_word():
    """Half a person's error: 150 labels, 90 of them chosen, clear at least as often as 200 by lot."""
    by_lot, chosen = cleared(0.5, 200, 200, 150), cleared(0.5, 150, 60, 150)
    assert chosen >= by_lot - 0.03
    assert by_lot > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("labels", [150, 300])
def test_a_judge_at_the_limit_is_cleared_no_more_often(labels):
    """1.635 times a person's error lies at the limit of -0.1: cleared in one file of 40."""
    assert cleared(1.635, labels, 60, 300) <= 0.025 + 2.5 * (0.025 * 0.975 / 300) ** 0.5


@pytest.mark.slow
def test_how_many_texts_a_group_has_is_a_sample_as_well():
    """A judge that passes a tenth too many, beside two good ones, 300 texts: cleared in one file of 40 at most, and in
    one of eight where the groups' shares of texts counted as known."""
    rng, passed = np.random.default_rng(4), []
    for _ in range(300):
        truth = rng.random(300) < 0.6
        judges = [truth | (rng.random(300) < 0.25), *(truth ^ (rng.random((2, 300)) < 0.1))]
        ratings = labelled(rng, [judge.astype(int) for judge in judges], [truth.astype(int)] * 2, 200, 60)
        bias = share_bias(ratings, positive="pass").of(judge="j0")
        passed.append(bias.low >= -0.1 and bias.high <= 0.1)
    assert np.mean(passed) <= 0.025 + 2.5 * (0.025 * 0.975 / 300) ** 0.5


def test_beside_right_answers_these_and_one_persons_are_asked_for(recuse, tmp_path):
    """Two people rated more texts than have a right answer; their labels alone would settle nothing."""
    right, rng = np.array(["pass", "fail"] * 75), np.random.default_rng(2)
    noisy = {name: np.where(rng.random(150) < 0.12, right[::-1], right) for name in ("anna", "ben", "gpt")}
    frame = pd.DataFrame({"item": [f"t{k}" for k in range(150)], "right": right, **noisy})
    frame.loc[60:, ["anna", "ben"]] = None
    frame.loc[40:, "right"] = None
    frame.to_csv(tmp_path / "f.csv", index=False)
    asked = ("--gold", "right", "--people", "anna,ben", "--judges", "gpt", "--next-labels", "110")
    recuse("check", tmp_path / "f.csv", *asked, tmp_path / "next.csv")
    rows = pd.read_csv(tmp_path / "next.csv", encoding="utf-8-sig", dtype=str, keep_default_na=False)
    assert [*rows.columns][4:] == ["anna", "right"]
    assert {*rows["item"]} == {f"t{k}" for k in range(40, 150)}
    assert {*rows["item"][rows["anna"] == "done"]} == {f"t{k}" for k in range(40, 60)}
    assert {*rows["right"]} == {""}
