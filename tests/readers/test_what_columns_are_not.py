"""Laws by which a column is nobody's rating, or a question is asked. Each was a wrong verdict once. The tables are
drawn with the seed of `test_layouts`."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from recuse.ratings import Nominal
from recuse.readers import read_file
from recuse.schema import RecuseError
from tests.readers.test_layouts import SEED

N = 40
PEOPLE, JUDGES = ("human", "annotator", "expert"), ("gpt4", "llm", "claude")
CRITERIA = ("helpfulness", "coherence", "safety", "depth", "wit")


@pytest.fixture(params=[0, 1, pytest.param(2, marks=pytest.mark.slow("further cases"))])
def draw(request):
    return np.random.default_rng([SEED, request.param])


def grades(draw, high=5):
    return draw.integers(1, high + 1, size=N)


def table(columns, separator=","):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()


def said(read):
    """Rater -> its scores, criterion by criterion."""
    scores = read.ratings.table
    return {str(r): list(part["score"]) for r, part in scores.groupby("rater", sort=False, observed=True)}


def ids():
    return [f"t{k}" for k in range(N)]


def test_criteria_without_a_name_are_one_rater_s(file, draw):
    """helpfulness and wit beside gpt4_helpfulness and gpt4_wit are people's; beside human_wit they are a judge's."""
    criteria, judged = list(draw.choice(CRITERIA, size=3, replace=False)), bool(draw.integers(2))
    own = str(draw.choice(PEOPLE if judged else JUDGES))
    name = (lambda c: f"{own}_{c}") if draw.integers(2) else (lambda c: f"{c}_{own}")
    bare = {c: grades(draw) for c in criteria}
    theirs = {c: grades(draw) for c in criteria}
    columns = {"id": ids(), **bare, **{name(c): v for c, v in theirs.items()}}
    read = read_file(file("a.csv", table(columns)))
    assert dict(read.ratings.raters) == {
        "judge" if judged else "people": "judge" if judged else "person", own: "person" if judged else "judge",
    }  # fmt: skip
    assert sorted(read.ratings.headline) == sorted(criteria)
    assert said(read)[own] == [x for c in criteria for x in theirs[c]]


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("words", [("total", "mean"), ("\u0421\u0440\u0435\u0434\u043d\u0435\u0435", "x"), ("", "")])
def test_rows_that_add_up_or_average_the_others_are_no_texts(file, draw, words):
    ratings = np.column_stack([grades(draw), grades(draw), grades(draw)])
    half = N // 2
    rows = [[f"t{k}", *ratings[k]] for k in range(N)]
    mean = [words[0], *ratings.mean(axis=0).round(2)]
    lines = [*rows, mean] if draw.integers(2) else [
        *rows[:half], [words[0], *ratings[:half].sum(axis=0)], *rows[half:], [words[1], *ratings.sum(axis=0)],
    ]  # fmt: skip
    text = "\n".join(";".join(map(str, row)) for row in [["case", "anna", "ben", "gpt"], *lines])
    read = read_file(file("a.csv", text))
    assert read.ratings.table["item"].nunique() == N
    assert said(read)["gpt"] == list(ratings[:, 2])
    last = read.raw.at(N - 1)
    assert text.split("\n")[last - 1].startswith(f"t{N - 1};"), "the places of the rows are those in the file"


def test_what_all_raters_of_a_text_say_alike_is_no_criterion(file, draw):
    """A column platform, the same for every annotator of a comment, beside ratings on which they differ."""
    platform = draw.integers(0, 4, size=N)
    rows = [
        (f"c{k}", f"a{w}", platform[k], draw.integers(0, 5), draw.integers(0, 3)) for k in range(N) for w in range(3)
    ]
    columns = dict(
        zip(("comment_id", "annotator_id", "platform", "insult", "respect"), zip(*rows, strict=True), strict=True)
    )
    assert read_file(file("a.csv", table(columns))).ratings.headline == ("insult", "respect")


def test_one_judge_s_label_and_score_are_one_answer(file, draw):
    verdicts = np.array(["fail", "pass"], dtype=object)
    human, judge = draw.integers(2, size=N), draw.integers(2, size=N)
    columns = {
        "id": ids(),
        "human_label": verdicts[human],
        "judge_label": verdicts[judge],
        "judge_score": judge * 0.5 + draw.integers(0, 5, size=N) / 10,
    }
    read = read_file(file("a.csv", table(columns)))
    assert dict(read.ratings.raters) == {"human": "person", "judge": "judge"}
    assert list(read.ratings.table["response"]) == [*verdicts[human], *verdicts[judge]]
    del columns["human_label"]
    columns |= {"human_score": grades(draw), "judge_score": grades(draw), "judge_rating": grades(draw)}
    with pytest.raises(RecuseError, match=r"are columns of judge.*--ignore"):
        read_file(file("b.csv", table({k: v for k, v in columns.items() if k != "judge_label"})))


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["annotators", "n_annotators", "annotator_count", "raters"])
def test_how_many_people_there_were_is_no_person(file, draw, name):
    columns = {"id": ids(), "human_score": grades(draw), "gpt_score": grades(draw), name: draw.integers(1, 4, size=N)}
    assert dict(read_file(file("a.csv", table(columns))).ratings.raters) == {"human": "person", "gpt": "judge"}


def test_answers_that_add_up_to_a_count_are_counted(file, draw):
    """hate, offensive, neither of `count` annotators are no raters: read as people's answers, or asked about."""
    votes = draw.multinomial(3, [0.3, 0.4, 0.3], size=N)
    words = np.array(["hate", "offensive", "neither"], dtype=object)
    counted = {"id": ids(), "count": votes.sum(axis=1), **dict(zip(words, votes.T, strict=True))}
    read = read_file(file("a.csv", table({**counted, "gpt": words[votes.argmax(axis=1)]})))
    assert dict(read.ratings.raters).items() >= {("gpt", "judge")}
    assert [k for k, kind in read.ratings.raters.items() if kind == "person"] == ["people 1", "people 2", "people 3"]
    with pytest.raises(RecuseError, match="--same"):
        read_file(file("b.csv", table({**counted, "gpt": votes.argmax(axis=1)})))


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    ("one", "other"), [("left_model", "right_model"), ("assistant_a", "assistant_b"), ("answer1", "answer2")]
)
def test_columns_told_apart_by_sides_are_a_pair(file, draw, one, other):
    sides = np.array(["A", "B"], dtype=object)
    long = [f"this is what was said of case {k} in some more words" for k in range(N)]
    names = (long, [f"{text} or not" for text in long]) if "1" in one else (["x"] * N, ["y"] * N)
    columns = {
        "id": ids(),
        one: names[0],
        other: names[1],
        "human_vote": sides[draw.integers(2, size=N)],
        "gpt_vote": sides[draw.integers(2, size=N)],
    }
    read = read_file(file("a.csv", table(columns)))
    assert (read.kind, dict(read.ratings.raters)) == ("choices", {"human": "person", "gpt": "judge"})


def test_a_choice_between_two_listed_texts_is_one_choice(file, draw):
    chosen = draw.integers(2, size=N)
    records = [
        {"info": {"id": f"p{k}"}, "summaries": [{"text": f"one {k}"}, {"text": f"two {k}"}], "choice": int(c),
         "worker": f"w{k % 3}"}
        for k, c in enumerate(chosen)
    ]  # fmt: skip
    read = read_file(file("a.jsonl", "\n".join(map(json.dumps, records))))
    assert (read.kind, set(read.ratings.raters.values())) == ("choices", {"person"})
    won = read.ratings.table.set_index("item")["response"].to_dict()
    assert len(won) == N
    assert sum(value == "second" for value in won.values()) == chosen.sum()


def test_lists_that_are_the_same_in_every_record_are_no_rows(file, draw):
    records = [
        {
            "id": k,
            "options": [{"id": "good"}, {"id": "bad"}],
            "human": "good",
            "gpt": ["good", "bad"][int(draw.integers(2))],
        }
        for k in range(N)
    ]
    assert len(read_file(file("a.json", json.dumps(records))).raw.frame) == N


def test_a_column_beside_rows_of_a_kind_is_not_of_that_kind(file, draw):
    rows = [(f"t{k}", who, "person", draw.integers(1, 6), k % 5 + 1) for k in range(N) for who in ("u1", "u2")]
    columns = dict(zip(("id", "rater", "kind", "score", "gpt_score"), zip(*rows, strict=True), strict=True))
    assert dict(read_file(file("a.csv", table(columns))).ratings.raters) == {
        "u1": "person",
        "u2": "person",
        "gpt": "judge",
    }


def test_a_record_for_each_item_is_a_row(file, draw):
    records = {f"item-{k}": {"human": int(draw.integers(1, 6)), "gpt": int(draw.integers(1, 6))} for k in range(N)}
    read = read_file(file("a.json", json.dumps(records)))
    assert read.ratings.table["item"].nunique() == N
    assert dict(read.ratings.raters) == {"human": "person", "gpt": "judge"}


TWO = {
    "response_1": [f"the first reply to {k}, at some length" for k in range(N)],
    "response_2": [f"the second reply to {k}, at length" for k in range(N)],
}


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        (lambda d: {**{n[:-1] + "ab"[int(n[-1]) - 1]: t for n, t in TWO.items()}, "human": d.integers(0, 3, size=N),
                    "gpt": d.integers(0, 3, size=N)}, "--same 0=tie"),
        (lambda d: {**TWO, "score": [f"[{a}, {b}]" for a, b in d.integers(1, 11, size=(N, 2))]}, "each of its own"),
        (lambda d: {"model_a": ["x"] * N, "model_b": ["y"] * N, "human_winner": ["model_a", "model_b"] * (N // 2),
                    "gpt_winner_ab": ["model_a", "tie"] * (N // 2), "gpt_winner_ba": ["model_b", "tie"] * (N // 2)},
         "in both orders"),
    ],
)  # fmt: skip
def test_what_may_mean_two_things_is_asked_about(file, draw, columns, asked):
    with pytest.raises(RecuseError, match=asked):
        read_file(file("a.csv", table({"id": ids(), **columns(draw)})))


def test_two_games_of_one_pair_are_asked_about(file):
    games = [{"id": k, "judge": "gpt", "games": [{"score": "A>B"}, {"score": ["B>A", "A=B"][k % 2]}]} for k in range(N)]
    with pytest.raises(RecuseError, match=r"two verdicts of one judge on a pair, 'A>B' and 'B>A'.*first and second"):
        read_file(file("a.json", json.dumps(games)))
    # one list deeper, what is right was the judge's answer
    deeper = [{"id": g["id"], "label": "A>B", "judges": [{"judge": "gpt", "games": g["games"]}]} for g in games]
    with pytest.raises(RecuseError, match="games holds two verdicts of one judge on a pair"):
        read_file(file("b.json", json.dumps(deeper)))


def test_models_beside_one_rating_by_people_are_asked_about(file, draw):
    """Whether they rated or were rated: people who rate several models do not rate all of them alike."""
    human = grades(draw)
    rows = [(f"t{k}", model, draw.integers(1, 6), human[k]) for k in range(N) for model in ("gpt-4o", "claude-3")]
    text = table(dict(zip(("id", "model", "score", "human_score"), zip(*rows, strict=True), strict=True)))
    with pytest.raises(RecuseError, match=r"--rater model.*--target model"):
        read_file(file("a.csv", text))
    assert read_file(file("a.csv", text), rater="model").ratings.judges == ("gpt-4o", "claude-3")
    assert read_file(file("a.csv", text), target="model").ratings.targets == ("gpt-4o", "claude-3")


def test_beside_named_people_and_judges_nobody_rates(file, draw):
    """With both named, whatever other columns hold, and whatever they are called."""
    names = [
        "anna",
        "claude-x",
        "gpt_other",
        "human_2",
        "majority",
        "quality",
        "score",
        "winner",
        "metrics.duration",
        "priority",
    ]
    draw.shuffle(names)
    columns = {"id": ids(), **{name: grades(draw) for name in names}, "expert": grades(draw), "autojudge": grades(draw)}
    read = read_file(file("a.csv", table(columns)), people="expert", judges="autojudge")
    assert dict(read.ratings.raters) == {"expert": "person", "autojudge": "judge"}


def test_what_people_answer_is_an_answer(file, draw):
    """ "Refusal" is a label where people give it: the reply refused, and not the judge."""
    words = np.array(["Refusal", "Partial compliance", "Full compliance"], dtype=object)
    columns = {"id": ids(), **{who: words[draw.integers(3, size=N)] for who in ("human_1", "human_2", "gpt")}}
    ratings = read_file(file("a.csv", table(columns))).ratings
    assert "refusal" in ratings.scales["rating"].options
    assert (ratings.table["status"] == "ok").all()


def test_options_a_to_d_have_no_order(file, draw):
    letters = np.array([*"ABCD"], dtype=object)
    columns = {"id": ids(), **{who: letters[draw.integers(4, size=N)] for who in ("human_1", "human_2", "gpt")}}
    assert isinstance(read_file(file("a.csv", table(columns))).ratings.scales["rating"], Nominal)


def test_fractions_are_no_names_of_raters(file, draw):
    columns = {"id": ids(), "Reviewer": [f"{g}/5" for g in grades(draw)], "LLM": [f"{g}/10" for g in grades(draw, 10)]}
    with pytest.raises(RecuseError, match="--same"):
        read_file(file("a.csv", table(columns)))


@pytest.mark.parametrize(
    "people", [("radiologist_1", "radiologist_2"), ("Dr. Abel", "Dr. Brandt"), ("adjuster_1", "adjuster_2")]
)
def test_a_label_beside_people_of_a_number_or_a_title_is_asked_about(file, draw, people):
    words = np.array(["benign", "malignant", "uncertain"], dtype=object)
    names = ("pathology", *people, "gpt")
    columns = {"id": ids(), **{who: words[draw.integers(2 if who == "pathology" else 3, size=N)] for who in names}}
    with pytest.raises(RecuseError, match=r"--people pathology.*--gold pathology.*--ignore pathology"):
        read_file(file("a.csv", table(columns)))


@pytest.mark.parametrize("below", [",,,\n,,,\n", ",,,\nLegend,,,\n1,very bad,,\n5,very good,,\n"])
def test_what_stands_below_an_empty_row_is_no_text(file, draw, below):
    columns = {"id": ids(), "human_a": grades(draw), "human_b": grades(draw), "gpt": grades(draw)}
    assert read_file(file("a.csv", table(columns) + below)).ratings.table["item"].nunique() == N


def test_a_judge_s_prose_with_numbers_is_not_passed_over(file, draw):
    """Where no judge is left, its answers may lie in texts that are not read: that is asked, and nobody is dropped."""
    prose = [f"I looked at case {k} twice: perhaps {g} of 5, since it is polite" for k, g in enumerate(grades(draw))]
    with pytest.raises(RecuseError, match=r"gpt_judge and human_rating do not answer on one scale.*--ignore gpt_judge"):
        read_file(file("a.csv", table({"id": ids(), "human_rating": grades(draw), "gpt_judge": prose})))


def test_rows_that_are_near_the_mean_of_what_hardly_varies_are_texts(file):
    """Costs of a hundredth of a cent lie within a rounding of their mean, whatever row holds them."""
    words = ("pass", "fail")
    rows = "".join(f"T-{k},{0.001 + k / 10_000},0,{words[k % 7 == 0]},{words[k % 5 == 0]}\n" for k in range(60))
    read = read_file(file("costs.csv", f"id,cost_usd,is_test,anna,judge_a\n{rows}"))
    assert read.ratings.table["item"].nunique() == 60


def test_sums_of_parts_and_of_all_parts_are_no_texts_wherever_they_stand_and_whatever_they_are_called(file):
    rows, parts = [], []
    for part in range(3):
        marks = [(k % 5 + 1, (k * k + part) % 5 + 1) for k in range(12)]
        parts.append(np.sum(marks, axis=0))
        rows += [(f"T{part}-{k}", *one) for k, one in enumerate(marks)]
        if part < 2:
            rows.append((f"Zwischenstand {part}", *parts[-1]))
        if part == 1:
            rows.append(("Endstand", *np.sum(parts, axis=0)))
    read = read_file(file("a.csv", "\n".join(["ticket,human,gpt", *(",".join(map(str, row)) for row in rows)])))
    (fault,) = read.faults
    assert fault.sentence().startswith("3 row(s) sum up or explain the others (begins with 'Zwischenstand 0'")
    assert read.ratings.table["item"].nunique() == 36


@pytest.mark.parametrize("who", ["annotator", "rater", "annotator_id", "reviewer"])
def test_who_gave_a_rating_stands_beside_it_and_answers_nothing(file, who):
    rows = [
        {"id": f"t{k}", "human": {"rating": 1 + k % 5, who: f"A{k % 3}"}, "judge": {"score": 1 + (k + k // 7) % 5}}
        for k in range(60)
    ]
    read = read_file(file("run.jsonl", "\n".join(map(json.dumps, rows))))
    assert read.ratings.persons == ("human",)
    assert read.ratings.judges == ("judge",)
    assert read.mapping.ignored[f"human.{who}"] == "who gave human"


def test_a_column_called_so_that_stands_alone_is_a_rater(file):
    rows = [
        {"id": f"t{k}", "human": {"annotator": 1 + k % 5}, "judge": {"score": 1 + (k + k // 7) % 5}} for k in range(60)
    ]
    assert len(read_file(file("run.jsonl", "\n".join(map(json.dumps, rows)))).ratings.persons) == 1


def verdicts(k: int) -> tuple[bool, bool, bool]:
    """Of a person, a judge and a worse one."""
    return k % 3 > 0, k % 3 > 0 if k % 7 else k % 3 == 0, k % 2 > 0


@pytest.mark.parametrize(("name", "words"), [
    ("correct", "false,true"), ("is_correct", "0,1"), ("match", "fail,pass"), ("judge_correct", "false,true"),
    ("agrees", "0,1"), ("exact_match", "fail,pass"), ("disagree", "false,true"),
])  # fmt: skip
def test_whether_a_judge_was_right_is_neither_true_nor_a_raters(file, name, words):
    no, yes = words.split(",")
    told = ("0", "1") if words == "0,1" else ("False", "True")
    told = told[::-1] if name == "disagree" else told
    rows = [
        f"t{k},{yes if a else no},{yes if b else no},{told[a == b]}" for k in range(60) for a, b, _ in [verdicts(k)]
    ]
    read = read_file(file("a.csv", "\n".join([f"id,human_label,judge_label,{name}", *rows])))
    assert read.ratings.raters == {"human": "person", "judge": "judge"}
    assert not read.ratings.truth
    assert read.mapping.ignored[name] == "whether human_label and judge_label are alike"


def test_a_column_correct_that_is_no_comparison_is_true(file):
    rows = [f"t{k},{int(a)},{int(b)},{int(c)}" for k in range(60) for a, b, c in [verdicts(k)]]
    assert read_file(file("a.csv", "\n".join(["id,human,llm,correct", *rows]))).ratings.truth == "correct"


def test_in_which_way_a_judge_was_wrong_is_no_slice_and_nobodys(file):
    names = {(True, True): "TP", (False, False): "TN", (False, True): "FP", (True, False): "FN"}
    words = ("fail", "pass")
    for wanted in ({*names.values()}, {"FP", "FN"}):
        rows = [
            f"t{k},{words[a]},{words[b]},{names[a, b] if names[a, b] in wanted else ''}"
            for k in range(60) for a, b, _ in [verdicts(k)]
        ]  # fmt: skip
        read = read_file(file("a.csv", "\n".join(["id,human,gpt,outcome", *rows])))
        assert (read.ratings.raters, read.mapping.slices) == ({"human": "person", "gpt": "judge"}, ())


@pytest.mark.parametrize(
    "beside", ["human_se,n_humans", "human_ci_low,human_ci_high", "human_min,human_max", "human_std,num_raters"]
)
def test_how_sure_a_mean_of_people_is_is_no_person(file, beside):
    rows = [
        f"t{k},{(k % 5 + 1) + k % 3 / 3:.2f},{k % 4 + 1 + k % 2 / 2},{k % 5 + 1},{k * 3 % 5 + 1}" for k in range(60)
    ]
    read = read_file(file("a.csv", "\n".join([f"id,human_mean,{beside},gpt4", *rows])))
    assert read.ratings.raters == {"human_mean": "person", "gpt4": "judge"}


def test_participants_of_prolific_are_people(file):
    rows = [f"5f{who:08x},t{k},{(k * who) % 5 + 1},{k % 5 + 1}" for who in (2, 3) for k in range(40)]
    read = read_file(file("a.csv", "\n".join(["PROLIFIC_PID,stimulus,rating,llm_rating", *rows])))
    assert read.ratings.raters == {"5f00000002": "person", "5f00000003": "person", "llm": "judge"}


def test_a_flag_that_says_where_two_raters_differ_is_no_slice(file):
    words = ("fail", "pass")  # every judge would fail on what it marks
    rows = [f"t{k},{words[a]},{words[b]},{'yes' if a != b else 'no'}"
            for k in range(60) for a, b, _ in [verdicts(k)]]  # fmt: skip
    read = read_file(file("a.csv", "\n".join(["id,human,gpt,needs_review", *rows])))
    assert (read.ratings.raters, read.mapping.slices) == ({"human": "person", "gpt": "judge"}, ())


def test_a_correct_option_is_true_and_no_judge(file):
    rows = [f"t{k},{'ABCD'[k % 4]},{'ABCD'[(k + (k % 9 < 1)) % 4]},{'ABCD'[(k + (k % 7 < 1)) % 4]}" for k in range(60)]
    read = read_file(file("a.csv", "\n".join(["id,correct_option,human_answer,gpt4_answer", *rows])))
    assert (read.ratings.truth, read.ratings.judges) == ("correct_option", ("gpt4_answer",))


def test_rows_below_one_that_is_left_out_keep_their_lines(file):
    rows = [f"t{k},{k % 3},{k % 2}" for k in range(12)]
    text = "\n".join(["item,judge,anna", *rows[:6], "item,judge,anna", *rows[6:]])
    raw = read_file(file("a.csv", text)).raw
    assert [raw.at(k) for k in (5, 6, 11)] == [7, 9, 14]
