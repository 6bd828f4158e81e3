"""Panel files: what a sound one gives, and how every mistake in one is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recuse.panels import load_panel
from recuse.schema import RecuseError

PanelFile = Callable[..., Path]
ROOT = Path(__file__).resolve().parents[2]
RECORDED = 'provenance = "recorded"'
STAND_IN = 'a "recorded" panel has no [stand_in]; a "reconstructed" or "scripted" one needs it'


def fault_of(path: Path) -> str:
    with pytest.raises(RecuseError) as caught:
        load_panel(path)
    assert str(caught.value).startswith(f"{path}: "), "a fault names its file first"
    return str(caught.value)


@pytest.mark.parametrize("path", sorted((ROOT / "fixtures" / "panels").glob("*.toml")), ids=lambda path: path.stem)
def test_the_shipped_panels_load_under_their_own_names(path: Path) -> None:
    assert load_panel(path).name == path.stem


def test_a_sound_file_gives_its_judges_in_order(panel_file: PanelFile) -> None:
    panel = load_panel(panel_file())
    ann, bob = panel.judges.values()
    assert (ann.name, ann.label, ann.author, ann.timeout_s) == ("ann", "ann", "alpha", 30)
    assert (ann.input_usd_per_mtok, ann.output_usd_per_mtok) == (1.0, 4.0)
    assert (bob.label, bob.author, bob.api_key_env, bob.input_usd_per_mtok) == ("Bob", None, None, None)
    assert panel.task("essays").repeats == {"rubric": 3}
    assert panel.own(["alpha", "beta"]) == {"ann": "alpha"}
    assert panel.own(["beta"]) == {}
    assert panel.source_fixes == "pairs", "replies of the judges themselves fix everything"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "mini"', 'name = "mini"\nbudget = 3.0', "budget: unknown key; known here: budget_usd, description,"),
        ('name = "bob"', 'name = "Ann"', "judge 'Ann' appears twice (as 'ann'); names must differ by more than case"),
        ('["rubric"]', '["rubric", "rubrik"]', "task essays: unknown protocol 'rubrik'; known: "),
        ("rubric = 3", "generation = 3", "task essays: repeats for generation"),
        (RECORDED, 'provenance = "reconstructed"', STAND_IN),
        ("[[task]]", '[stand_in]\nkind = "scripted"\n\n[[task]]', STAND_IN),
        (RECORDED, f'{RECORDED}\nsource_fixes = "cells"', 'so source_fixes is "pairs"; got "cells"'),
        (RECORDED, f'{RECORDED}\nsource_fixes = "means"', "source_fixes: Input should be 'margins', 'cells' or"),
        (RECORDED, 'provenance = "real"', "provenance: Input should be 'recorded', 'reconstructed'"),
        ('source = "made for this test"\n', "", "source: required, but missing"),
        ('model = "ann-1"\n', "", "judge[0].model: required, but missing"),
        ('label = "Bob"', 'lable = "Bob"', "judge[1].lable: unknown key"),
        ("timeout_s = 30", 'timeout_s = "30"', "judge[0].timeout_s: Input should be a valid number (got '30')"),
        ("timeout_s = 30", "timeout_s = 0", "judge[0].timeout_s: Input should be greater than 0 (got 0)"),
        ("timeout_s = 30", "concurrency = 0", "judge[0].concurrency: Input should be greater than or equal to 1"),
        ("input_usd_per_mtok = 1.0", "input_usd_per_mtok = -1.0", "judge[0].price.input_usd_per_mtok"),
        (
            'api_key_env = "ANN_KEY"',
            'api_key_env = "sk-1234"',
            "judge[0]: api_key_env holds the name of an environment",
        ),
        ("rubric = 3", "rubric = 0", "task[0].repeats.rubric: Input should be greater than or equal to 1 (got 0)"),
        ('protocols = ["rubric"]', "protocols = []", "task[0].protocols"),
        ('"openai_chat"', '"openai"', "judge[0]: unknown wire format 'openai'; known: openai_chat, openai_responses"),
        ("https://api.example/v1", "api.example/v1", "base_url must be http:// or https:// and a host"),
        ("https://api.example/v1", "http://:80", "base_url must be http:// or https:// and a host"),
        ("https://api.example/v1", "http://api.example:99999", "base_url must be http:// or https:// and a host"),
        ("timeout_s = 30", "parameters = { messages = [] }", "judge[0]: messages: the protocol's prompt stands there"),
        ("timeout_s = 30", 'rename = { messages = "turns" }', "judge[0]: messages: the protocol's prompt stands there"),
        ("timeout_s = 30", 'omit = ["model"]', "judge[0]: model: set the judge's `model` instead"),
        (
            "timeout_s = 30",
            "parameters = { stream = true }",
            "stream: one whole answer is read per call, so it can only",
        ),
        ("timeout_s = 30", "parameters = { since = 2026-01-01 }", "parameters: JSON holds text, finite numbers"),
        ("timeout_s = 30", "parameters = { top_p = nan }", "parameters: JSON holds text, finite numbers"),
        ("timeout_s = 30", 'headers = { "a b" = "1" }', "headers: 'a b' is no header that can be set here"),
        ("timeout_s = 30", 'headers = { x-recuse-repeat = "1" }', "headers: 'x-recuse-repeat' is no header"),
        ("timeout_s = 30", 'headers_env = { Host = "HOST" }', "headers: 'Host' is no header that can be set here"),
        ("timeout_s = 30", 'headers = { x-team = "a\\nb" }', "headers: the value of x-team must be printable ASCII"),
        ("timeout_s = 30", "parameters = { n = 2 }", "n: one whole answer is read per call, so it can only be 1"),
        (
            "timeout_s = 30",
            "parameters = { generationConfig = { candidateCount = 3 } }",
            "candidateCount: one whole answer is read per call, so it can only be 1",
        ),
        ("https://api.example/v1", "https://api.example/v1?key=x", "may not carry credentials or a query"),
        ("https://api.example/v1", "https://api.example/v1#x", "may not carry credentials or a query"),
    ],
)
def test_a_mistake_is_told_with_its_place(panel_file: PanelFile, old: str, new: str, said: str) -> None:
    assert said in fault_of(panel_file(old, new))


def test_credentials_in_an_address_are_refused_and_not_repeated(panel_file: PanelFile) -> None:
    said = fault_of(panel_file("https://api.example/v1", "https://ann:hunter2hunter2@api.example/v1"))
    assert "judge[0]: base_url may not carry credentials or a query; name the key's variable in api_key_env" in said
    assert "hunter2" not in said


SECRET = "hunter2hunter2"
OPENAI = f"sk-proj-{SECRET}-{SECRET}"


@pytest.mark.parametrize(
    "line",
    [
        f'api_key_env = "{OPENAI}"',
        'api_key_env = "AKIAHUNTER2HUNTER2XY"',
        f'headers_env = {{ x-api-key = "{OPENAI}" }}',
        f'headers = {{ x-custom = "{OPENAI}" }}',
        f'headers = {{ Authorization = "{SECRET}" }}',
        f'headers = {{ api-key = "{SECRET}" }}',
        f'headers = {{ X-Functions-Key = "{SECRET}" }}',
        f'headers = {{ helicone-auth = "{SECRET}" }}',
        f'query = {{ key = "{SECRET}" }}',
        f'query = {{ user = "{OPENAI}" }}',
        f'parameters = {{ api_key = "{SECRET}" }}',
        f'parameters = {{ extra = {{ deep = ["{OPENAI}"] }} }}',
        f"parameters = {{ {OPENAI} = 1 }}",
        f'parameters = "{OPENAI}"',
        f'headers = ["{OPENAI}"]',
    ],
)
def test_a_key_in_the_file_is_refused_and_not_shown(panel_file: PanelFile, line: str) -> None:
    said = fault_of(
        panel_file("timeout_s = 30", line) if "api_key_env" not in line else _instead_of_the_key(panel_file, line)
    )
    assert "value not shown" in said
    assert SECRET not in said
    assert "HUNTER2" not in said


def _instead_of_the_key(panel_file: PanelFile, line: str) -> Path:
    return panel_file('api_key_env = "ANN_KEY"', line)


@pytest.mark.parametrize("address", [f"ftp://{OPENAI}/v1", f"https://{OPENAI}/v1", f"https://api.example/{OPENAI}"])
def test_nor_is_an_address_shown_that_holds_one(panel_file: PanelFile, address: str) -> None:
    said = fault_of(panel_file("https://api.example/v1", address))
    assert "base_url" in said
    assert SECRET not in said


def test_a_request_may_be_described(panel_file: PanelFile) -> None:
    path = panel_file(
        "timeout_s = 30",
        """
parameters = { reasoning_effort = "low" }
rename = { max_tokens = "max_completion_tokens" }
omit = ["temperature"]
headers = { openai-project = "p-1" }
headers_env = { x-proxy = "PROXY_KEY" }
query = { api-version = "2024-10-21" }""",
    )
    ann = load_panel(path).judges["ann"]
    assert (ann.rename, ann.omit) == ({"max_tokens": "max_completion_tokens"}, ("temperature",))
    assert (ann.headers, ann.headers_env) == ({"openai-project": "p-1"}, {"x-proxy": "PROXY_KEY"})
    assert (ann.parameters, ann.query) == ({"reasoning_effort": "low"}, {"api-version": "2024-10-21"})


@pytest.mark.parametrize("base_url", ["https://api.example/v1/", "https://api.example", "https://api.example/v1/chat"])
def test_an_address_may_have_a_path_and_end_in_a_slash(panel_file: PanelFile, base_url: str) -> None:
    assert load_panel(panel_file("https://api.example/v1", base_url)).judges["ann"].base_url == base_url


def test_all_faults_of_a_file_are_told_together(panel_file: PanelFile) -> None:
    path = panel_file('model = "ann-1"\n', "")
    path.write_text(path.read_text(encoding="utf-8").replace('label = "Bob"', "label = 3"), encoding="utf-8")
    said = fault_of(path)
    assert "2 fault(s)" in said
    assert "judge[0].model" in said
    assert "judge[1].label" in said


@pytest.mark.parametrize("host", ["ann.scripted.invalid", "ANN.SCRIPTED.INVALID:8080"])
def test_a_recorded_judge_is_never_reached_under_a_stand_ins_name(panel_file: PanelFile, host: str) -> None:
    said = fault_of(panel_file("https://api.example/v1", f"http://{host}/v1"))
    assert "judge ann: a stand-in is reached at a host that ends in .invalid, a real judge never is" in said
    assert "(got ann.scripted.invalid, provenance recorded)" in said


def test_a_scripted_judge_is_never_reached_under_a_real_name(panel_file: PanelFile) -> None:
    path = panel_file('provenance = "recorded"', 'provenance = "scripted"')
    path.write_text(
        path.read_text(encoding="utf-8").replace("[[task]]", '[stand_in]\nkind = "scripted"\n\n[[task]]'),
        encoding="utf-8",
    )
    assert "judge ann: a stand-in is reached at a host that ends in .invalid" in fault_of(path)


@pytest.mark.parametrize(
    ("old", "kind"), [('name = "mini"', "panel"), ('name = "essays"', "task"), ('name = "bob"', "judge")]
)
@pytest.mark.parametrize("name", ["../up", "a/b", "a\\\\b", ".hidden", "con", "a~b", "", "x" * 65, "ends.", "ünï"])
def test_a_name_that_is_no_safe_file_name_is_refused(panel_file: PanelFile, old: str, kind: str, name: str) -> None:
    assert f"{kind} " in (said := fault_of(panel_file(old, f'name = "{name}"')))
    assert "cannot be used as a name" in said


def test_an_unknown_task_is_told_with_the_known_ones(panel_file: PanelFile) -> None:
    with pytest.raises(RecuseError, match=r"mini\.toml: panel mini has no task 'poems'; it has essays"):
        load_panel(panel_file()).task("poems")
