"""The files that `recuse init` writes: texts with a few names filled in."""

from __future__ import annotations

import json

CONFTEST = '"""Fixtures of your own for evals/ go here; the shipped questions need none."""\n'
IGNORED = """\
__pycache__/
.pytest_cache/
/models/
/reports/*
!/reports/baseline.json
!/reports/.gitkeep
cassettes/.superseded/
cassettes/.batches/
cassettes/**/.ballast
*.jsonl.new
*.jsonl.damaged
*.jsonl.tmp
*.jsonl.gz.damaged
*.jsonl.gz.tmp
"""
PYTEST_TABLE = "[tool.pytest.ini_options]"

EXAMPLE_TASK = {
    "fixtures/tasks/replies/task.toml": """\
name = "replies"
scale = { minimum = 1, maximum = 5, step = 1 }
criterion = [{ id = "helpful" }, { id = "correct" }]

[[target]]                        # whose texts are judged: a table for each model or system
id = "bot"
label = "the bot"

# [people]                        # what people say of the same texts, where somebody has rated them
# file = "people.csv"             # columns rater, item, target, criterion, score
""",
    "fixtures/tasks/replies/items.jsonl": """\
{"id": "t1", "target": "bot", "fields": {"question": "Where is my parcel?", "reply": "It arrives tomorrow morning."}}
{"id": "t2", "target": "bot", "fields": {"question": "Can I return it?", "reply": "Yes."}}
""",
    "fixtures/tasks/replies/prompts/rubric.user.j2": """\
Score this reply on each criterion, in whole points from 1 (poor) to 5 (excellent).

Question: {{ question }}
Reply: {{ reply }}

Answer with one JSON object in this form, with your own scores and reasons:
{"helpful": {"score": 1, "why": "one sentence"}, "correct": {"score": 1, "why": "one sentence"}}
""",
}


MERG_TASK = {
    "fixtures/tasks/replies/task.toml": """\
name = "replies"
text = ["response"]
scale = { minimum = 1, maximum = 10 }
criterion = [{ id = "overall" }]

[rubric]
names = ["Content", "Structure", "Style", "Language", "Fit"]    # of the variant whose five names are given

[[target]]                        # whose texts are judged: a table for each model or system
id = "a"

[[target]]
id = "b"

# One rubric for all requests: five dimensions, anchors at 2, 5, 8 and 10, weights that sum to 1. Write your own.
[[universal]]
name = "Task"
weight = 0.3
anchors = ["does not do what was asked", "does most of it", "does all of it", "does all of it, and nothing else"]

[[universal]]
name = "Correctness"
weight = 0.3
anchors = ["a main statement is wrong", "a detail is wrong", "nothing is wrong", "right, and shows why"]

[[universal]]
name = "Substance"
weight = 0.2
anchors = ["says almost nothing", "says what anybody would", "specific to this case", "specific, and worth knowing"]

[[universal]]
name = "Order"
weight = 0.1
anchors = ["no order", "an order with gaps", "each part follows", "could stand in no other order"]

[[universal]]
name = "Words"
weight = 0.1
anchors = ["hard to read", "readable", "clear", "clear, with a voice of its own"]
""",
    "fixtures/tasks/replies/items.jsonl": "".join(
        f'{{"id": "r1", "target": "{target}", "fields": {{"genre": "e-mail", "query": "Refuse a refund in three '
        'sentences: 30 days have passed.", "checklist": ["Says no", "Gives the reason", "Offers something else", '
        f'"Polite", "Three sentences"], "response": "{response}"}}}}\n'
        for target, response in (
            ("a", "We cannot refund you: 30 days have passed. A voucher is possible. Write to us if you want it."),
            ("b", "Unfortunately no."),
        )
    ),
}


def pyproject(panels: list[str]) -> str:
    """pyproject.toml of a new repository that examines these panels."""
    listed = ", ".join(json.dumps(panel, ensure_ascii=False) for panel in panels)
    return f"""\
{PYTEST_TABLE}
testpaths = ["evals"]
addopts = ["--import-mode=importlib"]
recuse_panels = [{listed}]
"""


def readme(panels: list[str], first: list[str], *, endpoint: bool = False) -> str:
    """README.md of a new repository. `first`: what the first run says of each judge; `endpoint`: with a panel of a
    judge to record."""
    known = "".join(f"- {sentence}\n" for sentence in first)
    known = f"On the first day:\n\n{known}\n{_NOTHING_ACCEPTED}" if first else ""
    return f"""\
# May our judges be trusted?

    pip install recuse
    pytest evals/          # the questions in evals/, asked of {", ".join(panels)}

The report is in `reports/index.html`, its first lines in the terminal. Limits and their reasons stand in
`evals/gates.toml`: change them before you look at a judge, not after.

`pytest evals/ --update-baseline` keeps what a run found in `reports/baseline.json`. Commit it: with `--baseline`, as in
the workflow, a run then says what has changed since.

{known}{_RECORDING if endpoint else ""}| folder | holds |
|---|---|
| `evals/` | the questions, one file each, and the limits |
| `fixtures/` | ratings you already have, panels of judges, tasks |
| `cassettes/` | recorded answers of judges that were asked over HTTP |
| `reports/` | what the last run wrote |
"""


_NOTHING_ACCEPTED = """\
A run is red while a judge is not cleared for what it is used for. Nothing is accepted beforehand: a fault that you want
to live with for a time is written into `evals/gates.toml`, with a reason and a date; the report has the lines to paste.

"""
_RECORDING = """\
## Record the judge

1. `fixtures/tasks/replies/`: your texts in `items.jsonl`, one a line; the wording in `prompts/`; scale and criteria in
   `task.toml`. Two texts only try it out; from about 60 on a verdict can be reached.
2. `fixtures/panels/ours.toml`: what the judge costs (`price`), or `free = true`.
3. Ask it, once. What it will cost is printed first, and nothing is asked beyond `budget_usd`:

       export JUDGE_API_KEY=...
       pytest evals/ --panel fixtures/panels/ours.toml --record=missing

4. Without `--record` the same command replays what was recorded, offline. Add `"fixtures/panels/ours.toml"` to
   `recuse_panels` in `pyproject.toml` unless it is there, and plain `pytest evals/` examines it too; commit
   `cassettes/`.

"""


def workflow(action: str = "") -> str:
    """The workflow: Recuse's actions where they can be reached (`action`: the address of the first), else their steps.
    What a pull request brings runs without any right to write; its comment is a job that checks out nothing."""
    if action:
        judges = f"      - uses: {action}\n        with: {{ arguments: evals/ }}\n"
        comment = f"      - uses: {action.replace('/actions/evals@', '/actions/comment@')}\n"
    else:
        judges, comment = _JUDGES, _COMMENT
    return f"""\
name: evals
on:
  pull_request:
  merge_group:
  push:
    branches: [main, master]
permissions:
  contents: read
concurrency:
  group: evals-${{{{ github.ref }}}}
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' }}}}
jobs:
  judges:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@d23441a48e516b6c34aea4fa41551a30e30af803 # v6.1.0
        with: {{ persist-credentials: false, fetch-depth: 0 }}
{judges}\
  comment:
    if: ${{{{ !cancelled() && github.event_name == 'pull_request' }}}}
    needs: judges
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      pull-requests: write
    steps:
{comment}"""


_INSTALL = """\
      - uses: actions/setup-python@ece7cb06caefa5fff74198d8649806c4678c61a1 # v6.3.0
        with: { python-version: "3.12" }
      - run: pip install "recuse @ git+https://YOUR-HOST/recuse.git@COMMIT"  # or a wheel
"""
_JUDGES = f"""\
{_INSTALL.replace(' }', ', cache: pip, cache-dependency-path: evals/gates.toml }', 1)}\
      - run: if test -f reports/baseline.json; then pytest evals/ --baseline; else pytest evals/; fi
        env:
          RECUSE_COMMIT: ${{{{ github.event.pull_request.head.sha || github.sha }}}}
          RECUSE_BASE: >-
            ${{{{ github.event.pull_request.base.sha || github.event.merge_group.base_sha || github.event.before }}}}
      - if: always()
        run: test ! -f reports/summary.md || cat reports/summary.md >> "$GITHUB_STEP_SUMMARY"
      - if: always()
        uses: actions/upload-artifact@b7c566a772e6b6bfb58ed0dc250532a479d7789f # v6.0.0
        with: {{ name: evals-report, path: reports/ }}
"""
_COMMENT = f"""\
{_INSTALL}\
      - uses: actions/download-artifact@018cc2cf5baa6db3ef3c5f8a56943fffe632ef53 # v6.0.0
        continue-on-error: true
        with: {{ name: evals-report, path: report }}
      - run: test ! -f report/summary.md || recuse comment report/summary.md
        env:
          GITHUB_TOKEN: ${{{{ github.token }}}}
"""


def panel(endpoint: str, model: str, protocol: str = "rubric", use: str = "") -> str:
    """A panel file for a judge at this endpoint, and for a second one where `protocol` compares judges."""
    asked = """\
protocols = ["rubric"]
repeats = { rubric = 3 }
factors = { rubric = { names = ["hidden"] } }    # the prompt names no author (author_label)
"""
    second, stated = "", f"use = {json.dumps(use.split(','))}\n" if use else ""
    if protocol == "verdict":
        asked = 'protocols = ["verdict"]\n'
    elif protocol != "rubric":
        asked = f'protocols = ["{protocol}"]             # asks for the agreement of judges: it takes two or more\n'
        second = f"""
[[judge]]
name = "second"
wire = "openai_chat"
base_url = "{endpoint}"
model = "ANOTHER"
api_key_env = "JUDGE_API_KEY"
"""
    return f"""\
name = "ours"
description = "The judge that we use."
provenance = "recorded"
source = "our own endpoint"
{stated}budget_usd = 1.0                 # a recording that may cost more is not started
# free = true                    # instead of a price, where nobody is paid for the answers

[[task]]
name = "replies"
{asked}
[[judge]]
name = "judge"
wire = "openai_chat"
base_url = "{endpoint}"
model = "{model}"
api_key_env = "JUDGE_API_KEY"    # the name of the variable that holds the key, never the key
# price = {{ input_usd_per_mtok = 1.0, output_usd_per_mtok = 4.0 }}    # what yours costs, per million tokens
{second}"""


def example_ratings() -> str:
    """Made-up ratings of 400 replies: two people, and a judge that errs less often than they do and is cleared to
    decide. No random numbers."""
    lines = ["item,system,judge,anna,ben"]
    for k in range(400):
        passes = (k * 7) % 12 < 7
        wrong = {"judge": k % 29 == 4, "anna": k % 19 == 5, "ben": k % 13 == 6}
        said = ("pass" if passes != wrong[name] else "fail" for name in ("judge", "anna", "ben"))
        lines.append(",".join([f"reply {k + 1}", "ab"[k % 2], *said]))
    return "\n".join(lines) + "\n"
