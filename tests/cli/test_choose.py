"""`recuse choose FILE`: the best of several judges, its chance to be that, and what it costs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special

from recuse.check import choose_command
from recuse.check.judge_errors import spending
from recuse.cli import main
from recuse.ratings import Numeric, Ordinal, Ratings, ResponseSets
from recuse.readers import counts
from recuse.readers.file_panel import load_file_panel, panel_of, read
from recuse.readers.file_ratings import FilePanel
from recuse.schema import RecuseError

FILE = Path(__file__).parent / "three_judges.csv"
WORDS = np.array(["fail", "pass"], dtype=object)


def panel(answers: dict[str, np.ndarray], scale: object, use: str = "", **more: object) -> FilePanel:
    frames = [
        pd.DataFrame({"rater": who, "kind": "person" if who[0] == "p" else "judge", "item": np.arange(len(said)),
                      "score" if isinstance(scale, Numeric) else "response": said} | more)
        for who, said in answers.items()
    ]  # fmt: skip
    return panel_of(Ratings.of(pd.concat(frames, ignore_index=True), scales=scale), use)


def choose_judge(asked: FilePanel, tau: float = 0.5) -> choose_command.Choice:
    return choose_command.choose_judge(replace(choose_command.contest_of(asked), tau=tau))


def test_a_chance_that_was_drawn_is_never_sure():
    truth = np.tile(["pass", "fail"], 60)
    other = np.where(truth == "pass", "fail", "pass")
    choice = choose_judge(panel({"j0": truth, "j1": other, "p0": truth}, Ordinal(("fail", "pass"))))
    first, _, good, bad = choice.lines()
    assert "is over 99 %, by 120 texts" in first
    assert (good.split("  ")[-1].strip(), bad.split("  ")[-1].strip()) == ("over 99 %", "under 1 %")


def test_errors_by_hand():
    """Of 20 texts j0 differs on 4, and from one of two people on 2 more: (4 + 2 / 2) / 20; j1 leaves 10 unanswered."""
    truth = np.tile(["pass", "fail"], 10)
    j0, other, silent = truth.copy(), truth.copy(), truth.astype(object)
    j0[:4] = np.where(j0[:4] == "pass", "fail", "pass")
    other[18:] = np.where(other[18:] == "pass", "fail", "pass")
    silent[:10] = None
    choice = choose_judge(panel({"j0": j0, "j1": silent, "p0": truth, "p1": other}, Ordinal(("fail", "pass"))))
    assert choice.judges == ("j0", "j1")
    assert choice.errors == pytest.approx([0.25, 0.55])
    assert choice.behind[1, 0] == pytest.approx(0.3)


def test_a_difference_that_was_not_seen_is_not_certain():
    """Of texts without an error as many may be wrong of those to come as show none in one file of 40."""
    for count in (25, 100):
        truth = np.resize(["pass", "fail"], count)
        choice = choose_judge(panel({"j0": truth, "j1": truth, "p0": truth}, Ordinal(("fail", "pass"))))
        most = 1 - 0.025 ** (1 / count)
        assert choice.intervals.ravel() == pytest.approx([0, most] * 2)
        assert choice.behind[1] == pytest.approx([0, -most, most])
    level = np.arange(40.0) % 10
    choice = choose_judge(panel({"j0": level, "j1": level, "p0": level}, Numeric(0, 10), "estimate"))
    assert choice._replace(costs=np.array([2.0, 1.0])).cheaper == []


@pytest.mark.slow("simulation")
@pytest.mark.parametrize(("count", "errors"), [(30, (0.0, 0.04)), (60, (0.05, 0.1)), (200, (0.0, 0.01))])
def test_the_bound_on_what_a_cheaper_judge_loses_holds(count, errors):
    rng, held = np.random.default_rng(count), []
    for _ in range(100):
        truth = rng.random(count) < 0.5
        said = {f"j{k}": WORDS[(truth ^ (rng.random(count) < error)).astype(int)] for k, error in enumerate(errors)}
        choice = choose_judge(panel({**said, "p": WORDS[truth.astype(int)]}, Ordinal(("fail", "pass"))))
        k = choice.judges.index("j1")
        low, high = choice.intervals[k]
        held.append(low <= errors[1] <= high and (k == 0 or choice.behind[k, 2] >= errors[1] - errors[0]))
    assert np.mean(held) >= 0.92


def test_scores_by_use():
    """j0 is one point off everywhere, j1 two off up and down by turns: closer text by text, and further in the mean."""
    people = np.tile([3.0, 5.0], 20)
    answers = {"j0": people + 1, "j1": people + np.repeat([2.0, -2.0], 20), "p0": people}
    grade, estimate = (choose_judge(panel(answers, Numeric(0, 10), use)) for use in ("grade", "estimate"))
    assert (grade.judges[0], grade.errors.tolist()) == ("j0", pytest.approx([0.1, 0.2]))
    assert (estimate.judges[0], estimate.errors.tolist()) == ("j1", pytest.approx([0.0, 0.1]))


@pytest.mark.parametrize("use", ["grade", "estimate"])
def test_right_answers_choose_the_judge_that_is_right(use):
    """Three people and one judge are 2 too lenient; people would choose that one, which `recuse check` refuses."""
    gold = np.random.default_rng(3).integers(0, 9, 60)
    answers = {"lenient": gold + 2, "exact": gold, "pa": gold + 2, "pb": gold + 2}
    without = panel(answers, Numeric(0, 10), use)
    both = panel(answers | {"pgold": gold}, Numeric(0, 10), use)
    both = panel_of(replace(both.ratings, truth="pgold", _memory={}), use)
    by_people, by_truth = choose_judge(without), choose_judge(both)
    assert (by_people.judges[0], by_truth.judges[0]) == ("lenient", "exact")
    assert by_truth.errors[0] == 0.0
    headers = [next(line for line in one.lines() if "worse than the best" in line) for one in (by_people, by_truth)]
    assert ["by right answers" in header for header in headers] == [False, use == "grade"]


def test_where_right_answers_decide_no_word_is_of_people(recuse, tmp_path):
    frame = pd.DataFrame({"item": [f"t{k}" for k in range(60)], "right": ["pass", "fail"] * 30})
    frame = frame.assign(anna="pass", ben="pass", gpt_a=frame["right"], gpt_b="pass")
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = ("choose", tmp_path / "a.csv", "--gold", "right", "--judges", "gpt_a,gpt_b", "--use", "decide")
    found = recuse(*asked, "--tau", "0.3")
    assert found.out.startswith("gpt_a is the best of 2 judges to decide (pass): ")
    assert "people" not in found.out
    assert "by right answers: leave it out" in recuse(*asked, "--budget", "60").err


def test_a_ranking_counts_pairs_of_systems():
    system = np.tile(["a", "b", "c"], 20)
    level = np.tile([1.0, 2.0, 3.0], 20)
    turned = np.tile([1.0, 3.0, 2.0], 20)
    choice = choose_judge(panel({"j0": turned, "j1": level, "p0": level}, Numeric(0, 10), "rank", target=system))
    assert (choice.judges[0], choice.errors.tolist()) == ("j1", pytest.approx([0.0, 1 / 3]))


@pytest.mark.parametrize(("use", "scale"), [("grade", Numeric(0, 10)), ("grade", Ordinal(("fail", "pass")))])
def test_a_text_that_a_judge_left_unanswered_is_an_error_of_1(use, scale):
    whole = np.arange(60) % 11.0 if isinstance(scale, Numeric) else np.tile(["fail", "pass"], 30).astype(object)
    partial = np.where(np.arange(60) < 15, np.nan if isinstance(scale, Numeric) else None, whole)
    choice = choose_judge(panel({"j0": partial, "j1": whole, "p0": whole}, scale, use))
    assert (choice.judges[0], choice.errors.tolist()) == ("j1", pytest.approx([0.0, 0.25]))


@pytest.mark.parametrize("level", [[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]])
def test_a_system_that_a_judge_never_scored_is_ordered_by_nobody(level):
    """j0 scored two of three systems, in order: two of three pairs are errors, wherever on the scale the third lies."""
    system, people = np.tile(["a", "b", "c"], 20), np.tile(level, 20)
    for lost in "abc":
        partial = np.where(system == lost, np.nan, people)
        scores = {"j0": partial, "j1": people, "p0": people}
        choice = choose_judge(panel(scores, Numeric(-5, 10), "rank", target=system))
        assert (choice.judges[0], choice.errors.tolist()) == ("j1", pytest.approx([0.0, 2 / 3]))
    rare = np.where(np.arange(60) == 0, "d", system)  # not in every draw, where it then tells no judge from another
    choice = choose_judge(panel({"j0": people, "j1": people, "p0": people}, Numeric(-5, 10), "rank", target=rare))
    assert choice.errors.tolist() == [0.0, 0.0]
    assert choice.intervals.tolist() == [[0.0, 0.0]] * 2


def test_pairs_and_costs_in_words(recuse, tmp_path):
    rng = np.random.default_rng(2)
    better = rng.choice(["first", "second"], 80)
    frame = pd.DataFrame({"item": np.arange(80), "first": "x", "second": "y", "anna": better})
    for name, error, cost in (("gpt_large", 0.05, 0.02), ("gpt_small", 0.06, 0.001)):
        wrong = rng.random(80) < error
        frame[name] = np.where(wrong, np.where(better == "first", "second", "first"), better)
        frame[f"{name}_cost"] = cost
    frame.to_csv(tmp_path / "pairs.csv", index=False)
    found = recuse("choose", tmp_path / "pairs.csv", "--people", "anna", "--judges", "gpt_large,gpt_small")
    assert (found.code, found.err) == (0, "")
    assert "chance to be the best is" in found.first
    assert "0.001" in found.out


def test_a_text_costs_what_all_calls_about_it_cost(tmp_path):
    """gpt_small is asked three times at 2 each, gpt_large once at 5."""
    people = pd.DataFrame({"item": np.arange(40), "rater": "anna", "rating": np.resize(["pass", "fail"], 40)})
    large, small = people.assign(rater="gpt_large", cost=5.0), people.assign(rater="gpt_small", cost=2.0)
    pd.concat([people, large, *[small] * 3]).to_csv(tmp_path / "costs.csv", index=False)
    choice = choose_judge(load_file_panel(tmp_path / "costs.csv"))
    costs = dict(zip(choice.judges, choice.costs.tolist(), strict=True))
    assert costs == pytest.approx({"gpt_large": 5.0, "gpt_small": 6.0})
    assert [choice.judges[k] for k in choice.cheaper] in ([], ["gpt_large"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--judges", "judge_large", "--people", "anna,ben", "--ignore", "judge_small,judge_old"), "takes two judges"),
        (("--use", "rank"), "texts of three systems"),
        (("--budget", "3"), "from 20 on; got 3"),
        (("--budget", "200", "--tau", "0.3"), "worked out for --tau 0.5: whether 30 % of people say so"),
        (("--use", "none"), "say what the judge is for"),
    ],
)
def test_what_cannot_be_chosen_is_said(recuse, arguments, words):
    found = recuse("choose", FILE, *arguments)
    assert found.code == 3
    assert words in found.err


def test_repeated_runs_say_the_same():
    one, two = (choose_judge(panel_of(read(FILE))) for _ in range(2))
    assert one.chances.tolist() == two.chances.tolist()


def test_the_chance_of_two_judges_by_hand():
    """Apart by z standard errors: shrunk by 1 - 1 / z^2 the chance is that a standard normal lies below sqrt(z^2 - 1),
    and one half where they lie no further apart than chance sets two equal ones."""
    x = special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    x /= x.std()
    for z, chance in ((0.5, 0.5), (1.0, 0.5), (1.5, 0.8682), (1.925, 0.95), (3.0, 0.9977)):
        found = choose_command._chances(np.stack([np.r_[0, x / 2], np.r_[z, z - x / 2]]))
        assert found == pytest.approx([chance, 1 - chance], abs=5e-4)


def test_what_chance_alone_gives_the_distances_of_judges_is_taken_off_them():
    """Four judges whose distances have the squares that the draws give them, half as many again, and twice as many."""
    rng = np.random.default_rng(2)
    noise = rng.standard_normal((4, 5000))
    noise -= noise.mean(axis=0)
    level = np.array([-3.0, -1, 1, 3])
    level *= np.sqrt(noise.var(axis=1).sum() / (level**2).sum())
    first = [choose_command._chances(np.column_stack([by * level, by * level[:, None] + noise]))[0]
             for by in (1.0, 1.5**0.5, 2**0.5)]  # fmt: skip
    assert first[0] == 0.25
    for chance, left in zip(first[1:], (1 / 3, 1 / 2), strict=True):
        by = (1 / (1 - left)) ** 0.5
        best = (left * by * level[:, None] + left**0.5 * noise).argmin(axis=0) == 0
        assert chance == pytest.approx(best.mean(), abs=0.02)


@pytest.mark.slow("simulation")
@pytest.mark.parametrize(("judges", "most"), [(2, 0.35), (5, 0.35), (12, 0.35), (3, 0.1), (2, 0.07)])
def test_the_chance_to_be_best_is_as_large_as_it_says(judges, most):
    """Judges whose errors are drawn alike, 80 texts: of recommendations at 90 % or more nine in ten are right, and all
    together about as many as their mean chance, or more; of judges that differ little few are given 90 %."""
    rng = np.random.default_rng(5)
    chances, right = [], []
    for _ in range(150):
        errors = rng.uniform(0.05, most, judges)
        truth = rng.random(80) < 0.6
        wrong = rng.random((judges, 80)) < errors[:, None]
        said = {f"j{k}": WORDS[(truth ^ wrong[k]).astype(int)] for k in range(judges)}
        choice = choose_judge(panel({**said, "p": WORDS[truth.astype(int)]}, Ordinal(("fail", "pass"))))
        chances.append(choice.chances[0])
        right.append(choice.judges[0] == f"j{int(errors.argmin())}")
    sure = np.array(chances) >= 0.9
    assert sure.mean() < 0.12 if most < 0.2 else np.mean(np.array(right)[sure]) >= 0.9
    assert -0.08 <= np.mean(right) - np.mean(chances) <= 0.12


def said(*answers: str) -> np.ndarray:
    return np.array([{"p": "pass", "f": "fail"}[one] for one in "".join(answers)], dtype=object)


def test_decisions_by_tau_and_property_by_hand():
    """Of 20 texts all three people pass 8, one of three passes 6, none 6. j0 passes the first 8, j1 the first 14."""
    people = {"p0": said("p" * 14 + "f" * 6), "p1": said("p" * 8 + "f" * 12), "p2": said("p" * 8 + "f" * 12)}
    judges = {"j0": said("p" * 8 + "f" * 12), "j1": said("p" * 14 + "f" * 6)}
    both = panel(judges | people, Ordinal(("fail", "pass")))
    half, third = choose_judge(both), choose_judge(both, tau=0.3)
    assert (half.judges, half.errors.tolist()) == (("j0", "j1"), pytest.approx([0.0, 0.3]))
    assert (third.judges, third.errors.tolist()) == (("j1", "j0"), pytest.approx([0.0, 0.3]))
    assert half.decided == " (pass, where 50 % of people or more say so)"
    # a third who pass, and .4 of the two thirds who do not: .6 from beta .25 on
    assert {beta: name for beta, (name, _) in half.best_by_beta.items()} == {0.3: "j1", 0.4: "j1"}
    assert any("If 30 % of the people who chose otherwise had accepted this too, j1" in x for x in half.lines())


def test_scores_decide_from_a_threshold_on():
    """People say 3 or 5; from 4 on half pass. j0 says 4 or 1 and decides alike, j1 says 3.5 always and passes none."""
    people = np.tile([3.0, 5.0], 20)
    answers = {"j0": np.tile([1.0, 4.0], 20), "j1": np.full(40, 3.5), "p0": people}
    ratings = panel(answers, Numeric(0, 10)).ratings
    asked = panel_of(replace(ratings, thresholds={ratings.criterion: (4.0,)}, _memory={}), "decide")
    choice = choose_judge(asked)
    assert (choice.judges, choice.errors.tolist()) == (("j0", "j1"), pytest.approx([0.0, 0.5]))
    with pytest.raises(RecuseError, match="scores decide from a threshold on: --threshold 4"):
        choose_judge(panel_of(ratings, "decide"))


def test_the_way_to_check_repeats_what_was_typed(recuse):
    found = recuse("choose", FILE, "--judges", "judge_large,judge_small", "--people", "anna,ben", "--sampled")
    typed = f"recuse check {FILE} --people anna,ben --judges judge_large,judge_small --sampled"
    assert found.out.splitlines()[-1].endswith(typed)


def test_a_recorded_panel_is_chosen_from_by_what_its_calls_cost(recuse):
    found = recuse("choose", FILE.parents[2] / "fixtures" / "panels" / "checks.toml")
    assert (found.code, found.err) == (0, "")
    assert found.first.startswith("qwen2.5-coder-1.5b is the best of 4 judges to decide (yes): ")
    assert "cost per text" in found.out
    several = recuse("choose", FILE.parents[2] / "fixtures" / "panels" / "local.toml")
    assert (several.code, "name it: --task TASK/PROTOCOL" in several.err) == (3, True)


def test_of_a_recorded_panel_criteria_can_be_left_out_and_a_threshold_named():
    """A panel has no columns, and what a panel cannot be told is refused, not passed over."""
    rng, rows = np.random.default_rng(5), []
    for item, level in enumerate(rng.integers(1, 6, 60).astype(float)):
        for who, off in (("good", 0.0), ("off", 2.0), ("ann", 0.0)):
            said = {"tone": min(5.0, level + off), "facts": 3.0}
            rows += [(who, "person" if who == "ann" else "judge", item, name, score) for name, score in said.items()]
    table = pd.DataFrame(rows, columns=["rater", "kind", "item", "criterion", "score"])
    ratings = Ratings.of(table, scales={"tone": Numeric(1, 5), "facts": Numeric(1, 5)}, headline=("tone", "facts"))
    chosen = [
        choose_command.choose_judge(choose_command.Contest("p", asked, (use,), {}))
        for use, asked in (
            ("grade", choose_command._as_asked(ratings, "p", "facts", "")),
            ("decide", choose_command._as_asked(ratings, "p", "facts", "4")),
        )
    ]
    assert [(one.judges[0], one.use) for one in chosen] == [("good", "grade"), ("good", "decide")]
    low = table[table["criterion"].eq("tone") & table["rater"].eq("ann") & table["score"].isin([2, 3])]
    assert chosen[1].errors[1] == pytest.approx(len(low) / 60)  # two points more turn a 2 and a 3 into 4 or more


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--people", "ann"), "a panel has no columns to name by --people; --ignore leaves criteria out"),
        (("--ignore", "nosuch"), "--ignore leaves out some of kept; got nosuch"),
        (("--threshold", "4"), "threshold = '4' needs scores; there are options only"),
    ],
)
def test_what_a_recorded_panel_cannot_be_told_is_refused(recuse, options, why):
    found = recuse("choose", FILE.parents[2] / "fixtures" / "panels" / "checks.toml", *options)
    assert (found.code, why in found.err, found.err) == (3, True, found.err)


@pytest.mark.parametrize("use", ["grade", "estimate", "rank"])
def test_nothing_depends_on_names_order_or_the_unit_of_the_scale(use):
    rng = np.random.default_rng(6)
    level = rng.integers(2, 9, 90).astype(float)
    answers = {name: np.clip(level + rng.normal(0, spread, 90).round(), 0, 10)
               for name, spread in (("j0", 1.0), ("j1", 1.3), ("p0", 1.0), ("p1", 1.0))}  # fmt: skip
    plain = panel(answers, Numeric(0, 10), use, target=np.tile(["a", "b", "c"], 30))
    table = plain.ratings.table
    other = table.assign(
        item="x" + table["item"].astype(str).str[::-1], score=table["score"] * 10, target=table["target"].map(
            {"a": "z", "b": "y", "c": "x"}), rater=table["rater"].map({"j0": "z", "j1": "a", "p0": "q", "p1": "b"}),
    ).sample(frac=1, random_state=2)  # fmt: skip
    one, two = choose_judge(plain), choose_judge(panel_of(Ratings.of(other, scales=Numeric(0, 100)), use))
    assert [{"j0": "z", "j1": "a"}[name] for name in one.judges] == list(two.judges)
    assert one.errors == pytest.approx(two.errors)
    assert one.chances == pytest.approx(two.chances)
    assert one.behind == pytest.approx(two.behind)


def test_one_judge_is_named_and_sent_to_check():
    truth = np.tile(["pass", "fail"], 60)
    with pytest.raises(RecuseError, match="there are 120 by j0 alone, and recuse check says whether that may be used"):
        choose_judge(panel({"j0": truth, "p0": truth}, Ordinal(("fail", "pass"))))


@pytest.mark.slow("simulations")
def test_fewer_labels_never_make_a_dearer_judge_look_replaceable():
    """With less evidence the bound on what a cheaper judge loses is wider, and fewer than 20 texts choose nobody."""
    frame = pd.read_csv(FILE)
    labelled = frame[frame["anna"].notna()]
    bounds = []
    for count in (len(labelled), 60, 30):
        choice = choose_judge(panel_of(read(labelled.head(count))))
        bounds.append(choice.intervals[0, 1] - choice.intervals[0, 0])
    assert bounds == sorted(bounds)
    many, few = (choose_judge(panel_of(read(labelled.head(count)))) for count in (120, 20))
    assert ([many.judges[k] for k in many.cheaper], few.cheaper) == (["judge_small"], [])
    with pytest.raises(RecuseError, match="choosing takes two judges and 20 texts"):
        choose_judge(panel_of(read(labelled.head(19))))


def test_response_sets_by_hand():
    """Of ten options' worth of sets: j0 names one option more on half of the texts, half a set of two; j1 none that
    people name. To decide, a set has the property if it names it, and two of three people who do are enough."""
    people = {f"p{k}": np.array((["x|y"] if k < 2 else ["y"]) * 20 + ["y"] * 20, dtype=object) for k in range(3)}
    judges = {"j0": np.array(["x|y"] * 40, dtype=object), "j1": np.array(["x"] * 40, dtype=object)}
    scale = ResponseSets(("x", "y"))
    grade = choose_judge(panel(judges | people, scale, "grade"))
    # j0: on 20 texts a third of people lack x, on 20 all do; j1 lacks y always, and x is right for two of three on 20
    assert grade.judges == ("j0", "j1")
    assert grade.errors == pytest.approx([(1 / 3 / 2 + 1 / 2) / 2, ((1 + 1 / 3) / 2 + 1) / 2])
    ratings = panel(judges | people, scale).ratings
    asked = panel_of(replace(ratings, positive={ratings.criterion: "x"}, _memory={}), "decide")
    choice = choose_judge(asked)
    assert choice.errors == pytest.approx([0.5, 0.5])
    assert choice.decided == " (x, where 50 % of people or more name it)"
    assert choice.best_by_beta == {}
    asked = panel_of(replace(ratings, positive={ratings.criterion: "y"}, _memory={}), "decide")
    assert (choose_judge(asked).judges[0], choose_judge(asked).errors.tolist()) == ("j0", [0.0, 1.0])


def test_ratings_are_spent_by_what_people_and_texts_vary_by_hand():
    """Twenty texts of two people, one above the text's mean and one below it by 1: P = 2. The means are +-sqrt(3.8), of
    variance 3.8 * 20 / 19 = 4, less P / 2 is V = 3. Ten texts of one person say nothing of P."""
    means = np.sqrt(3.8) * np.resize([1.0, -1.0], 20)
    found = spending(np.array([means + 1, means - 1]), 60)
    assert [(row["people"], row["texts"]) for row in found] == [(1, 60), (2, 30), (3, 20)]
    errors = [1.96 * np.sqrt(part) for part in ((3 + 2) / 60, (3 + 2 / 2) / 30, (3 + 2 / 3) / 20)]
    assert [row["error"] for row in found] == pytest.approx(errors)
    assert {round(row["apart"], 12) for row in found} == {0.0}
    assert spending(np.array([means + 1, means - 1])[:, :19], 60) == []
    once = np.array([np.append(means + 1, np.zeros(10)), np.append(means - 1, np.full(10, np.nan))])
    whole = np.append(means, np.zeros(10)).var(ddof=1) - 2 * (20 / 2 + 10) / 30
    assert spending(once, 60)[0]["error"] == pytest.approx(1.96 * np.sqrt((whole + 2) / 60))


@pytest.mark.parametrize("kind", ["choices", "scores"])
def test_items_that_were_counted_are_chosen_by_as_so_many(kind, tmp_path, capsys, monkeypatch):
    """Each pattern weighs what it stands for: with the rare patterns alone the other judge would be better."""
    options, beside = (["A", "B"], {"first": "x", "second": "y"}) if kind == "choices" else (["1", "2", "3"], {})
    rows = [(a, b, p, 1 if a != p else 40 if b != p else 20) for a in options for b in options for p in options]
    table = pd.DataFrame(rows, columns=["gpt", "claude", "ann", "count"]).assign(**beside)
    path = tmp_path / "counted.csv"
    table.to_csv(path, index=False)
    results = []
    for fewest in (10**9, 1):
        monkeypatch.setattr(counts, "FOLDED_FROM", fewest)
        assert main(["choose", str(path), "--use", "choose" if kind == "choices" else "grade", "--json",
                     str(tmp_path / "out.json")]) == 0  # fmt: skip
        results.append(json.loads((tmp_path / "out.json").read_text()))
    single, counted = results
    assert counted["texts"] == single["texts"] == table["count"].sum()
    for one, other in zip(single["rows"], counted["rows"], strict=True):
        assert one["judge"] == other["judge"]
        assert other["error"] == pytest.approx(one["error"], abs=1e-12)
        assert other["error_low"] == pytest.approx(one["error_low"], abs=0.02)
        assert other["error_high"] == pytest.approx(one["error_high"], abs=0.02)
