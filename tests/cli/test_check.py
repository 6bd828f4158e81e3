"""`recuse check FILE`: the verdict first, exit codes, never cleared without grounds, files that it writes."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from recuse.security.sanitize import safe_cell


def good(truth, rng):
    return np.where(rng.random(len(truth)) < 0.97, truth, ~truth)


def always(truth, rng):
    return np.ones(len(truth), dtype=bool)


def inverted(truth, rng):
    return ~good(truth, rng)


def at_random(truth, rng):
    return rng.random(len(truth)) < 0.6


def refuses_fails(truth, rng):
    return np.where(truth | (rng.random(len(truth)) < 0.4), good(truth, rng), None)


@pytest.fixture(scope="module")
def checked(recuse, written_tickets, tmp_path_factory):
    """A good judge checked once with everything that can be asked for: what was printed, results.json and the page."""
    folder = tmp_path_factory.mktemp("good")
    path = written_tickets(folder, good)
    found = recuse("check", path, "--all", "--json", folder / "r.json", "--html", folder / "r.html")
    return found.out, json.loads((folder / "r.json").read_text()), (folder / "r.html").read_text()


CLEARED = "judge is cleared to decide: it agrees with your people better than they agree with each other."


def test_a_good_judge_is_cleared_without_a_flag(recuse, tickets):
    found = recuse("check", tickets(good))
    assert (found.code, found.err) == (0, "")
    assert found.first == CLEARED
    assert "  (to decide: acts on pass or fail, or on a label; to " in found.out


@pytest.mark.slow("whole runs")
def test_agreement_says_how_many_answers_are_guesses(recuse, tickets, checked):
    def leaves_out(truth, rng):
        return np.where(np.arange(len(truth)) < 9, None, good(truth, rng))

    guessed = "; guesses stand for answers that are not there: "
    assert f"{guessed}9\n" in recuse("check", tickets(leaves_out), "--all").out
    assert guessed not in checked[0]


def test_a_judge_asked_in_two_ways_is_told_apart(recuse, tmp_path):
    """As its people at temperature 0, anything at 1."""
    rng = np.random.default_rng(4)
    truth, anything = rng.integers(1, 6, 120), rng.integers(1, 6, 120)
    close = np.clip(truth + rng.choice([-1, 0, 0, 0, 1], (3, 120)), 1, 5)
    with (tmp_path / "temperatures.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["item", "temperature", "anna", "ben", "judge"])
        for k in range(120):
            rows.writerow([f"t{k}", 0, close[0][k], close[1][k], close[2][k]])
            rows.writerow([f"t{k}", 1, close[0][k], close[1][k], anything[k]])
    found = recuse("check", tmp_path / "temperatures.csv", "--all")
    assert found.code == 1
    cause = "judge is not cleared to grade: with temperature 1, it agrees with your people no more than chance would."
    assert found.first == cause
    alphas = re.findall(r"judge, temperature (\d) +Krippendorff's alpha with people: (-?\d\.\d\d)", found.out)
    assert [level for level, _ in alphas] == ["0", "1"]
    (good_alpha, bad_alpha) = (float(alpha) for _, alpha in alphas)
    assert good_alpha > 0.7
    assert abs(bad_alpha) < 0.3


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (always, "it always says pass, so it tells nothing apart"),
        (inverted, "it says the opposite of what your people say"),
        (at_random, "it agrees with your people no more than chance would"),
        (refuses_fails, "it leaves texts unanswered"),
    ],
)
def test_a_judge_with_a_planted_fault_is_not_cleared_and_the_reason_is_named(recuse, tickets, judge, why):
    """The first clause; where that explains the disagreement, nothing else is said of it."""
    found = recuse("check", tickets(judge))
    assert found.code == 1
    assert found.first.startswith(f"judge is not cleared to decide: {why}")
    assert "opposite" not in found.first or judge is inverted
    assert ("turn its answers round" in found.out) == (judge is inverted)


def test_under_twenty_fails_nobody_is_cleared(recuse, tickets):
    found = recuse("check", tickets(lambda truth, rng: truth, items=120, passes=0.97))
    assert found.code == 2
    assert found.first.startswith("judge is undecided to decide: ")
    assert "hardly more than by chance, so no judge can be told from a guess: the labels are the problem" in found.first


def test_without_people_nobody_is_cleared(recuse, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("item,gpt,claude\n" + "".join(f"{k},{1 + k % 5},{1 + k % 5}\n" for k in range(50)))
    found = recuse("check", path)
    assert found.code == 2
    judges = [line for line in found.out.splitlines() if " is undecided to grade: " in line]
    assert [line.split()[0] for line in judges] == ["gpt", "claude"]
    assert all("no ratings by people and no true answers" in line for line in judges)


def test_one_person_alone_does_not_clear_to_grade(recuse, tmp_path):
    """How far people agree is what a judge that grades is held against."""
    path = tmp_path / "one.csv"
    path.write_text("item,judge,anna\n" + "".join(f"{k},{1 + k % 5},{1 + k % 5}\n" for k in range(200)))
    found = recuse("check", path, "--use", "grade")
    assert found.code == 2
    assert "one person alone rated these texts, so nobody knows how well people agree" in found.first
    assert "  next: let a second person rate some of the same texts" in found.out.splitlines()


def test_it_says_what_was_read_and_what_would_unlock_the_rest(checked):
    out, _, _ = checked
    assert "people        anna, ben" in out
    assert "rating: fail < pass" in out
    assert "Needs: the judge's repeats: a column repeat, or columns judge.1, judge.2" in out
    unasked = out.partition("\nNot asked\n")[2].partition("\n\n")[0].splitlines()
    assert [line for line in unasked if "? Needs: " not in line and "recuse init" not in line] == []


def test_too_little_memory_is_a_sentence_and_no_verdict(recuse, monkeypatch):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 24.3 GiB")

    monkeypatch.setattr("recuse.check.check_command.run_check", full)
    outcome = recuse("check", "t.csv")
    assert outcome.code == 3
    assert outcome.err == (
        "recuse: out of memory (Unable to allocate 24.3 GiB); give fewer rows, or fewer repeats of one text\n"
    )


@pytest.mark.slow("interrupted recordings")
def test_a_reader_who_leaves_early_changes_no_verdict(tickets):
    """`recuse check tickets.csv | head -1` in a script that looks at the exit code."""
    nobody, out = os.pipe()
    os.close(nobody)
    try:
        run = subprocess.run(
            [sys.executable, "-m", "recuse.cli", "check", tickets(inverted)],
            stdout=out, stderr=subprocess.PIPE, text=True, timeout=300,
        )  # fmt: skip
    finally:
        os.close(out)
    assert (run.returncode, run.stderr) == (1, "")


def test_what_cannot_be_read_is_one_line_and_code_three(recuse, tmp_path):
    found = recuse("check", tmp_path / "none.csv")
    assert (found.code, found.out) == (3, "")
    assert found.err.startswith("recuse: ")
    assert found.err.count("\n") == 1


def test_the_results_as_json_say_the_same(checked):
    _, results, _ = checked
    [stated] = [one for one in results["decision"]["judges"] if one["stated"]]
    assert {key: stated[key] for key in ("judge", "use", "word")} == {
        "judge": "judge", "use": "decide", "word": "cleared"
    }  # fmt: skip
    assert results["panels"][0]["provenance"] == "imported"
    assert len(results["panels"][0]["source"].partition("sha256 ")[2]) == 64


def test_page_and_json_begin_with_the_same_word(checked):
    """A file is no change that could be merged."""
    _, results, page = checked
    assert results["headline"] == CLEARED
    assert results["decision"]["lines"] == [CLEARED, "These judges: 1 of 1 cleared to decide (judge)."]
    assert '<h1>judge is <em class="word cleared">cleared</em> to decide: ' in page
    assert "This change" not in page
    assert "1 of 1 cleared to decide (judge)" in page
    assert "<script" not in page


def test_disagreements_carry_an_empty_verdict_and_are_read_back(recuse, tickets, tmp_path):
    review = tmp_path / "review.csv"
    assert "Worth reading" not in recuse("check", tickets(good), "--disagreements", review, "--all").out
    with review.open(encoding="utf-8-sig") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["your_verdict"] for row in rows} == {""}
    assert all(row["answer"] != row["people"].split(", ")[0] or "," in row["people"] for row in rows)
    rows = [row for row in rows if len(set(row["people"].split(", "))) == 1][:10]
    for k, row in enumerate(rows[:7]):
        row["your_verdict"] = row["answer"] if k < 3 else row["people"].split(", ")[0]
    with review.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    found = recuse("check", review)
    assert found.code == 2
    assert "you decided 7 of 10 disagreements; you side with the judge in 3, with people in 4" in found.first


def test_what_was_read_and_the_use_are_kept_when_asked(recuse, tickets, tmp_path):
    """Stated once, it is the use through every door."""
    path = tickets(good)
    saved = recuse("check", path, "--save", "--people", "anna", "--ignore", "ben", "--use", "estimate")
    kept = recuse("check", path)
    assert " to estimate: " in saved.first
    assert kept.first == saved.first
    assert "people: anna; judges: judge" in kept.out
    assert " to decide: " in recuse("check", path, "--use", "decide").first
    found = recuse("check", path, "--use", "none", "--html", tmp_path / "page.html")
    assert found.first.startswith("These judges: none is used for anything: studies are measured")
    assert "<h1>Nothing was to be decided." in (tmp_path / "page.html").read_text()
    assert found.code == 2
    wrong = recuse("check", path, "--use", "gradee")
    assert (wrong.code, "Did you mean" in wrong.err) == (3, True)


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@cmd", "'@cmd"),
        ("-2+3", "'-2+3"),
        ("-2.5", "-2.5"),
        ("plain", "plain"),
        ("a\u202eb", "a⟦U+202E⟧b"),
    ],
)
def test_no_cell_begins_a_formula(cell, written):
    assert safe_cell(cell) == written


def test_a_heading_on_the_page_says_which_gates_passed(recuse, tmp_path):
    """Beside one person nobody knows whether a judge agrees with people: "1 pass" is that it answered."""
    rng, page = np.random.default_rng(3), tmp_path / "page.html"
    rows = [f"t{k},{1 + k % 5},{1 + (k + int(rng.random() < 0.1)) % 5}" for k in range(100)]
    (tmp_path / "one.csv").write_text("\n".join(["item,anna,gpt-4o", *rows]))
    assert recuse("check", tmp_path / "one.csv", "--html", page).code == 2
    assert re.search(r"item by item\?</h2> <i [^>]*>pass</i>1 pass: unanswered<", page.read_text())


# --------------------------------------------------------------------------- versions, labels, slices


def test_the_newest_of_several_files_is_judged_and_its_drift_told(recuse, tickets):
    old = tickets(good, name="march.csv")
    changed = tickets(lambda truth, rng: good(truth, rng) ^ (rng.random(len(truth)) < 0.3), name="april.csv")
    found = recuse("check", old, changed)
    assert found.code == 1
    assert found.first.startswith("judge is not cleared to decide: it is not the judge it was (")
    assert "change of answers 30" in found.first
    assert f"recuse check {old} {changed} --people" in found.out
    same = recuse("check", old, tickets(good, name="may.csv"), "--all")
    assert same.code == 0
    assert "change of answers from version to version" in same.out


def test_the_word_is_on_the_newest_and_rests_on_no_older_version(recuse, tickets):
    new = tickets(good, name="april.csv")
    lost = tickets(lambda truth, rng: np.where(np.arange(len(truth)) % 5, good(truth, rng), None), name="march.csv")
    assert recuse("check", lost).code == 1
    alone, both = recuse("check", new), recuse("check", lost, new, "--all")
    assert (both.first, both.code) == (alone.first, 0)
    assert "judge, version march" in both.out


def test_a_judge_of_the_older_version_alone_is_said_to_be_that(recuse, tmp_path):
    rng, old, new = np.random.default_rng(3), tmp_path / "march.csv", tmp_path / "april.csv"
    quality = rng.integers(1, 6, 100)
    given = {who: np.clip(quality + (rng.random(100) < 0.2), 1, 5) for who in ("ann", "bea", "gpt", "claude")}
    table = pd.DataFrame({"item": [f"t{k}" for k in range(100)], **given})
    table.to_csv(old, index=False)
    table.drop(columns="claude").to_csv(new, index=False)
    found = recuse("check", old, new, "--people", "ann,bea", "--use", "grade")
    assert "claude is undecided to grade: april has no answers of it: it is in march alone.\n" in found.out
    assert "next: add its answers to april, or check march alone" in found.out
    assert "gpt is cleared to grade" in found.out
    assert "claude" not in recuse("check", new, "--people", "ann,bea", "--use", "grade").out


def test_files_that_are_no_versions_of_each_other_are_one_line(recuse, tickets, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("ticket,gpt\n" + "".join(f"t{k},{'pass' if k % 2 else 'fail'}\n" for k in range(40)))
    found = recuse("check", tickets(good), other)
    assert (found.code, found.out) == (3, "")
    assert "several files are read as versions of one judge" in found.err


def test_it_says_how_many_labels_more_and_what_it_could_have_shown(recuse, tickets):
    out = recuse("check", tickets(good, items=200), "--all", most_drawn=200).out
    assert "Labels for ± 0.05" in out
    assert re.search(r"mean as people would rate: about \d+; there are 200, so \d+ more", out)
    assert re.search(r"a judge that is one more person would be cleared to decide \d+ times in 100", out)


def test_the_number_more_that_would_decide_is_of_what_is_collected(recuse, tmp_path):
    """Ten fails of 200 were all caught, and 17 show 80 %: 140 texts more. Of 40 items by three systems, texts count."""
    rows = [["item", "anna", "judge"], *([k, *["fail" if k < 10 else "pass"] * 2] for k in range(200))]
    (tmp_path / "fails.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    found = recuse("check", tmp_path / "fails.csv")
    assert found.first.endswith("about 140 items more would decide.")
    assert "  next: collect about 140 items more\n" in found.out
    rng = np.random.default_rng(1)
    z = rng.normal(5, 1.5, 120)
    given = np.clip((z + rng.normal(0, 1, (3, 120))).round(), 0, 10).astype(int)
    rows = [["item", "system", "anna", "ben", "judge"], *([k // 3, "xyz"[k % 3], *given[:, k]] for k in range(120))]
    (tmp_path / "systems.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    assert re.search(r"about \d+ texts more would decide\.$", recuse("check", tmp_path / "systems.csv").first)


def test_a_word_keeps_its_next_step_where_not_all_are_shown(recuse, tmp_path):
    rng = np.random.default_rng(2)
    truth = rng.random(150) < 0.6
    said = {who: np.where(rng.random(150) < wrong, ~truth, truth) for who, wrong in
            [("anna", 0.05), ("ben", 0.05), *((f"judge_{k:02d}", 0.45) for k in range(12))]}  # fmt: skip
    table = pd.DataFrame({who: np.where(of, "pass", "fail") for who, of in said.items()})
    table.insert(0, "item", range(150))
    table.to_csv(tmp_path / "many.csv", index=False)
    lines = recuse("check", tmp_path / "many.csv").out.splitlines()
    cut = next(k for k, line in enumerate(lines) if line.startswith("  These judges: 0 of 12 cleared"))
    assert cut == 6
    assert [line.startswith("  next: ") for line in lines[:cut]] == [False, True] * 3
    assert "; 12 not cleared: " in lines[cut]
    worst = lines[0].split()[0]
    assert f"; 12 not cleared: {worst} " in lines[cut]
    assert next(line for line in lines if line.startswith("  fail ")).split()[1] == f"{worst}:"


def test_whom_it_may_stand_in_for_and_what_needs_no_person_are_sentences(checked):
    out, _, _ = checked
    assert "it may stand in for 2 of 2 people (anna, ben), by the alternative annotator test" in out
    assert re.search(r"on its own, at 5 % errors: .*", out)
    assert "Worth reading" in out
    assert "in words     Does a judge score as people do?" in out
    assert "in words     Does a judge agree with people" not in out  # its sentences stand further up


def test_the_gates_of_agreement_are_decided(checked):
    """Nothing can be sliced here, so the slices are not asked for rather than not measured; what decides nothing is
    measured."""
    _, results, _ = checked
    verdicts = {v["gate"]: v["outcome"] for v in results["verdicts"]}
    assert (verdicts["human_ceiling"], verdicts["unanswered"]) == ("pass", "pass")
    assert not {"worst_slice", "slice_favour"} & set(verdicts)
    measured = {one["estimate"]["metric"] for one in results["measurements"]}
    assert {"winning_rate", "delegable_share"} <= measured - set(verdicts)


def test_the_page_draws_agreement(checked):
    _, _, page = checked
    for caption in (
        "Agreement beyond chance", "Agreement with people less people", "Alternative annotator test",
        "What may be left to a judge alone", "Every coefficient that fits the scale",
    ):  # fmt: skip
        assert caption in page
    assert "could not be drawn" not in page


def test_sets_of_options_are_compared_with_peoples(recuse, tmp_path):
    rng, names = np.random.default_rng(3), ("toxic", "fine", "toxic|fine")
    truth = rng.integers(3, size=90)
    lines = ["item,gpt-4o,ann,bob"]
    for k, right in enumerate(truth):
        said = [names[right if rng.random() < 0.9 else rng.integers(3)] for _ in range(3)]
        lines.append(",".join([str(k), *said]))
    (tmp_path / "sets.csv").write_text("\n".join(lines) + "\n", "utf-8")
    found = recuse("check", tmp_path / "sets.csv", "--all")
    assert found.err == ""
    assert "rating: sets of fine, toxic" in found.out
    assert "same answer as people" in found.out


def test_counts_that_do_not_add_up_are_told_with_their_line(recuse, tmp_path):
    (tmp_path / "counts.csv").write_text("item,rater,count_yes,count_no,total\n1,gpt,3,1,5\n", "utf-8")
    found = recuse("check", tmp_path / "counts.csv")
    assert found.code != 0
    assert "counts.csv: line 2: count_yes, count_no add up to 3 + 1 = 4, and total says '5'" in found.err


def test_every_criterion_counts_and_is_named(recuse, tmp_path):
    """A judge that is good on one criterion and says the same to everything on another is not cleared for that."""
    rng = np.random.default_rng(5)
    rows = ["ticket,gpt4_tone,gpt4_truth,anna_tone,anna_truth,ben_tone,ben_truth"]
    for ticket in range(60):
        tone, truth = rng.integers(1, 6, 2)
        near = [int(np.clip(value + rng.integers(-1, 2), 1, 5)) for value in (tone, tone, truth, tone, truth)]
        rows.append(f"{ticket},{near[0]},5,{near[1]},{near[2]},{near[3]},{near[4]}")
    path = tmp_path / "two.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    found = recuse("check", path, "--all")
    assert found.code == 1
    assert found.first.startswith("gpt4 is not cleared to grade: on truth, it always says 5, so it tells nothing apart")
    for criterion in ("tone", "truth"):
        assert re.search(rf"gpt4, {criterion} +agreement with people less people's own: ", found.out)


@pytest.mark.parametrize("command", ["check", "compare", "choose"])
def test_a_file_of_people_alone_is_one_line(recuse, tmp_path, command):
    path = tmp_path / "people.csv"
    path.write_text("id,human_a,human_b\n" + "\n".join(f"{k},{k % 5},{k % 4}" for k in range(30)), encoding="utf-8")
    found = recuse(command, path)
    assert (found.code, found.out) == (3, "")
    assert "no judge was found in it, only people (human_a, human_b); say who is one: --judge A,B" in found.err


def test_a_file_in_which_nobody_rated_is_one_line(recuse, tmp_path):
    path = tmp_path / "nobody.json"
    path.write_text(json.dumps([{"item": f"t{k}", "system": "s1", "x": ""} for k in range(20)]), encoding="utf-8")
    found = recuse("choose", path, "--people", "x")
    assert found.err == f"recuse: {path}: no judge was found in it, and no person; say who is one: --judge A,B\n"


def test_a_criterion_that_nobody_rated_keeps_a_judge_from_being_cleared(recuse, tmp_path):
    rows = ["case,judge_tone,judge_tag,anna_tone,ben_tone"]
    rows += [f"{k},{k % 5},{('spam', 'news', 'ad')[k % 3]},{k % 5},{k % 5}" for k in range(60)]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    found = recuse("check", path)
    assert found.code == 2
    assert found.first.startswith("judge is undecided to grade: ")
    assert "on tag, " in found.first
    assert "people rated no text that the judge was asked about" in found.first


def test_a_fault_of_our_own_is_no_verdict(recuse, tickets, monkeypatch):
    """Python ends with 1 for an exception that nobody caught, which would read as: not cleared."""
    monkeypatch.setattr("recuse.check.check_command.ask_shipped", lambda *given, **more: 1 / 0)
    found = recuse("check", tickets(good))
    assert found.code == 3
    assert "ZeroDivisionError" in found.err


def test_people_whose_rows_leave_the_prompt_empty_are_compared_with_every_prompt(recuse, tmp_path):
    """Asked short the judge is right; asked long it says pass to everything, as nine people in ten do."""
    rng = np.random.default_rng(5)
    rows = ["item,rater,kind,prompt,score"]
    for k in range(300):
        good = rng.random() < 0.9
        word = {True: "pass", False: "fail"}
        rows += [f"t{k},{who},person,,{word[good]}" for who in ("anna", "ben")]
        rows += [f"t{k},gpt,judge,short,{word[good]}", f"t{k},gpt,judge,long,pass"]
    path = tmp_path / "prompts.csv"
    path.write_text("\n".join(rows) + "\n")
    assert recuse("check", path).first == (
        "gpt is not cleared to decide: with prompt long, it always says pass, so it tells nothing apart."
    )


def test_the_command_that_is_offered_names_every_judge(recuse, tmp_path):
    """Copied with some of them left out, it would examine fewer."""
    path = tmp_path / "many.csv"
    judges = [f"gpt-{k}" for k in range(6)]
    lines = [",".join(["item", "anna", *judges]), *(",".join(map(str, [f"t{k}", *[k % 5 + 1] * 7])) for k in range(30))]
    path.write_text("\n".join(lines) + "\n")
    [offered] = [line for line in recuse("check", path, "--all").out.splitlines() if "Not right?" in line]
    assert f"--people anna --judge {','.join(judges)} " in offered


def test_a_choice_made_in_one_order_only_says_once_what_is_missing_and_what_to_do(recuse, tmp_path):
    rng = np.random.default_rng(2)
    rows = ["question_id,model_a,model_b,human_winner,judge_winner"]
    for k in range(200):
        first, second = rng.choice(["m1", "m2", "m3"], 2, replace=False)
        human = "ab"[int(rng.integers(2))]
        rows.append(f"q{k},{first},{second},{human},{human if k % 5 else 'ab'[human == 'a']}")
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(rows) + "\n")
    found = recuse("check", path)
    assert found.code == 2
    assert found.out.startswith(
        "judge_winner is undecided to choose: order consistency and position bias could not be measured (no pair has a "
        "usable verdict in both orders).\n  next: let it judge some pairs in both orders\n"
    )


def test_a_figure_of_one_criterion_of_several_says_which(recuse, tmp_path):
    """Two lines of one gate are told apart."""
    rng = np.random.default_rng(2)
    quality = rng.integers(1, 6, 60)
    rows = [
        (f"i{i}", who, criterion, int(np.clip(quality[i] + rng.integers(-1, 2), 1, 5)))
        for i in range(60) for who in ("ann", "ben", "gpt-4o") for criterion in ("accuracy", "tone")
    ]  # fmt: skip
    pd.DataFrame(rows, columns=["item", "rater", "criterion", "score"]).to_csv(tmp_path / "f.csv", index=False)
    lines = recuse("check", tmp_path / "f.csv").out.splitlines()
    figures = [line.partition(":")[0].split(maxsplit=1)[1] for line in lines if ", limit " in line]
    assert {"gpt-4o, accuracy", "gpt-4o, tone"} <= {*figures}


def test_a_printed_command_reads_the_file_as_it_was_read(recuse, tmp_path):
    path, rng = tmp_path / "our file.csv", np.random.default_rng(3)
    scores = {who: rng.integers(1, 6, 60) for who in ("mia", "xy", "kim")}
    pd.DataFrame({"q": range(60), **scores}).to_csv(path, index=False)
    typed = ("--threshold", "4", "--people", "mia,kim", "--judges", "xy", "--sampled")
    done = recuse("check", path, *typed)
    hints = [line.partition("recuse check ")[2] for line in done.out.splitlines() if "recuse check " in line]
    assert len(hints) == 3
    for hint in hints:
        assert hint.startswith(f"{shlex.join([str(path), *typed])} ")
    (every,) = (hint.partition("     ")[0] for hint in hints if "--all" in hint)
    assert recuse("check", *shlex.split(every)).code == done.code


def test_the_hint_gives_the_column_of_right_answers_back(recuse, tmp_path):
    anna = ["pass", "fail", "fail"] * 13 + ["pass"]
    frame = pd.DataFrame({"item": range(40), "right": ["pass", "fail"] * 20, "anna": anna})
    frame.assign(gpt=frame["right"]).to_csv(tmp_path / "f.csv", index=False)
    out = recuse("check", tmp_path / "f.csv", "--gold", "right", "--people", "anna", "--judges", "gpt", "--all").out
    hint = next(line for line in out.splitlines() if "Not right?" in line)
    assert hint.endswith("f.csv --people anna --judges gpt --gold right   (--save keeps it)"), hint  # each once
    assert "people disagree on" not in out  # of the one person and the right answers
    assert "people        anna\n" in out


def test_a_column_that_is_no_judges_confidence_is_named_as_not_used(recuse, tmp_path):
    """ "am" stands in llama's name, and am_confidence is not about it."""
    path, rng = tmp_path / "f.csv", np.random.default_rng(4)
    answers = {who: rng.choice(["pass", "fail"], 40) for who in ("anna", "gpt", "llama")}
    sure = {f"{who}_confidence": rng.uniform(size=40).round(2) for who in ("gpt", "am")}
    pd.DataFrame({"item": range(40), **answers, **sure}).to_csv(path, index=False)
    out = recuse("check", path, "--people", "anna", "--judges", "gpt,llama").out
    assert "\n  not used: am_confidence (why: --all)\n" in out
    assert "\n  how sure it was is known of gpt\n" in out


def test_the_command_to_change_gives_each_option_once(recuse, tmp_path):
    path = tmp_path / "f.csv"
    answers = {who: [k % 5 + 1 for k in range(30)] for who in ("anna", "gpt")}
    pd.DataFrame({"item": range(30), **answers}).to_csv(path, index=False)
    named = {(): "--people A,B --judges C", ("--people", "anna"): "--people anna --judges C"}
    named["--people", "anna", "--judge", "gpt"] = "--people anna --judges gpt"
    for typed, shown in named.items():
        lines = recuse("check", path, *typed).out.splitlines()
        assert f"  Not right? recuse check {path} {shown}   (--save keeps it)" in lines
    lines = recuse("check", path, *typed, "--all").out.splitlines()
    assert f"  Not right? recuse check {path} --people anna --judges gpt   (--save keeps it)" in lines
