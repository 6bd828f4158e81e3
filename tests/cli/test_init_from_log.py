"""`recuse init --from LOG`: the texts of another tool's log are judged again, by a judge at an endpoint."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loopback import Answer, loopback

from recuse.readers.file_panel import load_file_panel
from recuse.starting.init_command import STORED, TASK
from recuse.tasks import load_task

LOGS = Path(__file__).parents[1] / "readers" / "logs"
ENDPOINT = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "stand-in-1")


def items(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / TASK / "items.jsonl").read_text().splitlines()]


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    ("log", "texts", "criteria"),
    [
        ("inspect.json", 4, ("rating", "tone", "length")),
        ("inspect.eval", 4, ("rating", "tone", "length")),
        ("promptfoo.json", 8, ("rating", "about", "open", "close")),
        ("deepeval.json", 4, ("Helpfulness [GEval]", "Short")),
    ],
)
def test_texts_and_what_they_answer_are_taken_over_and_nothing_else(recuse, tmp_path, log, texts, criteria):
    found = recuse("init", tmp_path / "r", "--from", LOGS / log, *ENDPOINT)
    assert (found.code, found.err) == (0, "")
    task = load_task(tmp_path / "r" / TASK)
    assert (len(task.items), task.criteria) == (texts, criteria)
    assert {name for item in task.items for name in item.fields} == {"text", "question"}
    assert "judge is shown text and question, and nothing else of the log" in found.out
    stored = load_file_panel(tmp_path / "r" / STORED).ratings
    read = load_file_panel(LOGS / log).ratings
    assert (stored.judges, set(stored.headline)) == (read.judges, set(criteria))
    assert {item["id"] for item in items(tmp_path / "r")} == set(stored.table["item"])


def test_labels_by_people_alone_are_kept_as_the_message_says_and_judged_anew(recuse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"r{k},Reply {k} is {'good' if k % 2 else 'poor'}.,{'pass' if k % 2 else 'fail'},pass" for k in range(60)]
    Path("labels.csv").write_text("\n".join(["item,text,anna,ben", *lines]), encoding="utf-8")
    assert "--save of recuse check keeps it" in recuse("init", "r", "--from", "labels.csv", *ENDPOINT).err
    saved = recuse("check", "labels.csv", "--people", "anna,ben", "--save")
    assert (saved.code, saved.first) == (3, "Saved what was read as what: labels.recuse.toml")
    assert "120 ratings by people (anna, ben)" in recuse("init", "r", "--from", "labels.csv", *ENDPOINT).out


def log_of_a_stranger(path: Path, count: int = 60) -> pd.DataFrame:
    """Replies rated pass or fail by an old judge and two people, in words and layout of their own."""
    rng = np.random.default_rng(8)
    good = rng.random(count) < 0.5
    words = np.where(rng.random((3, count)) < 0.08, ~good, good)
    frame = pd.DataFrame({
        "trace": [f"run/7:{k}" for k in range(count)], "user_input": [f"How do I do thing {k}?" for k in range(count)],
        "reply": [f"{'Like this' if one else 'No idea'}, {{{{ {k} }}}}: \"it\"\nEND" for k, one in enumerate(good)],
        "old_judge": words[0], "anna": words[1], "ben": words[2], "why_old": "because it said so",
    })  # fmt: skip
    frame[["old_judge", "anna", "ben"]] = frame[["old_judge", "anna", "ben"]].replace({True: "ok", False: "bad"})
    frame.to_csv(path, index=False)
    return frame


def run(folder: Path, *arguments: str, key: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "evals/", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, **({"JUDGE_API_KEY": key} if key else {})}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env=environment)


@pytest.mark.slow("whole runs")
def test_a_stored_log_is_judged_again_over_http_and_replayed_to_a_word(recuse, tmp_path):
    """The judge answers by the reply alone, so its verdicts are known; without the server the run is the same."""
    frame, folder = log_of_a_stranger(tmp_path / "log.csv"), tmp_path / "r"
    seen: list[str] = []

    def answer(request):
        prompt = json.loads(request.body)["messages"][-1]["content"]
        seen.append(prompt)
        verdict = "ok" if "Like this" in prompt else "bad"
        message = {"role": "assistant", "content": f"Answer: {verdict}"}
        usage = {"prompt_tokens": 90, "completion_tokens": 3}
        choices = [{"message": message, "finish_reason": "stop"}]
        reply = {"choices": choices, "model": "stand-in-1", "usage": usage}
        return Answer(200, reply)

    with loopback(answer) as address:
        at = ("--endpoint", f"{address}/v1", "--model", "stand-in-1")
        found = recuse("init", folder, "--from", tmp_path / "log.csv", *at)
        assert (found.code, found.err) == (0, "")
        panel = folder / "fixtures" / "panels" / "ours.toml"
        panel.write_text(panel.read_text().replace("# free = true", "free = true"))
        recorded = run(folder, "--record=missing", key="a-key-of-nobody")
    assert len(seen) == len(frame), recorded.stdout
    results = (folder / "reports" / "results.json").read_bytes()
    [judge] = [one for one in json.loads(results)["decision"]["judges"] if one["stated"]]
    assert not any("because it said so" in prompt for prompt in seen)
    assert {re.search(r"How do I do thing \d+\?", prompt)[0] for prompt in seen} == set(frame["user_input"])
    assert all(any(reply in prompt for prompt in seen) for reply in frame["reply"])
    replayed = run(folder)
    assert (replayed.returncode, (folder / "reports" / "results.json").read_bytes()) == (recorded.returncode, results)
    assert judge["word"] in ("cleared", "undecided"), judge
    compared = recuse("compare", folder / STORED, panel, "old_judge", "judge")
    assert compared.code != 3, compared.err


def test_another_text_under_one_name_is_an_item_of_its_own(recuse, tmp_path):
    """A system that answered twice: two texts, each with the ratings that it got. Names fit for files, no two alike."""
    path = tmp_path / "twice.csv"
    rows = [f"a/{k},sys/1,{run},{said} answer in quite a few words to question {k},{3 + run},{4 - run}"
            for k in range(30) for run, said in enumerate(("first", "second"))]  # fmt: skip
    path.write_text("\n".join(["case,system,epoch,output,gpt_judge,anna", *rows]) + "\n")
    found = recuse("init", tmp_path / "r", "--from", path, *ENDPOINT)
    assert (found.code, found.err) == (0, "")
    task = load_task(tmp_path / "r" / TASK)
    people = pd.read_csv(tmp_path / "r" / TASK / "people.csv").set_index("item")["score"]
    assert len(task.items) == len({item.id.lower() for item in task.items}) == len(people) == 60
    assert all(people[item.id] == (4 if item.fields["text"].startswith("first") else 3) for item in task.items)


def test_a_person_who_said_two_things_of_one_text_is_taken_over_with_both(recuse, tmp_path):
    """What is the same in all rows of a text is one rating; of what differs nothing is dropped."""
    path = tmp_path / "log.csv"
    rows = [f"Why {k}?,because of {k},{'fail' if k % 3 else 'pass'},pass,pass" for k in range(12)]
    rows += ["Why 1?,because of 1,pass,pass,pass"]
    path.write_text("\n".join(["question,reply,anna,ben,old_judge", *rows]) + "\n")
    found = recuse("init", tmp_path / "r", "--from", path, *ENDPOINT)
    assert (found.code, found.err) == (0, "")
    assert "25 ratings by people (anna, ben)" in found.out
    assert "of one text one person said different things 1 times, kept as repeats: anna on Why-1" in found.out
    people = pd.read_csv(tmp_path / "r" / TASK / "people.csv")
    both = people[people["rater"].eq("anna") & people["item"].eq("Why-1")]
    assert (list(both["response"]), list(both["repeat"])) == (["fail", "pass"], [0, 1])


@pytest.mark.parametrize(
    ("log", "more", "why"),
    [
        (LOGS / "alpaca_eval.json", ENDPOINT, "holds pairs of texts; --from takes texts that were rated one by one"),
        (Path(__file__).parent / "three_judges.csv", ENDPOINT, "--text COLUMN --save"),
        (LOGS / "inspect.json", (), "--from LOG needs --endpoint URL"),
        (Path("nowhere.json"), ENDPOINT, "nowhere.json is not there"),
    ],
)
def test_a_log_that_cannot_be_judged_again_writes_nothing(recuse, tmp_path, log, more, why):
    found = recuse("init", tmp_path / "r", "--from", log, *more)
    assert (found.code, why in found.err, (tmp_path / "r").exists()) == (3, True, False)
