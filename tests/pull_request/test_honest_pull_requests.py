"""Pull requests as teams make them: none is accused of anything, whether or not it brings its baseline along."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from recuse.cassettes.__main__ import main as packing
from recuse.git import BaseCommit
from recuse.upgrade.yardsticks import executed_code

pytest_plugins = ["pytester"]

GATES, PANEL, TASK = "evals/gates.toml", "fixtures/panels/desk.toml", "fixtures/tasks/replies"
JUDGE = """
[[judge]]
name = "{name}"
wire = "openai_chat"
base_url = "https://{name}.example/v1"
model = "{name}-1"
{more}
"""


def new_judge(pr):
    pr.add(PANEL, JUDGE.format(name="newcomer", more=""))
    pr.sign(pr.answers("tuesday"), "newcomer")


def better_prompt_as_candidate(pr):
    more = 'replaces = "steady"\nchange = ["prompt"]\nprompts = "prompts-v2"'
    pr.add(PANEL, JUDGE.format(name="steady-v2", more=more).replace("steady-v2-1", "steady-1"))
    pr.write(f"{TASK}/prompts-v2/rubric.user.j2", "Score this reply to a customer: {{ reply }}\n")
    pr.sign(pr.answers("tuesday", model="steady-1"), "steady-v2")


def model_asked_again_in_place(pr):
    pr.edit(PANEL, 'model = "steady-1"', 'model = "steady-2"')
    pr.sign(pr.answers("tuesday"), "steady")


def local_server_that_has_few_ids(pr):
    """As Ollama, which draws them from a thousand: replies of several judges and days have the same."""
    pr.on_main(lambda: pr.sign(pr.answers("monday", ids="few")))
    pr.edit(PANEL, 'model = "steady-1"', 'model = "steady-2"')
    pr.add(PANEL, JUDGE.format(name="newcomer", more=""))
    pr.sign(pr.answers("tuesday", ids="few"), "steady", "newcomer")


def tightened_limit(pr):
    pr.edit(GATES, "at_most = 1.0\nreason", "at_most = 0.9\nreason")


def new_texts(pr):
    names = [f"reply-{n}" for n in (90, 91, 92)]
    texts = [{"id": name, "target": "assistant", "fields": {"reply": f"Text {name}."}} for name in names]
    pr.add(f"{TASK}/items.jsonl", "\n".join(map(json.dumps, texts)) + "\n")
    rows = [f"{who},{name},assistant,{pr.quality(name):.1f}" for name in names for who in ("ann", "ben")]
    pr.add(f"{TASK}/people.csv", "\n".join(rows) + "\n")
    pr.sign(pr.answers("monday"))


def other_words(pr):
    pr.edit(GATES, 'reason = "a point on a scale of ten"', 'reason = "one point of ten"')
    pr.edit(PANEL, 'description = "Judges of a support desk."', 'description = "Judges of our support desk."')
    pr.add("README.md", "More words.\n")


def code_of_the_product(pr):
    pr.write("shop/basket.py", "import json\n")
    pr.write("tests/test_basket.py", "from shop import basket\n")
    pr.write("tests/conftest.py", "collect_ignore = []\n")
    pr.edit("requirements.txt", "numpy", "numpy==2.3.1\npandas")
    pr.add("pyproject.toml", '\n[tool.ruff]\nline-length = 100\n\n[project]\nname = "shop"\nversion = "1.0"\n')
    pr.write("docs/weights.json", "{}")
    pr.write(".gitattributes", "*.png binary\n* text=auto\n")
    pr.write("CODEOWNERS", "/shop/ @ann\n")
    pr.write(".github/workflows/lint.yml", "jobs: {}")


def new_panel(pr):
    shutil.copytree(pr.root / "cassettes/desk", pr.root / "cassettes/second")
    pr.write("fixtures/panels/second.toml", pr.read(PANEL).replace('name = "desk"', 'name = "second"'))


def packed_recordings(pr):
    assert packing(["pack", str(pr.root / "cassettes" / "desk")]) == 0


def asked_more_slowly(pr):
    pr.edit(PANEL, 'model = "steady-1"', 'model = "steady-1"\nlabel = "Steady"\nconcurrency = 2\ntimeout_s = 30')


def begun_before_other_work(pr):
    """The base branch has gone on, and nothing that judges are measured by."""
    tightened_limit(pr)
    pr.git("commit", "-q", "-am", "tightened")
    pr.git("checkout", "-q", "main")
    pr.add("README.md", "More.\n")
    pr.git("commit", "-q", "-am", "more")
    pr.git("checkout", "-q", "change")
    os.environ["RECUSE_BASE"] = "main"


def newer_libraries(pr):
    pr.edit("uv.lock", 'name = "numpy"\nversion = "2.3.1"', 'name = "numpy"\nversion = "2.3.2"')
    more = 'name = "pandas"\nversion = "3.0.0"\nsource = { registry = "https://pypi.example/simple" }'
    pr.add("uv.lock", f"\n[[package]]\n{more}\n")
    pr.write("requirements/docs.txt", "mkdocs\n")
    pr.write("setup.cfg", "[flake8]\nmax-line-length = 100\n")


def people_and_texts_more_of_both(pr):
    """Another person on texts that are new; who rated before stays."""
    names = [f"reply-{n}" for n in (80, 81)]
    texts = [{"id": name, "target": "assistant", "fields": {"reply": f"Text {name}."}} for name in names]
    pr.add(f"{TASK}/items.jsonl", "\n".join(map(json.dumps, texts)) + "\n")
    rows = [f'{who},"{name}",assistant,{pr.quality(name):.1f}' for name in names for who in ("ann", "ben", "cleo")]
    pr.add(f"{TASK}/people.csv", "\n".join(rows) + "\n")
    pr.sign(pr.answers("monday"))


def moved_code_of_the_product(pr):
    (pr.root / "shop").mkdir()
    pr.write("shop/native.py", "FAST = False\n")
    (pr.root / "current").symlink_to("shop")


def messages_of_recuse_itself(pr):
    """In a repository that holds it: what says how to run the evals runs none."""
    pr.git("checkout", "-q", "main")
    pr.write("recuse/__init__.py", "")
    pr.write("recuse/remedies.py", "RECORD = 'pytest evals/ --record=missing'")
    pr.git("add", "-A")
    pr.git("commit", "-q", "-m", "Recuse")
    pr.git("checkout", "-q", "-B", "change")
    pr.write("recuse/remedies.py", "RECORD = 'record: pytest evals/ --record=missing'")
    os.environ["RECUSE_BASE"] = "main"


def labels_for_texts_that_had_none(pr):
    """Those who rated some of the texts go on."""

    def fewer():
        rows = pr.read(f"{TASK}/people.csv").splitlines()
        pr.write(f"{TASK}/people.csv", "\n".join(row for row in rows if "reply-2" not in row))

    kept = pr.read(f"{TASK}/people.csv")
    pr.on_main(fewer)
    pr.write(f"{TASK}/people.csv", kept)


def panel_of_another_name(pr):
    (pr.root / PANEL).rename(pr.root / "fixtures/panels/support.toml")
    pr.edit("pyproject.toml", "desk.toml", "support.toml")


def ratings_by_people_of_another_name(pr):
    (pr.root / f"{TASK}/people.csv").rename(pr.root / f"{TASK}/annotators.csv")
    pr.edit(f"{TASK}/task.toml", '"people.csv"', '"annotators.csv"')


def eval_of_another_name(pr):
    (pr.root / "evals/test_people.py").rename(pr.root / "evals/test_human_offset.py")


def docs_in_every_format(pr):
    pr.git("checkout", "-q", "main")
    pr.write("docs/judges.rst", "Run ``pytest evals/``.")
    pr.git("add", "-A")
    pr.git("commit", "-q", "-m", "docs")
    pr.git("checkout", "-q", "-B", "change")
    pr.write("docs/judges.rst", "Run ``pytest evals/ --baseline``, or set PYTEST_ADDOPTS.")
    pr.write("docs/new.md", "Set RECUSE_BASE.")
    os.environ["RECUSE_BASE"] = "main"


def files_of_a_product(pr):
    """An image, a release, owners and generated files that have nothing to do with judges."""
    pr.write("Dockerfile", 'FROM python:3.13\nENV PYTHONUNBUFFERED=1\nCMD ["python", "-m", "shop"]\n')
    pr.write(".env.example", "SHOP_KEY=\n")
    pr.write(".github/workflows/release.yml", "on: { push: {} }\njobs: { build: { steps: [{ run: make }] } }")
    pr.write(".gitattributes", "package-lock.json linguist-generated\n*.sh text eol=lf\n")
    pr.write("CODEOWNERS", "/shop/ @ann\n*.ts @ben\n")
    pr.write("shop/.gitattributes", "*.toml -diff\n")
    pr.write("tox.ini", "[testenv:lint]\ncommands = ruff check shop\n")
    pr.write("shop/numbers.py", "ONE = 1")


def newer_dependencies_of_the_project(pr):
    project = '\n[project]\nname = "shop"\nversion = "1"\ndependencies = ["scipy>=1.15", "pytest>=8"]\n'
    pr.on_main(lambda: pr.add("pyproject.toml", project))
    pr.edit("pyproject.toml", '"scipy>=1.15", "pytest>=8"', '"scipy>=1.16", "pytest>=8.4", "httpx[http2]>=1"')


def new_judge_beside_a_pack(pr):
    pr.on_main(lambda: packing(["pack", str(pr.root / "cassettes/desk")]))
    new_judge(pr)


HONEST = (new_judge_beside_a_pack, labels_for_texts_that_had_none, panel_of_another_name,
          ratings_by_people_of_another_name, eval_of_another_name, docs_in_every_format, files_of_a_product,
          newer_dependencies_of_the_project, local_server_that_has_few_ids,
          new_judge, better_prompt_as_candidate, model_asked_again_in_place, tightened_limit, new_texts, other_words,
          code_of_the_product, new_panel, asked_more_slowly, begun_before_other_work, newer_libraries,
          people_and_texts_more_of_both, packed_recordings, moved_code_of_the_product,
          messages_of_recuse_itself)  # fmt: skip


ALWAYS = (model_asked_again_in_place, new_texts, code_of_the_product, people_and_texts_more_of_both, new_panel,
          local_server_that_has_few_ids)  # fmt: skip
EACH = [change if change in ALWAYS else pytest.param(change, marks=pytest.mark.slow("whole runs")) for change in HONEST]


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("change", EACH, ids=lambda change: change.__name__)
def test_an_honest_pull_request_is_told_to_merge(pr, change):
    change(pr)
    for _ in range(2):
        run = pr.run()
        assert (run.word, run.code) == ("merge", pytest.ExitCode.OK), run.text
        pr.rewrite_baseline(run)


def test_tests_of_a_product_hide_nothing_though_some_wheel_left_a_folder_called_so(pr, monkeypatch):
    monkeypatch.setattr("recuse.upgrade.yardsticks.packages_distributions", lambda: {"tests": ["careless"]})
    pr.write("tests/test_basket.py", "import json\n")
    assert pr.run().word == "merge"


def test_what_installed_packages_name_is_no_code_of_the_run_wherever_they_are_installed(pr, monkeypatch):
    """An environment inside the repository is thousands of files, and no commit changes it."""
    installed = ".venv/lib/python/site-packages"
    pr.write(f"{installed}/helper.py", "import shop.basket\n")
    pr.write("shop/basket.py", "FAST = False\n")
    monkeypatch.syspath_prepend(str(pr.root / installed))
    monkeypatch.setattr("sys.prefix", str(pr.root / ".venv"))
    differing = {"shop/basket.py": "M", "recuse/gates.py": "M"}
    commit = BaseCommit(pr.root, "main")
    vars(commit)["differing"] = differing
    for text, code in (("import helper\n", {}), ("import shop.basket\n", {"shop/basket.py"})):
        pr.write("evals/test_speed.py", text)
        assert {*executed_code(pr.root, commit, "evals", ours=True)} == {*code}


@pytest.mark.parametrize("path", ["shop/scores.py", "src/shop/scores.py", "shop/scores/__init__.py"])
def test_a_module_that_a_panel_names_and_a_change_deletes_is_code_of_the_run(pr, path):
    pr.write("fixtures/panels/of_the_shop.toml", 'serve = "shop.scores:serve"\n')
    commit = BaseCommit(pr.root, "main")
    vars(commit)["differing"] = {path: "D", "shop/other.py": "D"}
    assert {*executed_code(pr.root, commit, "evals", ours=True)} == {path}


def test_an_environment_is_part_of_a_change_only_where_somebody_commits_it(pr):
    """Made in the repository and not ignored: comparing its thousands of files took ten minutes."""
    installed = {"env/pyvenv.cfg": "home = /usr/bin", "env/lib/sitecustomize.py": "", "environment.py": ""}
    before = BaseCommit(pr.root, "main").differing
    for path, text in installed.items():
        pr.write(path, text)
    assert BaseCommit(pr.root, "main").differing == before | {"environment.py": "A"}
    pr.git("add", "-A")
    assert BaseCommit(pr.root, "main").differing == before | dict.fromkeys(installed, "A")


@pytest.mark.slow("whole runs")
def test_a_baseline_with_a_reason_is_green_and_for_a_person_to_decide(pr):
    """Whoever merges reads the reason; nothing else turns green by it."""
    pr.edit(GATES, "within = [-1.0, 1.0]", "within = [-1.0, 1.2]")
    assert pr.run().code == pytest.ExitCode.TESTS_FAILED
    pr.run("--update-baseline", "--because", "people agreed")
    run = pr.run()
    assert (run.word, run.code) == ("decide", pytest.ExitCode.OK), run.text
    assert "limit of human offset widened" in run.screen
    pr.add("evals/test_people.py", "# and nothing else\n")
    assert pr.run().code == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("given", [True, False])
def test_where_no_base_can_be_read_a_run_says_so(pr, monkeypatch, given):
    if not given:
        monkeypatch.delenv("RECUSE_BASE")
    shutil.rmtree(pr.root / ".git")
    run = pr.run_only()
    assert run.word == ("" if given else "no decision")
    assert ("git knows no such commit" if given else "there is no git commit here") in run.text
    assert (run.code == pytest.ExitCode.OK) is not given


def test_what_is_gone_is_not_called_recorded(pr):
    for cell in (pr.root / "cassettes/desk").rglob("steady~*"):
        cell.unlink()
    (row,) = (row for row in pr.run().results["changed"] if row["kind"] == "recording")
    assert row["cause"] == "48 replies of steady are gone"
    assert row["after"] == "0 replies are new, 0 stand where the base commit has others, 48 of the base commit are gone"


def test_what_was_recorded_is_listed_with_days_models_ids_and_usage(pr):
    new_judge(pr)
    run = pr.run()
    (row,) = (row for row in run.results["changed"] if row["kind"] == "recording")
    assert row["what"] == "recordings of newcomer (desk)"
    assert (row["word"], row["cause"]) == ("merge", "newcomer is recorded: 48 new replies")
    ids = [json.loads(pr.answers("tuesday")(call))["id"] for call in pr.calls("newcomer")]
    assert (len(ids), sorted(row["ids"])) == (48, sorted(ids))
    page = (pr.root / "reports/index.html").read_text(encoding="utf-8")
    for words in ("answered by newcomer-1 (asked: newcomer-1)", "2026-09-21", "1920 tokens in, 576 out",
                  f"48 ids of the provider, {row['ids'][0]} to {row['ids'][-1]}"):  # fmt: skip
        assert words in row["after"]
        assert words in page
