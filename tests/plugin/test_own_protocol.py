"""A protocol that lives in the user's repository: recorded and replayed like Recuse's own."""

from __future__ import annotations

import json

import pytest

pytest_plugins = ["pytester"]

ONE_WORD = '''
    """One question, one word."""

    from recuse.ext import Judgement, Prompt, reading, wording

    OFFERS = "one_word_answers"
    FACTORS = {}
    REPEATS = 2


    def headline(task):
        return ("fit",)


    def items(task, judge):
        return task.items


    def prompt(task, item, factors):
        words = wording.messages(task, "one_word", **item.fields)
        return Prompt(words, temperature=0.5, max_tokens=5)


    def read(task, item, factors, reply):
        word = reading.answered(reply).strip()
        good = word in ("yes", "no")
        return [Judgement("fit", response=word) if good else Judgement("fit", status="unparsed", why="neither")]
    '''
EVAL = '''
    """Does a judge find one word?"""

    import pytest

    from recuse.measures import parse_rate

    pytestmark = pytest.mark.asks("one_word_answers")


    def test_one_word(ratings, gate):
        assert gate("parse_rate", parse_rate(ratings), asked="one word")
    '''
SAID = {"ann": "yes", "bob": "no", "eve": "well..."}


@pytest.mark.slow("whole runs")
def test_a_protocol_of_ones_own_is_recorded_gated_and_replayed(repo) -> None:
    repo.write("our_judges/__init__.py", "")
    repo.write("our_judges/one_word.py", ONE_WORD)
    repo.write("fixtures/tasks/essays/prompts/one_word.user.j2", "Fit for a client? {{ essay }}")
    repo.write("evals/test_one_word.py", EVAL)
    lines = [json.dumps({"judge": judge, "text": word}) for judge, word in SAID.items()]
    repo.write("fixtures/standins/essays/our_judges.one_word.jsonl", "\n".join(lines))
    repo.edit("pyproject.toml", "[tool.pytest.ini_options]\n", '[tool.pytest.ini_options]\npythonpath = ["."]\n')

    repo.edit("fixtures/panels/mini.toml", '["rubric"]', '["rubric", "our_jugdes.one_word"]')
    lost = repo.run("--record=missing")
    assert lost.code == 4
    assert "mini.toml: task essays: protocol 'our_jugdes.one_word' cannot be imported" in lost.text
    assert "pythonpath" in lost.text

    repo.edit("fixtures/panels/mini.toml", "our_jugdes", "our_judges")
    for run_it, options in ((repo.run_apart, ["--record=missing"]), (repo.run, []), (repo.run, ["-n", "2"])):
        run = run_it(*options)
        outcomes = {judge: run.verdict("parse_rate", judge=judge, asked="one word")["outcome"] for judge in SAID}
        assert outcomes == {"ann": "pass", "bob": "pass", "eve": "fail"}, run.text
        assert run.results["cassettes"]["unused"] == 0
    assert "mini/essays/our_judges.one_word/ann~alpha.jsonl" in repo.cassettes
