"""Models write, judge what they wrote, and are held against rates: one command, then the questions."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from recuse.cli import main
from recuse.papers.merchant_risk import generation
from recuse.run.generate_command import generate
from recuse.schema import Item, Judgement, RecuseError, Reply
from recuse.tasks import load_task

ROOT = Path(__file__).resolve().parents[3]
TASKS = ROOT / "fixtures" / "tasks"
TASK = load_task(TASKS / "merchant_rationales")
FILE = "items-local.jsonl"
TEXT = "Trade is steady and rules are light; fraud, returns and chargebacks are rare."
FRAUD = [0.001, 0.004, 0.010, 0.030, 0.080, 0.002, 0.006, 0.050]  # of merchants m0 to m7


LOST = 6  # the merchant on which one model writes nothing


def level_of(merchant: int) -> int:
    """From 1 to 5, in the order of the rates."""
    return 1 + sorted(FRAUD).index(FRAUD[merchant]) * 5 // len(FRAUD)


class Toy(BaseHTTPRequestHandler):
    """Places merchants by their number alone: `kind` follows the rates, `blind` does the opposite; both give a 7."""

    asked: Counter[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        words = body["messages"][-1]["content"]
        number = int(re.search(r"Shop (\d)", words).group(1))  # type: ignore[union-attr]
        kind = "write" if "Place this merchant" in words else "judge"
        type(self).asked[kind] += 1
        level = level_of(number)
        said = {"rationale": TEXT, "level": level if body["model"] == "kind" else 6 - level}
        if number == LOST and body["model"] == "blind":
            said = {"rationale": "", "level": 9}
        scores = {name: {"score": 7, "why": "Clear."} for name in TASK.criteria}
        text = json.dumps(said if kind == "write" else {**scores, "total": 7})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        answer = json.dumps({"model": body["model"], "choices": [choice]})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    Toy.asked = Counter()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Toy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def repository(root: Path, address: str, items: str = "items-ours.jsonl") -> Path:
    """A team's own task: eight merchants, what went wrong with each, and two models that write and judge."""
    folder = root / "fixtures" / "tasks" / "ours"
    (folder / "prompts").mkdir(parents=True)
    shutil.copy(TASKS / "merchant_risk" / "rules.toml", folder)
    shared = (TASKS / "merchant_rationales" / "task.toml").read_text("utf-8").partition("[[segment]]")[0]
    shared = re.sub(r"(?m)^(reference|rules|rationale_characters) = .*\n", "", shared).replace("_rationales", "_ours")
    shared = shared.replace('name = "merchant_ours"', 'name = "ours"')
    own = 'merchants = "merchants.csv"\nreference = { rates = "rates.toml" }\n'
    targets = "".join(f'[[target]]\nid = "{name}"\nlabel = "{name}"\n' for name in ("kind", "blind"))
    shared = shared.replace("criteria_total", own + "criteria_total")
    (folder / "task.toml").write_text(shared + targets, encoding="utf-8")
    rows = [f"m{k},Shop {k}" for k in range(len(FRAUD))]
    (folder / "merchants.csv").write_text("\n".join(["id,name", *rows]), encoding="utf-8")
    (folder / "rates.toml").write_text(
        'table = "rates.csv"\ncategory = "merchant"\n[weights]\nfraud_share = 1.0\n', encoding="utf-8"
    )
    rates = [f"m{k},{rate}" for k, rate in enumerate(FRAUD)]
    (folder / "rates.csv").write_text("\n".join(["merchant,fraud_share", *rates]), encoding="utf-8")
    for name, words in (
        ("generation.system", "You place merchants."), ("rubric.system", "You review."),
        ("generation.user", "Place this merchant on a level, reasons first: {{ merchant.name }}"),
        ("rubric.user", "{{ merchant.name }}, {{ label }}: {{ rationale }} By {{ author_label }}. Score it."),
    ):  # fmt: skip
        (folder / "prompts" / f"{name}.j2").write_text(words, encoding="utf-8")
    judges = "".join(f'[[judge]]\nname = "{name}"\nwire = "openai_chat"\nbase_url = "{address}"\nmodel = "{name}"\n'
                     f'author = "{name}"\n' for name in ("kind", "blind"))  # fmt: skip
    panel = root / "fixtures" / "panels" / "ours.toml"
    panel.parent.mkdir()
    panel.write_text(
        'name = "ours"\ndescription = "Toys."\nprovenance = "recorded"\nsource = "this test"\nfree = true\n'
        'use = "none"\n'
        '[[task]]\nname = "ours"\nprotocols = ["generation", "rubric"]\nrepeats = { rubric = 1 }\n'
        f'factors = {{ rubric = {{ condition = ["attributed"] }} }}\nitems = {{ rubric = "{items}" }}\n' + judges,
        encoding="utf-8",
    )
    return panel


def test_merchants_are_placed_judged_and_held_against_rates_by_one_command(tmp_path, address, monkeypatch, capsys):
    """16 replies to write, of which one holds no text; the other 15 are judged by both models."""
    panel = repository(tmp_path, address)
    monkeypatch.chdir(tmp_path)
    assert main(["generate", str(panel)]) == 0
    assert "15 of 16 replies hold what can be judged" in capsys.readouterr().out
    assert Toy.asked == {"write": 16, "judge": 30}
    lines = (tmp_path / "fixtures" / "tasks" / "ours" / "items-ours.jsonl").read_text("utf-8").splitlines()
    first = json.loads(lines[0])
    assert (first["id"], first["target"]) == ("m0", "kind")
    assert first["fields"] == {"merchant": {"id": "m0", "name": "Shop 0"}, "level": 1, "label": "very low risk",
                               "rationale": TEXT, "true_completeness": 10.0}  # fmt: skip
    assert main(["generate", str(panel)]) == 0
    assert sum(Toy.asked.values()) == 46, "what is recorded is not asked again"


@pytest.mark.slow("simulations")
def test_who_places_merchants_as_their_losses_do_is_told_from_who_does_not(tmp_path, address):
    """Eight merchants whose rates differ: all in order, and all in the opposite one but for the reply that is lost."""
    generate(str(repository(tmp_path, address)), root=tmp_path)
    for name in ("evals", "conftest.py", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "pytest", "evals/test_ground_truth.py", "--panel", "fixtures/panels/ours.toml",
               "-q", "-n", "0", "-p", "no:cacheprovider"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    (results,) = (tmp_path / "reports").glob("**/results.json")
    every = [(entry["subject"], entry["estimate"]) for entry in json.loads(results.read_text("utf-8"))["measurements"]]
    found = {subject["judge"]: e for subject, e in every if e["metric"] == "rank_correlation"}
    placed = [level_of(k) for k in range(len(FRAUD))]
    read = [k for k in range(len(FRAUD)) if k != LOST]
    wanted = {"kind": spearmanr(placed, FRAUD).statistic,
              "blind": spearmanr([-placed[k] for k in read], [FRAUD[k] for k in read]).statistic}  # fmt: skip
    assert {judge: e["value"] for judge, e in found.items()} == pytest.approx(wanted), done.stdout
    assert {judge: e["n"] for judge, e in found.items()} == {"kind": len(FRAUD), "blind": len(read)}


def test_a_file_of_items_that_is_somebody_elses_is_left_alone(tmp_path, address):
    panel = repository(tmp_path, address)
    theirs = tmp_path / "fixtures" / "tasks" / "ours" / "items-ours.jsonl"
    theirs.write_text('{"id": "x", "target": "kind", "fields": {}}\n', encoding="utf-8")
    with pytest.raises(RecuseError, match="is there already and was not written by this option"):
        generate(str(panel), root=tmp_path)
    assert theirs.read_text("utf-8").startswith('{"id": "x"')


def test_a_panel_that_judges_nothing_that_it_writes_is_told_what_to_add(tmp_path, address):
    panel = repository(tmp_path, address, items="others.jsonl")
    with pytest.raises(RecuseError, match=r'items = \{ rubric = "items-ours.jsonl" \}'):
        generate(str(panel), root=tmp_path)
    assert not Toy.asked


# --------------------------------------------------------------------------- what a reply is read as


MERCHANT = Item(TASK.name, "m1", "kind", {"merchant": {"id": "m1", "name": "Shop 1"}})


def levels(text: str) -> list[Judgement]:
    return [row for row in generation.read(TASK, MERCHANT, {}, Reply(text)) if row.criterion == generation.CRITERION]


def test_a_merchant_stands_on_the_level_that_a_model_names():
    (row,) = levels(json.dumps({"rationale": TEXT, "level": 4}))
    assert (row.item, row.score) == ("m1", 4.0)


@pytest.mark.parametrize("level", [6, "4", True, None])
def test_what_is_no_level_is_said(level):
    (row,) = levels(json.dumps({"rationale": TEXT, "level": level}))
    assert row.status == "unparsed"
    assert f"level is {level!r}, one of 1, 2, 3, 4, 5 is wanted" in row.why


def test_rules_are_checked_of_a_single_text_and_codes_are_not():
    rows = generation.read(TASK, MERCHANT, {}, Reply(json.dumps({"rationale": TEXT, "level": 4})))
    rules = {row.criterion: row.response for row in rows if row.criterion.startswith(generation.RULE)}
    assert generation.RULE + generation.THREE not in rules
    assert rules[generation.RULE + "dimensions"] == generation.KEPT


def test_reasons_stand_before_the_level(tmp_path):
    repository(tmp_path, "http://127.0.0.1:9/v1")
    prompt = generation.prompt(load_task(tmp_path / "fixtures" / "tasks" / "ours"), MERCHANT, {})
    assert prompt.schema is not None
    assert list(prompt.schema["properties"]) == ["rationale", "level"]


@pytest.mark.parametrize(("rows", "why"), [("id,name", "0 lines"), ("id,name\na,A\na,B", "2 lines"),
                                           ("id,title\na,A", "1 lines")])  # fmt: skip
def test_a_table_of_merchants_names_each_once(tmp_path, rows, why):
    path = tmp_path / "merchants.csv"
    path.write_text(rows, encoding="utf-8")
    with pytest.raises(RecuseError, match=f"each with an id of its own and a name; got {why}"):
        generation._merchants(path)


# --------------------------------------------------------------------------- the shipped sets


def test_completeness_is_counted_by_the_rules() -> None:
    rules = generation.rules_of(TASK)
    assert rules is not None
    for line in map(json.loads, (TASK.folder / FILE).read_text("utf-8").splitlines()):
        points = sum(len(rules.addressed(level["rationale"])) for level in line["fields"]["rationales"])
        assert line["fields"]["true_completeness"] == pytest.approx(points / 2.5)


def entry(level: int, text: str = TEXT, codes: tuple[int, ...] = (5411, 5411, 1)) -> dict[str, object]:
    return {"level": level, "rationale": text, "mccs": list(codes)}


def built(entries: object) -> dict[str, object] | None:
    item = Item(TASK.name, "s", "smollm2-135m", {"segment": {"label": "a trade"}, "mccs": [{"mcc": 5411, "name": "G"}]})
    return generation.written(TASK, item, Reply(json.dumps(entries)))


def test_a_breach_is_shown_as_it_stands_and_a_code_of_no_table_is_not() -> None:
    fields = built([entry(level) for level in range(1, 6)])
    assert fields is not None
    assert fields["rationales"][0]["mccs"] == [{"mcc": 5411, "name": "G"}] * 2  # type: ignore[index]
    assert (fields["segment"], fields["true_completeness"]) == ("a trade", 10.0)


@pytest.mark.parametrize("text", ["", "   "])
def test_a_set_without_a_text_on_every_level_is_left_out(text: str) -> None:
    assert built([entry(level, text if level == 3 else TEXT) for level in range(1, 6)]) is None


def test_a_reply_that_cannot_be_read_is_left_out() -> None:
    assert built("no") is None


def test_the_shipped_sets_are_what_the_recordings_give(tmp_path) -> None:
    """In a copy that has the recordings and not the file."""
    for name in ("fixtures/panels", "fixtures/tasks", "cassettes/local/merchant_rationales"):
        shutil.copytree(ROOT / name, tmp_path / name)
    file = tmp_path / "fixtures" / "tasks" / "merchant_rationales" / FILE
    wanted = file.read_text("utf-8")
    file.unlink()
    assert generate("local", root=tmp_path) == 0
    assert file.read_text("utf-8") == wanted


@pytest.mark.parametrize("said", [{"rationale": TEXT, "level": 9}, {"rationale": " ", "level": 2}, {"level": 2}])
def test_a_merchant_without_level_or_reasons_is_left_out(said) -> None:
    assert generation.written(TASK, MERCHANT, Reply(json.dumps(said))) is None
