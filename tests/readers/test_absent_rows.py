"""A judge that passes over texts is not better for a long table, which has no row for them."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.metrics.agreement import coefficient
from recuse.metrics.coverage import unanswered
from recuse.metrics.human_ceiling import human_ceiling
from recuse.readers import read_file

WIDE, LONG = "wide", "long"


def simulated(share, seed, items=80, judges=("gpt-a", "gpt-b")):
    """Item -> rater -> rating, 1-5; of the first judge the hardest `share` of texts is absent."""
    draw = np.random.default_rng(seed)
    quality = draw.normal(size=items)
    hard = np.argsort(-np.abs(quality))[: round(share * items)]
    table = []
    for k in range(items):
        own = {who: int(np.clip(round(3 + quality[k] + 0.6 * draw.normal()), 1, 5)) for who in ("anna", "ben", *judges)}
        if k in hard:
            del own[judges[0]]
        table.append(own)
    return table


def written(table, form, factor=""):
    raters = list(dict.fromkeys(who for row in table for who in row))
    raters = sorted(raters)
    if form == WIDE:
        rows = [f"item,{','.join(raters)}"]
        rows += [f"t{k}," + ",".join(str(row.get(who, "")) for who in raters) for k, row in enumerate(table)]
    else:
        rows = ["item,rater,score"]
        rows += [f"t{k},{who},{row[who]}" for k, row in enumerate(table) for who in raters if who in row]
    return "\n".join(rows)


def percent(ratings):
    return coefficient(ratings, "percent_agreement")


def estimates(ratings):
    return {
        (name, judge): (e.value, e.low, e.high, e.n)
        for name, measured in (("u", unanswered), ("c", human_ceiling), ("a", percent))
        for judge in ratings.judges
        for e in [measured(ratings).of(judge=judge)]
    }


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("seed", [1, 2])
def test_both_forms_of_a_table_give_the_same_estimates(file, share, seed):
    table = simulated(share, seed)
    wide, long = (read_file(file(f"{form}.csv", written(table, form))) for form in (WIDE, LONG))
    assert estimates(long.ratings) == estimates(wide.ratings)
    assert unanswered(long.ratings).of(judge="gpt-a").value == pytest.approx(share)


def test_a_note_says_how_many_and_what_to_say_of_a_sample(file):
    path = file("a.csv", written(simulated(0.25, 3), LONG))
    (note,) = [n for n in read_file(path).notes if "no row" in n]
    assert note == (
        "gpt-a has no row for 20 of 80 texts that others rated: they count as unanswered; if it was asked about a "
        "sample only, say --sampled"
    )
    sampled = read_file(path, sampled=True)
    assert unanswered(sampled.ratings).of(judge="gpt-a").value == 0
    assert any("asked about a sample, as you said" in n for n in sampled.notes)
    assert sampled.mapping.record()["sampled"] is True


def test_halves_given_to_two_judges_are_no_answers_lost(file):
    rows = ["item,rater,score"]
    for k in range(60):
        rows += [f"t{k},{who},{(k + s) % 5 + 1}" for s, who in enumerate(("anna", ("gpt-a", "gpt-b")[k % 2]))]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert [unanswered(read.ratings).of(judge=j).value for j in ("gpt-a", "gpt-b")] == [0, 0]


def test_a_text_that_neither_half_has_is_unanswered_by_both(file):
    rows = ["item,rater,score"]
    for k in range(60):
        rows += [f"t{k},anna,{k % 5 + 1}"] + ([f"t{k},gpt-{'ab'[k % 2]},{k % 4 + 1}"] if k >= 10 else [])
    read = read_file(file("a.csv", "\n".join(rows)))
    assert [unanswered(read.ratings).of(judge=j).n for j in ("gpt-a", "gpt-b")] == [35, 35]


@pytest.mark.parametrize(("column", "lost"), [("batch", 0.0), ("topic", 0.5)])
def test_a_batch_that_a_judge_was_not_given_is_no_loss_and_a_topic_is(file, column, lost):
    rows = [f"item,{column},rater,score"]
    for k in range(60):
        name = "first" if k < 30 else "second"
        rows += [f"t{k},{name},{who},{k % 5 + 1}" for who in ("anna", "ben") + (("gpt-a",) if k < 30 else ())]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert unanswered(read.ratings).of(judge="gpt-a").value == lost


def test_a_judge_that_was_not_shown_its_own_texts_left_none_unanswered(file):
    rows = ["item,system,judge,score"]
    for k in range(30):
        for system in ("gpt-a", "claude"):
            rows += [f"t{k},{system},{who},{k % 5 + 1}" for who in ("gpt-a", "claude", "human") if who != system]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert set(read.ratings.table["status"]) == {"ok"}


def test_what_people_rated_is_no_list_of_what_a_judge_was_asked_where_they_share_nothing(file):
    rows = ["item,rater,score"]
    rows += [f"t{k},{'anna' if k < 30 else 'gpt-a'},{k % 5 + 1}" for k in range(60)]
    assert set(read_file(file("a.csv", "\n".join(rows))).ratings.table["status"]) == {"ok"}


def test_absent_rows_have_the_judges_repeats_and_levels(file):
    rows = ["item,judge,prompt,repeat,score"]
    for k in range(20):
        rows += [f"t{k},gpt-b,{p},{r},{k % 5 + 1}" for p in ("plain", "strict") for r in (0, 1)]
        if k >= 5:
            rows += [f"t{k},gpt-a,plain,{r},{k % 5 + 1}" for r in (0, 1)]
    table = read_file(file("a.csv", "\n".join(rows))).ratings.table
    lost = table[table["status"] != "ok"]
    assert set(zip(lost["rater"], lost["prompt"], lost["repeat"], strict=True)) == {
        ("gpt-a", "plain", 0), ("gpt-a", "plain", 1),
    }  # fmt: skip
    assert len(lost) == 10


def test_a_pair_without_a_row_is_unanswered_whichever_way_round(file):
    rows = ["question,rater,first,second,winner"]
    for k in range(40):
        rows += [f"q{k},anna,x,y,{'AB'[k % 2]}"]
        if k >= 8:
            rows += [f"q{k},gpt-a,{one},{other},A" for one, other in (("x", "y"), ("y", "x"))]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert unanswered(read.ratings).of(judge="gpt-a").value == 0.2


def test_a_system_that_no_judge_was_asked_about_is_no_loss(tmp_path):
    """People rated pairs with a third system beside those that both judges were asked about."""
    rows = [
        f"q{k},{a},{b},{rater},{1 + k % 2}"
        for k in range(40)
        for a, b in (("x", "y"), ("x", "z"))
        for rater in ("human 1", "human 2", "gpt", "claude")
        if b == "y" or rater.startswith("human")
    ]
    path = tmp_path / "pairs.csv"
    path.write_text("question,first,second,rater,winner\n" + "\n".join(rows), encoding="utf-8")
    read = read_file(path)
    table = read.ratings.table
    assert set(table.loc[table["kind"] == "judge", "status"]) == {"ok"}
    assert "pairs with z were put to no judge, and do not count" in read.notes


@pytest.mark.parametrize("judges", [("gpt-a",), ("gpt-a", "gpt-b")])
def test_scored_texts_of_a_system_that_every_judge_passes_over_are_unanswered(file, judges):
    rows = ["item,system,rater,score"]
    for k in range(40):
        raters = ("anna", "ben") + (judges if k % 4 else ())
        rows += [f"t{k},S{k % 4},{who},{k % 5 + 1}" for who in raters]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert [unanswered(read.ratings).of(judge=judge).value for judge in judges] == [0.25] * len(judges)
