"""`recuse compare`: two judges of a file, two files, exit codes, and what cannot be compared."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from recuse import compare, read
from recuse.cli import main
from recuse.gates.baseline_file import SCHEMA
from recuse.schema import RecuseError
from recuse.suite.question_runner import shipped_evals
from recuse.suite.questions import Elicitation
from recuse.upgrade.compare_command import _limits_of
from recuse.upgrade.sources import Source

ITEMS = 500
PANEL = Path(__file__).parents[2] / "fixtures" / "panels" / "thesis.toml"
SHIPPED = shipped_evals() / "gates.toml"


@pytest.fixture
def files(tmp_path):
    """`files(name, **columns)`: a CSV of tickets; columns are arrays of 0 and 1, NaN for an empty cell."""

    def write(name, **columns):
        words = {k: ["" if np.isnan(v) else "pass" if v else "fail" for v in column] for k, column in columns.items()}
        lines = [",".join(["ticket", "bot", *words])]
        lines += [",".join([f"t{k}", "AB"[k % 2], *(w[k] for w in words.values())]) for k in range(ITEMS)]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def rater():
    rng = np.random.default_rng(11)
    truth = (rng.random(ITEMS) < 0.6).astype(float)
    return lambda right: np.where(rng.random(ITEMS) < right, truth, 1 - truth)


def test_a_judge_that_is_worse_may_not_replace(recuse, files, rater):
    path = files("t.csv", anna=rater(0.95), judge_v1=rater(0.95), judge_v2=rater(0.7))
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert found.code == 1, found.err
    assert found.first.startswith("Do not replace judge_v1 by judge_v2: it ")
    assert "Same 500 texts, paired" in found.out


def test_a_noisy_judge_asked_anew_is_not_called_worse(recuse, files, rater):
    """Two answers of one judge that is right nine times in ten differ on 18 % of texts: with one answer each nobody can
    tell these from a change, so the advice is to ask the judge in use again. Where somebody rated the texts, that
    decides instead."""
    columns = {"judge_v1": rater(0.9), "judge_v2": rater(0.9)}
    alone = recuse("compare", files("t.csv", **columns), "judge_v1", "judge_v2")
    assert alone.code == 2, alone.out
    assert "ask judge_v1 again" in alone.first
    rated = recuse("compare", files("u.csv", anna=rater(0.95), **columns), "judge_v1", "judge_v2")
    assert rated.code in (0, 2), rated.out
    assert "ask judge_v1 again" not in rated.first


def test_few_flips_of_a_judge_asked_once_take_more_items(recuse, files, rater):
    """43 of 500 flipped: below the tenth that is allowed, but not surely."""
    old = rater(0.9)
    new = np.where(np.arange(ITEMS) % 12 == 0, 1 - old, old)
    found = recuse("compare", files("t.csv", judge_v1=old, judge_v2=new), "judge_v1", "judge_v2")
    assert found.code == 2, found.out
    assert "decisions flipped is too close" in found.first
    assert "or judge_v1 asked again, would decide" in found.first


def test_a_judge_that_decides_the_other_way_round_differs_though_asked_once(recuse, files, rater):
    old = rater(0.9)
    path = files("t.csv", judge_v1=old, judge_v2=1 - old)
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert found.code == 2
    assert found.first == (
        "judge_v2 decides differently from judge_v1: it decides otherwise, by more than you allow; nobody knows who is "
        "right."
    )
    assert found.out.index("next: keep judge_v1") < found.out.index("next: let two people") < found.out.index("accept")
    rated = recuse("compare", files("u.csv", anna=old, judge_v1=old, judge_v2=1 - old), "judge_v1", "judge_v2")
    assert rated.code == 1
    assert rated.first.startswith("Do not replace judge_v1 by judge_v2: it ")


def test_too_few_texts_for_an_interval_are_called_too_few(recuse, tmp_path):
    """Agreement of ten texts has no interval, wherever its value lies: it is not "close to what you allow"."""
    rng = np.random.default_rng(3)
    lines = ["item,anna,ben,judge_v1,judge_v2"]
    for k in range(10):
        good = rng.normal(6, 2)
        given = np.clip(np.round(good + rng.normal(0, 1, 4)), 1, 10).astype(int)
        lines.append(",".join([f"t{k}", *map(str, given)]))
    path = tmp_path / "ten.csv"
    path.write_text("\n".join(lines) + "\n")
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert found.code == 2, found.out
    assert "10 items are too few to say how sure" in found.first


def test_what_was_read_stands_below_the_verdict(recuse, files, rater):
    old = rater(0.9)
    path = files("t.csv", anna=rater(0.95), judge_v1=old, judge_v2=old)
    path.write_text(path.read_text().replace("pass", "maybe", 1))
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert "t.csv: people: anna" in found.out
    assert "t.csv: fault: 1 answer(s) are none of" in found.out


@pytest.mark.parametrize("arguments", [["compare"], ["compare", "x.csv", "--scael", "1-5"], ["check"], ["nonsense"]])
def test_arguments_that_cannot_be_read_are_no_verdict(arguments, capsys):
    """argparse's own exit code is 2, which is "undecided"."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 3
    assert "usage: recuse" in capsys.readouterr().err


def test_a_person_of_one_file_only_is_said_of_each_file(recuse, files, rater):
    before, after = files("before.csv", judge=rater(0.9), ben=rater(0.9)), files("after.csv", judge=rater(0.9))
    found = recuse("compare", before, after, "--people", "ben")
    assert found.code == 3
    assert "no rater 'ben' to be a person" in found.err
    assert "of each of two files by itself: recuse check FILE --people A,B --save" in found.err


def test_a_panel_has_no_columns_to_name(recuse):
    found = recuse("compare", "fixtures/panels/local.toml", "--people", "ben")
    assert (found.code, "a panel has no columns to name by --people" in found.err) == (3, True)


def test_files_without_a_common_text_say_how_texts_are_matched(recuse, files, rater):
    before, after = files("before.csv", judge=rater(0.9)), files("after.csv", judge=rater(0.9))
    after.write_text(after.read_text().replace("\nt", "\nx"))
    found = recuse("compare", before, after)
    assert found.code == 3
    assert "a text has to have the same name on both sides" in found.first


def test_files_that_share_some_texts_are_compared_on_these(recuse, files, rater, tmp_path):
    """A file may have more texts than the one before it; where it has fewer, nobody passes by what it lacks."""
    same = rater(0.95)
    before, after = files("before.csv", judge=same), files("after.csv", judge=same)
    lines = after.read_text().splitlines()
    after.write_text("\n".join([*lines, *(f"x{k},A,pass" for k in range(40))]) + "\n")
    found = recuse("compare", before, after)
    assert found.code == 0, found.out
    assert "also: 40 of 540 texts of judge after are left out" in found.out
    after.write_text("\n".join(line for line in lines if not line.endswith("fail")) + "\n")
    found = recuse("compare", before, after, "--html", tmp_path / "page.html")
    assert found.code == 2, found.out
    assert found.first.startswith("Whether judge after may replace judge before is undecided: ")
    assert found.first.endswith(" texts have no answer of judge after.")
    [why] = [line for line in found.out.splitlines() if "Ask judge after of them" in line]
    assert why.strip().removeprefix("also: ") in (tmp_path / "page.html").read_text()


def test_a_part_of_a_file_names_its_texts_as_the_whole_does(recuse, tmp_path):
    """Question numbers come back under some topics of the whole, and under none of the part."""
    rng = np.random.default_rng(2)
    header = "question,subset,system,judge,r1,r2"
    rows = [f"q{k if k < 20 else k + 200 * t},{t or 'law'},A,gpt,{','.join(map(str, rng.integers(1, 6, 2)))}"
            for t in range(2) for k in range(200)]  # fmt: skip
    for name, kept in (("part.csv", rows[:150]), ("whole.csv", rows)):
        (tmp_path / name).write_text("\n".join([header, *kept]) + "\n")
    found = recuse("compare", tmp_path / "part.csv", tmp_path / "whole.csv")
    assert "250 of 400 texts of gpt after are left out" in found.out, found.out
    assert "Same 150 texts, paired" in found.out


def test_a_byte_identical_judge_may_replace(recuse, files, rater):
    same = rater(0.95)
    path = files("t.csv", anna=rater(0.95), judge_v1=same, judge_v2=same)
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert (found.code, found.first) == (
        0, "judge_v2 may replace judge_v1: no difference larger than you allow, in 6 comparisons.",
    )  # fmt: skip


def test_one_that_leaves_texts_out_is_told_by_its_losses(recuse, files, rater):
    same = rater(0.95)
    gone = same.copy()
    gone[:100] = np.nan
    path = files("t.csv", anna=rater(0.95), judge_v1=same, judge_v2=gone)
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert found.code == 1
    assert "leaves more replies without a usable answer, by more than you allow" in found.first


def test_two_files_of_one_judge(recuse, files, rater):
    same = rater(0.95)
    old, new = files("old.csv", judge=same), files("new.csv", judge=same)
    found = recuse("compare", old, new)
    assert (found.code, found.first.split(":")[0]) == (0, "judge after may replace judge before")


def test_a_few_rows_that_are_gone_count_as_unanswered(recuse, files, rater, tmp_path):
    old = files("old.csv", judge=rater(0.9))
    new = tmp_path / "new.csv"
    new.write_text("\n".join(old.read_text(encoding="utf-8").splitlines()[:-7]) + "\n", encoding="utf-8")
    found = recuse("compare", old, new)
    assert found.code == 0, found.out
    assert "judge after has no answer to 7 of 500 texts of judge before, first t493: counted as unanswered" in found.out
    assert "Same 493 texts, paired" in found.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["judge_v1"], "name two judges, the one in use and its candidate, or none; got judge_v1"),
        ([], "say which judge is in use and which would replace it: recuse compare {path} judge_v1 judge_v2"),
        (["judge_v1", "judge_v9"], "t.csv has no judge judge_v9; it has judge_v1, judge_v2"),
        (["judge_v1", "judge_v1"], "an upgrade is between two judges; judge_v1 was named as both"),
    ],
)
def test_mistakes_are_told_in_a_line(recuse, files, rater, arguments, says):
    path = files("t.csv", judge_v1=rater(0.9), judge_v2=rater(0.9))
    found = recuse("compare", path, *arguments)
    assert found.code == 3
    assert says.format(path=path) in found.err


def test_the_command_that_is_offered_can_be_typed_as_it_stands(recuse, files, rater, tmp_path):
    """From the folder it was typed in, with names that the shell would take apart."""
    (tmp_path / "two words").mkdir()
    path = files("two words/t.csv", **{"judge v1": rater(0.9), "judge v2": rater(0.9), "anna": rater(0.9)})
    found = recuse("compare", path)
    offered = shlex.split(found.err.partition("recuse compare ")[2].partition("; the judges")[0])
    assert offered == [str(path), "judge v1", "judge v2"], found.err
    assert recuse("compare", *offered).code != 3


def test_the_ways_in_which_the_only_judge_was_asked_are_offered_and_cost_what_the_file_says(recuse, tmp_path):
    """A file's column of costs counted for the choice between judges, and not for an upgrade."""
    path = tmp_path / "t.csv"
    asked = (("ann", "", ""), ("ben", "", ""), ("gpt", "short", "$0.01"), ("gpt", "long", "$0.03"))
    rows = [f"t{k},{way},{who},{k % 5 + 1},{cost}" for k in range(80) for who, way, cost in asked]
    path.write_text("\n".join(["id,prompt_version,rater,score,cost_usd", *rows]), encoding="utf-8")
    found = recuse("compare", path)
    offered = shlex.split(found.err.partition("recuse compare ")[2].partition("; the judges")[0])
    assert {*offered} == {str(path), "gpt,prompt_version=short", "gpt,prompt_version=long"}, found.err
    found = recuse("compare", path, "gpt,prompt_version=short", "gpt,prompt_version=long")
    assert (found.code, found.first) == (
        1, "Do not replace gpt before by gpt after: it costs more, by more than you allow."
    )  # fmt: skip
    assert re.search(r"cost \(the file's unit per call\) +0\.01 +0\.03 +\+200 % +at most 100 % +worse", found.out)
    found = recuse("choose", path)
    assert re.search(r"asked in 2 \(prompt_version\): give each .* of its own, as gpt (short|long), or", found.err)


def test_which_of_several_judges_is_meant_is_asked_also_where_one_is_in_both_files(recuse, files, rater):
    old, right = files("old.csv", anna=rater(0.95), judge_v1=rater(0.9)), rater(0.9)
    new = files("new.csv", anna=rater(0.95), judge_v1=right, judge_v2=right)
    found = recuse("compare", old, new)
    assert found.code == 3, found.out
    assert f"are meant: recuse compare {old} {new} judge_v1 judge_v2" in found.err
    assert recuse("compare", new, old).code == 3


def kept(path, *, value, judge="today", items="abc", panel="mine"):
    """A baseline with one gated estimate of one judge."""
    figures = {"value": value, "se": 0.05, "df": 29, "low": value - 0.1, "high": value + 0.1, "level": 0.95,
               "unit": "points", "over": "items", "n": 30}  # fmt: skip
    subject = {"judge": judge, "panel": panel, "task": "tickets", "protocol": "rubric"}
    path.write_text(json.dumps({
        "schema": SCHEMA, "because": None, "gates": {"run": {}, "uses": {}, "gates": {}, "accepted": []},
        "asked": {"tests": [], "judges": {panel: [judge]}, "uses": {}},
        "sources": {f"{panel}/tickets/rubric": {"items": items, "scale": "0..10"}},
        "entries": [{"kind": "verdict", "what": "leniency", "outcome": "pass", "limit": {"within": [-0.4, 0.4]},
                     "question": "leniency", "subject": subject, "figures": figures}],
    }))  # fmt: skip
    return path


@pytest.mark.parametrize(
    ("later", "code", "first"),
    [
        ({"value": 0.9}, 1, "Do not replace today before by today after: leniency goes from 0.1 to 0.9, across the"),
        ({"value": 0.12}, 2, "Whether today after may replace today before cannot be told from baselines"),
        ({"value": -0.3}, 2, "Whether today after may replace today before cannot be told"),
        ({"value": 0.9, "items": "other"}, 3, "today before and today after cannot be compared: tickets, rubric: the "),
    ],
)  # fmt: skip
def test_of_two_baselines_only_a_fault_beyond_chance_decides(recuse, tmp_path, later, code, first):
    found = recuse("compare", kept(tmp_path / "old.json", value=0.1), kept(tmp_path / "new.json", **later))
    assert found.code == code, found.err
    assert found.first.startswith(first)


def test_another_judge_of_another_panel_is_held_against_the_one_in_use(recuse, tmp_path):
    old = kept(tmp_path / "old.json", value=0.9)
    new = kept(tmp_path / "new.json", value=0.1, judge="next", panel="other")
    assert recuse("compare", old, new, "today", "next").code == 2
    assert recuse("compare", new, old, "next", "today").code == 1
    assert "has no judge nobody; it has next" in recuse("compare", old, new, "today", "nobody").err


def test_two_judges_of_one_recording_are_not_taken_for_independent(recuse, tmp_path):
    both = json.loads(kept(tmp_path / "a.json", value=0.1).read_text())
    other = json.loads(kept(tmp_path / "b.json", value=0.9, judge="next").read_text())
    both["entries"] += other["entries"]
    both["asked"]["judges"]["mine"] = ["next", "today"]
    (tmp_path / "both.json").write_text(json.dumps(both))
    found = recuse("compare", tmp_path / "both.json", "today", "next")
    assert found.code == 2
    assert "1 results of both, 0 differ and can be tested" in found.out


def test_what_all_levels_of_a_factor_show_together_is_held_against_their_limit(recuse, tmp_path):
    paths = [kept(tmp_path / f"{name}.json", value=value) for name, value in (("old", 0.1), ("new", 0.9))]
    for path in paths:
        held = json.loads(path.read_text())
        (one,) = held["entries"]
        value = one["figures"]["value"]
        one["figures"] |= {"these_texts": [value - 0.1, value + 0.1], "these_texts_df": 29}
        held["entries"] = [{**one, "subject": {**one["subject"], "names": level}} for level in ("hidden", "shown")]
        path.write_text(json.dumps(held))
    found = recuse("compare", *paths)
    assert (found.code, found.out.count("same texts, all levels together")) == (1, 1), found.err


def test_a_baseline_is_compared_with_baselines_only(recuse, files, rater, tmp_path):
    path = files("t.csv", anna=rater(0.95), judge=rater(0.9))
    found = recuse("compare", kept(tmp_path / "old.json", value=0.1), path, "today", "judge")
    assert (found.code, "a baseline is compared with a baseline" in found.err) == (3, True)


def test_json_and_page_begin_with_the_same_sentence(recuse, files, rater, tmp_path):
    path = files("t.csv", anna=rater(0.95), judge_v1=rater(0.95), judge_v2=rater(0.7))
    page, results = tmp_path / "page.html", tmp_path / "results.json"
    found = recuse("compare", path, "judge_v1", "judge_v2", "--html", page, "--json", results)
    [upgrade] = json.loads(results.read_text(encoding="utf-8"))["upgrades"]
    assert (upgrade["sentence"], upgrade["verdict"]) == (found.first, "worse")
    assert found.first in page.read_text(encoding="utf-8")


def test_a_threshold_makes_decisions_of_scores(recuse, tmp_path):
    path = tmp_path / "s.csv"
    lines = ["ticket,judge_v1,judge_v2", *(f"t{k},{k % 10},{(k + 1) % 10}" for k in range(200))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "decisions flipped" not in recuse("compare", path, "judge_v1", "judge_v2", "--scale", "0-10").out
    told = recuse("compare", path, "judge_v1", "judge_v2", "--scale", "0-10", "--threshold", "7").out
    assert "decisions flipped" in told
    for none in ("x", "nan", "5,inf"):
        refused = recuse("compare", path, "judge_v1", "judge_v2", "--threshold", none)
        assert (refused.code, "threshold is a score, for example 4; got" in refused.err) == (3, True)
    for beyond in ("0", "10.5"):
        refused = recuse("compare", path, "judge_v1", "judge_v2", "--scale", "0-10", "--threshold", beyond)
        assert (refused.code, f"threshold = {beyond} decides nothing" in refused.err) == (3, True)


def test_a_panel_known_from_printed_statistics_is_not_compared(recuse):
    found = recuse("compare", PANEL, "deepseek-chat", "sonar-reasoning-pro")
    assert found.code != 0
    assert "not measured: the source gives no pairs" in found.err


def test_a_candidate_is_read_in_the_line_up_it_would_be_in():
    selection = SimpleNamespace(panels={"ours": SimpleNamespace(replaces={"new": "old"})})
    source, place = Source("ours.toml", SimpleNamespace(selection=selection)), Elicitation("ours", "poems", "rubric")
    asked = [str(source.line_up(place, judge)) for judge in ("old", "new")]
    assert asked == ["ours/poems/rubric", "ours/poems/rubric/new"]


def own_limits(folder, name):
    """A repository whose own limits forbid what every upgrade changes."""
    tables = [one for one in re.split(r"\n(?=\[)", SHIPPED.read_text(encoding="utf-8")) if one.startswith("[upgrade_")]
    strict = "\n".join(tables).replace("[upgrade_agreement]\nat_least = -0.05", "[upgrade_agreement]\nat_least = 0.9")
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text(strict, encoding="utf-8")
    return folder / name


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    ("name", "settings"),
    [("judges/gates.toml", {"pyproject.toml": '[tool.pytest.ini_options]\nrecuse_gates = "judges/gates.toml"'}),
     ("evals/gates.toml", {}), ("judges/limits.toml", {"pytest.ini": "[pytest]\nrecuse_gates = judges/limits.toml"})],
)  # fmt: skip
def test_the_limits_are_those_of_the_repository_and_named(recuse, files, rater, monkeypatch, tmp_path, name, settings):
    right = rater(0.95)
    path = files("t.csv", anna=rater(0.95), ben=rater(0.95), judge_v1=right, judge_v2=right)
    assert recuse("compare", path, "judge_v1", "judge_v2").code == 0
    limits = own_limits(tmp_path, name)
    for file, text in settings.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = recuse("compare", path, "judge_v1", "judge_v2")
    assert found.code == 1, found.out
    assert f"\nlimits: {limits}\n" in found.out


def test_a_panel_is_compared_by_the_limits_of_its_own_repository(monkeypatch, tmp_path):
    """From wherever it is named."""
    own = own_limits(tmp_path / "team", "evals/gates.toml")
    monkeypatch.chdir(own.parent)
    assert _limits_of([Path("../fixtures/panels/desk.toml")]) == own
    assert _limits_of([Path("t.csv")]) == SHIPPED
    monkeypatch.chdir(own.parents[1])
    assert _limits_of([PANEL]) == SHIPPED
    assert _limits_of([Path("t.csv")]) == own


# --------------------------------------------------------------------------- judges that were asked in several ways


@pytest.fixture
def asked_in_several_ways(tmp_path):
    """A file in which v1 was asked by the prompt `short`, v2 by `short` and `long`; by `long` it is never right."""
    rows = ["ticket,prompt,judge,verdict,anna"]
    for k in range(ITEMS):
        right = "pass" if k % 2 else "fail"
        given = {("v1", "short"): right, ("v2", "short"): right, ("v2", "long"): "fail" if k % 2 else "pass"}
        rows += [f"t{k},{prompt},{judge},{verdict},{right}" for (judge, prompt), verdict in given.items()]
    path = tmp_path / "ways.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


WAYS = ("--rater", "judge", "--value", "verdict", "--factors", "prompt", "--people", "anna")


def test_what_the_candidate_alone_was_asked_is_left_out_and_named(recuse, asked_in_several_ways):
    found = recuse("compare", asked_in_several_ways, "v1", "v2", *WAYS)
    assert "v2 was also asked under prompt long: left out, since v1 was not" in found.out
    assert not found.first.startswith("Do not replace")


def test_a_candidate_that_was_not_asked_as_the_judge_in_use_was_is_not_compared(recuse, asked_in_several_ways):
    """Otherwise it could be asked only where it does well. The printed remedy compares them."""
    found = recuse("compare", asked_in_several_ways, "v2", "v1", *WAYS)
    assert found.code == 3
    assert found.first.startswith("v2 and v1 cannot be compared: v1 was not asked under prompt long, as v2 was; ")
    assert "as in v2,prompt=LEVEL" in found.first
    assert recuse("compare", asked_in_several_ways, "v2,prompt=short", "v1,prompt=short", *WAYS).code != 3


def test_one_judge_by_two_prompts(recuse, asked_in_several_ways):
    found = recuse("compare", asked_in_several_ways, "v2,prompt=short", "v2,prompt=long", *WAYS)
    assert (found.code, found.first.partition(":")[0]) == (1, "Do not replace v2 before by v2 after")
    same = recuse("compare", asked_in_several_ways, "v2,prompt=long", "v2,prompt=long", *WAYS)
    assert "an upgrade is between two judges" in same.err


@pytest.mark.parametrize(("given", "named"), [("v2,prompt=terse", "prompt: short, long"), ("v2,terse", "v1, v2")])
def test_a_level_that_nobody_was_asked_at(recuse, asked_in_several_ways, given, named):
    found = recuse("compare", asked_in_several_ways, "v1", given, *WAYS)
    assert found.code == 3
    assert named in found.err


@pytest.mark.parametrize("two_files", [False, True])
def test_who_is_no_judge_by_name_and_not_named_is_asked_about(recuse, files, rater, two_files):
    """The two that are named are judges. Whether `anna` is one too, or a person, nobody can tell: as judges, people
    were lost, and a worse candidate could replace the judge in use."""
    today, next_, people = rater(0.97), rater(0.9), {"anna": rater(0.97), "ben": rater(0.97)}
    sources = [files("old.csv", today=today, next=next_, **people)]
    if two_files:
        sources = [files("old.csv", today=today, **people), files("new.csv", next=next_)]
    found = recuse("compare", *sources, "today", "next")
    assert (found.code, found.out) == (3, "")
    assert "no name tells judges from people: 'anna', 'ben'; say" in found.err
    if two_files:
        found = recuse("compare", *sources, "today", "next", "--people", "anna,ben")
        assert "recuse check FILE --people A,B --save" in found.err
        recuse("check", sources[0], "--people", "anna,ben", "--save")
        found = recuse("compare", *sources, "today", "next")
    else:
        assert recuse("compare", *sources, "today", "next", "--judges", "today,next,anna,ben").code != 3
        found = recuse("compare", *sources, "today", "next", "--people", "anna,ben")
    assert "Do not replace today by next: it agrees with your people less" in found.first
    assert "people: anna, ben" in found.out


def test_two_judges_whose_names_tell_nothing_are_compared_where_nobody_else_is_there(recuse, files, rater):
    right = rater(0.9)
    assert recuse("compare", files("t.csv", today=right, next=right), "today", "next").code == 0
    assert recuse("compare", files("a.csv", today=right), files("b.csv", next=right)).code == 0


@pytest.fixture
def scored(tmp_path):
    """`scored(name)`: a file in which the candidate puts every text of 5 and 6 on the other side of 6, and no other."""
    score = np.arange(400) % 10 + 1
    turned = np.where(score == 5, 6, np.where(score == 6, 5, score))

    def write(name):
        lines = [f"t{k},{old},{new},{old},{old}" for k, (old, new) in enumerate(zip(score, turned, strict=True))]
        path = tmp_path / name
        path.write_text("\n".join(["id,gpt-4,gpt-5,anna,ben", *lines]) + "\n", encoding="utf-8")
        return path

    return write


JUDGES = ("gpt-4", "gpt-5")


def test_a_typed_threshold_comes_before_the_saved_one(recuse, scored):
    """As in `recuse check`; and the page says that it is one decision that is compared."""
    path, other = scored("s.csv"), scored("other.csv")
    recuse("check", path, "--use", "decide", "--threshold", "6", "--save")
    saved = recuse("compare", path, *JUDGES)
    assert saved.first.startswith("Do not replace gpt-4 by gpt-5")
    assert "s.csv: every word is about one decision on rating: less than 6, or 6 or more" in saved.out
    typed = recuse("compare", path, *JUDGES, "--threshold", "8")
    assert typed.first.startswith("gpt-5 may replace gpt-4")
    assert "one decision on rating: less than 8, or 8 or more" in typed.out
    two = recuse("compare", path, *JUDGES, "--threshold", "6,8")
    assert (two.code, two.out) == (3, "")
    assert "it is one score" in two.err
    apart = recuse("compare", path, other, *JUDGES)
    assert "read the other so too: recuse check FILE --use decide --threshold SCORE --save" in apart.first
    assert "--scale" not in apart.first
    recuse("check", other, "--use", "decide", "--threshold", "4", "--save")
    assert recuse("compare", path, other, *JUDGES, "--threshold", "6").first == saved.first


def test_a_threshold_of_labels_is_refused(recuse, files, rater):
    path = files("t.csv", gpt_4=rater(0.9), gpt_5=rater(0.9))
    for threshold in ("4", "4,5"):
        refused = recuse("compare", path, "gpt_4", "gpt_5", "--threshold", threshold)
        assert (refused.code, refused.out) == (3, "")
        assert "options only" in refused.err


def test_ratings_that_were_read_as_one_decision_are_not_compared_at_another(scored):
    ratings = read(scored("s.csv"), use="decide", threshold=6)
    assert compare(ratings, incumbent="gpt-4", candidate="gpt-5", thresholds=6).word == "worse"
    with pytest.raises(RecuseError, match="given where they are read"):
        compare(ratings, incumbent="gpt-4", candidate="gpt-5", thresholds=8)


def test_pairs_that_were_asked_in_one_order_say_what_is_wanting(recuse, tmp_path):
    rows = [f"t{k},x,y,{'AB'[k % 2]},{'AB'[k % 2]},{'AB'[k % 2]}" for k in range(200)]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["id,model_a,model_b,gpt-4,gpt-5,anna", *rows]) + "\n", encoding="utf-8")
    found = recuse("compare", path, *JUDGES)
    assert found.first.endswith("is undecided: position bias could not be measured.")
    assert "  next: ask both of every pair in both orders, a row each" in found.out


def test_a_column_that_was_not_read_as_varied_is_named_as_the_remedy(recuse, tmp_path):
    rows = [f"t{k},{'pass' if k % 3 else 'fail'},{'pass' if k % 3 else 'fail'},v{v}" for v in (1, 2) for k in range(99)]
    path = tmp_path / "versions.csv"
    path.write_text("\n".join(["id,judge,anna,version", *rows]) + "\n", encoding="utf-8")
    named = ("judge,version=v1", "judge,version=v2")
    refused = recuse("compare", path, *named)
    assert (refused.code, "(of a column version, say so: --factors version)" in refused.err) == (3, True)
    assert recuse("compare", path, *named, "--factors", "version").code == 0


def test_a_distance_from_people_has_no_sign(recuse, tmp_path):
    """Both judges lie below people, the candidate further."""
    people = np.tile([2, 3, 4, 5], 30)
    old, new = people - (np.arange(120) % 10 == 0), people - (np.arange(120) % 3 == 0)
    pd.DataFrame({"item": range(120), "old": old, "new": new, "ann": people}).to_csv(tmp_path / "r.csv", index=False)
    found = recuse("compare", tmp_path / "r.csv", "old", "new", "--people", "ann", "--scale", "1-5")
    [row] = [line.split() for line in found.out.splitlines() if line.startswith("  distance from people")]
    assert row[3:6] == ["0.10", "0.33", "+0.23"]
