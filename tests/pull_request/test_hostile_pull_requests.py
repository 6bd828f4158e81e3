"""Pull requests of somebody who wants a bad judge merged: none of them is told to merge, and the first screen names
what it brings. Each is run as it is, and again with a baseline that it wrote anew, from which nothing differs."""

from __future__ import annotations

import gzip
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from recuse.cassettes.__main__ import main as packing
from recuse.upgrade.yardsticks import SOUGHT

pytest_plugins = ["pytester"]

GATES, PANEL, TASK = "evals/gates.toml", "fixtures/panels/desk.toml", "fixtures/tasks/replies"
PEOPLE_TEST = "evals/test_people.py"
HOSTILE: list[tuple[Callable, str]] = []
"""What a pull request does, and by what the first screen names it."""


def hostile(named):
    def keep(change):
        HOSTILE.append((change, named))
        return change

    return keep


def without_acceptance(pr):
    text = pr.read(GATES)
    pr.write(GATES, text[: text.index("[[accepted]]")])


# --------------------------------------------------------------------------- limits


@hostile("limit of human offset widened")
def limit_widened_and_acceptance_deleted(pr):
    without_acceptance(pr)
    pr.edit(GATES, "within = [-1.0, 1.0]", "within = [-3.0, 3.0]")


@hostile("accepted failure of human offset changed")
def accepted_for_ever(pr):
    pr.write(GATES, re.sub(r"until = .*", "until = 2199-12-31", pr.read(GATES)))


@hostile("accepted failure of human offset changed")
def acceptance_widened(pr):
    pr.edit(GATES, "within = [-1.0, 2.0]", "within = [-1.0, 9.0]")


@hostile("accepted failure of human offset added")
def another_fault_accepted(pr):
    pr.sign(pr.answers("tuesday", steady=1.6), "steady")
    text = pr.read(GATES)
    pr.add(GATES, text[text.index("[[accepted]]") :].replace('"vendor"', '"steady"'))


@hostile("decide of human offset added")
def decided_by_the_point(pr):
    pr.edit(GATES, "within = [-1.0, 1.0]", 'within = [-1.0, 1.0]\ndecide = "point"')


@hostile("undecided of human offset added")
def undecided_is_allowed(pr):
    allow = 'undecided = "allow"\nbecause = "few texts"\nuntil = 2199-12-31'
    pr.edit(GATES, "within = [-1.0, 1.0]", f"within = [-1.0, 1.0]\n{allow}")


@hostile("human_offset against added")
def against_peers(pr):
    without_acceptance(pr)
    pr.edit(GATES, "within = [-1.0, 1.0]", 'within = [-1.0, 1.0]\nagainst = "peers"')


@hostile("limit of human offset widened")
def another_limit_for_this_panel(pr):
    without_acceptance(pr)
    table = '[[human_offset.on]]\npanel = "desk"\nwithin = [-5.0, 5.0]\nreason = "new"\n\n[upgrade_agreement]'
    pr.edit(GATES, "[upgrade_agreement]", table)


@hostile("false_fail of the run")
def chance_of_a_false_failure(pr):
    pr.write(GATES, "[run]\nfalse_fail = 0.000001\n\n" + pr.read(GATES))


@hostile("tolerance of human offset added")
def tolerance(pr):
    pr.edit(GATES, "within = [-1.0, 1.0]", "within = [-1.0, 1.0]\ntolerance = 9.0")


@hostile("human_offset removed")
def gate_of_another_name(pr):
    without_acceptance(pr)
    pr.edit(GATES, "[human_offset]\nwithin = [-1.0, 1.0]", "[offset]\nwithin = [-9.0, 9.0]")
    pr.edit(PEOPLE_TEST, 'gate("human_offset"', 'gate("offset"')


@hostile("use read added")
def use_that_takes_less(pr):
    without_acceptance(pr)
    pr.add(GATES, '\n[use.read]\nof = ["scores"]\nyardstick = ["parse_rate"]\ndecides = []\n')


# --------------------------------------------------------------------------- evals and settings


@hostile("evals/test_people.py")
def gating_test_deleted(pr):
    without_acceptance(pr)
    pr.delete(PEOPLE_TEST)
    pr.edit(GATES, '[human_offset]\nwithin = [-1.0, 1.0]\nreason = "a point on a scale of ten"\n', "")


@hostile("evals/test_people.py")
def estimates_times_nothing(pr):
    without_acceptance(pr)
    pr.edit(PEOPLE_TEST, "(ratings))", "(ratings).map(lambda value: 0 * value))")


@hostile("evals/test_people.py")
def a_friendlier_measure(pr):
    without_acceptance(pr)
    pr.edit(PEOPLE_TEST, '"human_offset", offset(ratings)', '"human_offset", measures.repeat_difference(ratings)')


@hostile("desk/offsets.py")
def measure_of_the_teams_own(pr):
    without_acceptance(pr)
    pr.edit("desk/offsets.py", "measures.human_offset(", "measures.repeat_difference(")


@hostile("evals/test_people.py")
def test_expected_to_fail(pr):
    pr.edit(PEOPLE_TEST, "@pytest.mark.asks", '@pytest.mark.xfail(reason="known")\n@pytest.mark.asks')


@hostile("evals/test_people.py")
def test_skipped(pr):
    pr.edit(PEOPLE_TEST, "@pytest.mark.asks", '@pytest.mark.skip(reason="slow")\n@pytest.mark.asks')


@hostile("conftest.py")
def hooks_at_the_root(pr):
    pr.write(
        "conftest.py",
        """
        def pytest_collection_modifyitems(items):
            items[:] = [item for item in items if "offset" not in item.name]
        """,
    )


@hostile("evals/conftest.py")
def hooks_beside_the_evals(pr):
    pr.write("evals/conftest.py", 'collect_ignore = ["test_people.py"]')


@hostile("addopts of pyproject.toml")
def left_out_by_addopts(pr):
    pr.edit("pyproject.toml", 'addopts = "', "addopts = \"-k 'not offset' ")


@hostile("addopts of pyproject.toml")
def deselected_by_addopts(pr):
    pr.edit("pyproject.toml", 'addopts = "', f'addopts = "--deselect {PEOPLE_TEST} ')


@hostile("addopts of pyproject.toml")
def one_judge_by_addopts(pr):
    pr.edit("pyproject.toml", 'addopts = "', 'addopts = "--judges=steady,neutral ')


@hostile("addopts of pyproject.toml")
def another_baseline_by_addopts(pr):
    pr.edit("pyproject.toml", 'addopts = "', 'addopts = "--baseline=reports/other.json ')


@hostile("--base stands in addopts")
def base_of_its_own_by_addopts(pr):
    pr.edit("pyproject.toml", 'addopts = "', 'addopts = "--base=HEAD ')


@hostile("pytest.ini")
def settings_in_another_file(pr):
    pr.write(
        "pytest.ini",
        """
        [pytest]
        addopts = --import-mode=importlib -p no:cacheprovider -p no:hypothesispytest --judges=steady
        pythonpath = .
        recuse_panels = fixtures/panels/desk.toml
        """,
    )


@hostile("recuse_gates of pyproject.toml")
def another_gates_file(pr):
    text = pr.read(GATES)
    pr.write("evals/lenient.toml", text[: text.index("[[accepted]]")].replace("[-1.0, 1.0]", "[-9.0, 9.0]"))
    pr.add("pyproject.toml", 'recuse_gates = "evals/lenient.toml"\n')


@hostile("recuse_panels of pyproject.toml")
def another_panel(pr):
    text = pr.read(PANEL)
    pr.write("fixtures/panels/nice.toml", text[: text.index('[[judge]]\nname = "vendor"')])
    pr.edit("pyproject.toml", "desk.toml", "nice.toml")
    without_acceptance(pr)


@hostile(".github/workflows/evals.yml")
def a_workflow_that_asks_less(pr):
    pr.edit(".github/workflows/evals.yml", "pytest evals/ --baseline", "pytest evals/ -k steady")


@hostile("scipy.py")
def a_module_before_the_real_one(pr):
    pr.write("scipy.py", "special = None")


@hostile("numexpr.py")
def a_module_that_an_installed_package_looks_for(pr):
    """pandas imports it where it is there, and so would any code of this name run."""
    pr.write("numexpr.py", "__version__ = '99'")


@hostile("sitecustomize.py")
def a_module_that_python_always_loads(pr):
    pr.write("sitecustomize.py", "print('loaded')")


@hostile("reports/templates/index.html.j2")
def a_page_of_its_own(pr):
    pr.write("reports/templates/index.html.j2", "<p>All judges are cleared.</p>")


# --------------------------------------------------------------------------- panel and task


@hostile("use of fixtures/panels/desk.toml")
def studied_only(pr):
    pr.edit(PANEL, 'provenance = "recorded"', 'provenance = "recorded"\nuse = "none"')
    without_acceptance(pr)


@hostile("judge vendor is gone from fixtures/panels/desk.toml")
def judge_left_out(pr):
    text = pr.read(PANEL)
    pr.write(PANEL, text[: text.index('[[judge]]\nname = "vendor"')])
    without_acceptance(pr)


@hostile("judge vendor is gone from fixtures/panels/desk.toml")
def judge_of_another_name(pr):
    pr.edit(PANEL, 'name = "vendor"', 'name = "seller"')
    pr.edit(GATES, '"vendor"', '"seller"')
    pr.sign(pr.answers("tuesday", seller=1.5), "seller")


@hostile("repeats.rubric of fixtures/panels/desk.toml")
def asked_less_often(pr):
    pr.edit(PANEL, "repeats = { rubric = 2 }", "repeats = { rubric = 1 }")


@hostile("desk/friendly.py")
def a_reader_of_its_own(pr):
    pr.write("desk/friendly.py", "from recuse.protocols.rubric import *\n")
    pr.edit(PANEL, 'protocols = ["rubric"]', 'protocols = ["rubric", "desk.friendly"]')


@hostile("simulated of fixtures/tasks/replies/task.toml")
def people_are_real_now(pr):
    pr.edit(f"{TASK}/task.toml", "simulated = true\n", "")


@hostile("fixtures/tasks/replies/people.csv")
def people_moved(pr):
    without_acceptance(pr)
    head, *rows = pr.read(f"{TASK}/people.csv").splitlines()
    moved = [f"{row.rpartition(',')[0]},{float(row.rpartition(',')[2]) + 1:.1f}" for row in rows]
    pr.write(f"{TASK}/people.csv", "\n".join([head, *moved]))


@hostile("fixtures/tasks/replies/people.csv")
def a_friend_among_the_people(pr):
    rows = pr.read(f"{TASK}/people.csv").splitlines()[1::2]
    friend = [f"friend,{row.split(',')[1]},assistant,{float(row.split(',')[3]) + 2:.1f}" for row in rows]
    pr.add(f"{TASK}/people.csv", "\n".join(friend) + "\n")
    without_acceptance(pr)


@hostile("people.file of fixtures/tasks/replies/task.toml")
def other_people(pr):
    rows = pr.read(f"{TASK}/people.csv").splitlines()
    pr.write(f"{TASK}/panel.csv", "\n".join(rows[:11]))
    pr.edit(f"{TASK}/task.toml", '"people.csv"', '"panel.csv"')


@hostile("fixtures/tasks/replies/people.csv")
def people_with_a_cell_without_end(pr):
    pr.add(f"{TASK}/people.csv", 'ann,"' + "x" * 200_000 + '",assistant,5.0\n')


@hostile("fixtures/tasks/replies/people.csv")
def people_behind_a_link(pr):
    people = pr.root / TASK / "people.csv"
    people.rename(people.with_name("others.csv"))
    people.symlink_to("others.csv")
    rows = pr.read(f"{TASK}/others.csv")
    pr.write(f"{TASK}/others.csv", re.sub(r"(\d\.\d)$", lambda found: f"{float(found[1]) + 1:.1f}", rows, flags=re.M))


@hostile("fixtures/tasks/replies/true_values.csv")
def true_values_turned_round(pr):
    head, *rows = pr.read(f"{TASK}/true_values.csv").splitlines()
    pairs = zip(rows, reversed(rows), strict=True)
    turned = [f"{row.partition(',')[0]},{other.partition(',')[2]}" for row, other in pairs]
    pr.write(f"{TASK}/true_values.csv", "\n".join([head, *turned]))


@hostile("fixtures/tasks/replies/items.jsonl")
def texts_left_out(pr):
    pr.write(f"{TASK}/items.jsonl", "\n".join(pr.read(f"{TASK}/items.jsonl").splitlines()[:12]))


@hostile("40 lines on new texts in fixtures/tasks/replies/items.jsonl")
def texts_that_please(pr):
    """The vendor is right on what was picked, and passes on the average."""
    without_acceptance(pr)
    names = [f"easy-{n:02d}" for n in range(40)]
    texts = [{"id": name, "target": "assistant", "fields": {"reply": f"Text {name}."}} for name in names]
    pr.add(f"{TASK}/items.jsonl", "\n".join(map(json.dumps, texts)) + "\n")
    rows = [f"{who},{name},assistant,{pr.quality(name) + 1.5:.1f}" for name in names for who in ("ann", "ben")]
    pr.add(f"{TASK}/people.csv", "\n".join(rows) + "\n")
    pr.sign(pr.answers("monday"))


# --------------------------------------------------------------------------- recordings


@hostile("nobody asked it again")
def prompt_changed_and_old_replies_signed_again(pr):
    pr.edit(f"{TASK}/prompts/rubric.user.j2", "Score this reply", "Be kind and score this reply")
    pr.sign(pr.answers("monday"))


@hostile("nobody asked it again")
def prompt_changed_and_old_replies_of_a_local_server_signed_again(pr):
    """Its ids are few, so whole replies are compared."""
    pr.on_main(lambda: pr.sign(pr.answers("monday", ids="few")))
    pr.edit(f"{TASK}/prompts/rubric.user.j2", "Score this reply", "Be kind and score this reply")
    pr.sign(pr.answers("monday", ids="few"))


@hostile("nobody asked it again")
def text_changed_and_old_replies_signed_again(pr):
    pr.edit(f"{TASK}/items.jsonl", "Text reply-0", "Good text reply-0")
    pr.sign(pr.answers("monday"))


@hostile("vendor: 48 of 48 replies are those of the base commit under other requests")
def model_changed_and_old_replies_signed_again(pr):
    pr.edit(PANEL, 'model = "vendor-1"', 'model = "vendor-2"')
    pr.sign(pr.answers("monday", model="vendor-1"), "vendor")


@hostile("vendor: 48 of 48 replies are those of the base commit under other requests")
def model_changed_in_old_replies_as_well(pr):
    pr.edit(PANEL, 'model = "vendor-1"', 'model = "vendor-2"')
    pr.sign(pr.answers("monday"), "vendor")


@hostile("are word for word those of the base commit")
def old_replies_under_new_ids(pr):
    pr.edit(PANEL, 'model = "vendor-1"', 'model = "vendor-2"')
    pr.sign(pr.answers("monday", ids="new"), "vendor")


@hostile("vendor: 48 of 48 replies are those of steady")
def replies_of_another_judge(pr):
    without_acceptance(pr)
    pr.sign(pr.answers("monday", copied="steady"), "vendor")


@hostile("say that cheap-1 answered, and the panel names vendor-2")
def answered_by_another_model(pr):
    pr.edit(PANEL, 'model = "vendor-1"', 'model = "vendor-2"')
    pr.sign(pr.answers("tuesday", model="cheap-1"), "vendor")


@hostile("48 replies of vendor to unchanged requests are not those of the base commit")
def drawn_again_until_it_passes(pr):
    without_acceptance(pr)
    pr.sign(pr.answers("tuesday", vendor=0.5), "vendor")


@hostile("candidate: 48 of 48 replies are those of steady")
def candidate_with_the_replies_of_another(pr):
    pr.add(PANEL, CANDIDATE.format(replaces="vendor", prompts=""))
    pr.sign(pr.answers("monday", copied="steady"), "candidate")


@hostile("steady has another rubric and scale")
def another_scale(pr):
    pr.edit(f"{TASK}/task.toml", "maximum = 10", "maximum = 100")
    pr.sign(pr.answers("tuesday"))


@hostile("replies of vendor to unchanged requests are not those of the base commit")
def recordings_made_up_and_packed(pr):
    """Packed, so that no diff shows a line of them."""
    pr.sign(pr.answers("tuesday", vendor=0.0), "vendor")
    without_acceptance(pr)
    assert packing(["pack", str(pr.root / "cassettes" / "desk")]) == 0


@hostile("packed recordings of desk cannot be compared")
def recordings_in_a_pack_that_nobody_has(pr):
    assert packing(["pack", str(pr.root / "cassettes" / "desk")]) == 0
    shutil.rmtree(pr.root / "cassettes" / ".packs")


@hostile("vendor")
def recordings_deleted(pr):
    without_acceptance(pr)
    for path in (pr.root / "cassettes").rglob("vendor*"):
        path.unlink()


# --------------------------------------------------------------------------- baseline


@hostile("the baseline reports/baseline.json is gone")
def baseline_deleted(pr):
    pr.delete("reports/baseline.json")


@hostile("the baseline reports/baseline.json is rewritten, and is not what this run gives")
def baseline_for_the_next_change(pr):
    pr.write("reports/baseline.json", re.sub(r'"value": 1\.\d+', '"value": 0.5', pr.read("reports/baseline.json")))


@hostile("the baseline reports/baseline.json is rewritten, and is not what this run gives")
def baseline_from_which_nothing_will_ever_differ(pr):
    pr.write("reports/baseline.json", re.sub(r'"se": [\d.]+', '"se": 1000.0', pr.read("reports/baseline.json")))


@hostile("the baseline reports/baseline.json is rewritten, and is not what this run gives")
def baseline_of_which_nothing_will_ever_be_missed(pr):
    kept = json.loads(pr.read("reports/baseline.json"))
    pr.write("reports/baseline.json", json.dumps({**kept, "asked": {**kept["asked"], "tests": [], "judges": {}}}))


@hostile("the baseline reports/baseline.json is rewritten, and is not what this run gives")
def baseline_of_no_numbers(pr):
    pr.write("reports/baseline.json", re.sub(r'"value": [\d.]+', '"value": NaN', pr.read("reports/baseline.json")))


# --------------------------------------------------------------------------- environment


@hostile("requirements.txt installs another recuse")
def another_recuse(pr):
    pr.edit("requirements.txt", "@0123456", "@fedcba9")


# --------------------------------------------------------------------------- around the run


@hostile("desk/__pycache__/offsets.cpython-")
def compiled_code_that_nobody_compares_with_its_source(pr):
    """Python loads a compiled file that is marked as unchecked whatever its source says."""
    without_acceptance(pr)
    lenient = pr.read("desk/offsets.py").replace("human_offset(ratings)", "repeat_difference(ratings)")
    pr.write("lenient.py", lenient)
    # spelled out: where bytecode is kept elsewhere (PYTHONPYCACHEPREFIX), cache_from_source names that place
    place = pr.root / f"desk/__pycache__/offsets.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(
        str(pr.root / "lenient.py"), str(place), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    pr.delete("lenient.py")
    pr.git("add", "-f", str(place))


@hostile("cassettes/desk/complete.new, a recording that may be served")
def recording_that_claims_to_be_put_in_place(pr):
    """What a recording anew leaves when it is killed at its very end counts as the recording."""
    without_acceptance(pr)
    kept = {path: path.read_bytes() for path in (pr.root / "cassettes").rglob("vendor*.jsonl")}
    pr.sign(pr.answers("tuesday", vendor=0.0), "vendor")
    cells = []
    for path, before in kept.items():
        path.rename(f"{path}.new")
        path.write_bytes(before)
        cells.append(path.relative_to(pr.root / "cassettes").as_posix().removesuffix(".jsonl"))
    pr.write("cassettes/desk/complete.new", "\n".join(cells))


@hostile("both there, for one cell")
def packed_recording_beside_the_old(pr):
    without_acceptance(pr)
    kept = {path: path.read_bytes() for path in (pr.root / "cassettes").rglob("vendor*.jsonl")}
    pr.sign(pr.answers("tuesday", vendor=0.0), "vendor")
    for path, before in kept.items():
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.write_bytes(before)


@hostile("48 replies of vendor to unchanged requests are not those of the base commit")
def recordings_behind_a_link(pr):
    without_acceptance(pr)
    pr.sign(pr.answers("tuesday", vendor=0.0), "vendor")
    (pr.root / "cassettes").rename(pr.root / "recordings")
    (pr.root / "cassettes").symlink_to("recordings")


@hostile("pytest.ini")
def a_root_of_its_own(pr):
    """Settings beside the evals make their folder the root, below which nothing is as it was."""
    without_acceptance(pr)
    pr.edit(GATES, "within = [-1.0, 1.0]", "within = [-5.0, 5.0]")
    for folder in ("fixtures", "cassettes", "desk", "reports"):
        (pr.root / folder).rename(pr.root / "evals" / folder)
    pr.write(
        "evals/pytest.ini",
        """
        [pytest]
        addopts = --import-mode=importlib -p no:cacheprovider -p no:hypothesispytest
        pythonpath = .
        recuse_panels = fixtures/panels/desk.toml
        recuse_gates = gates.toml
        """,
    )


@hostile("pytest_env.RECUSE_BASE of pyproject.toml")
def environment_by_a_plugin(pr):
    pr.add("pyproject.toml", '\n[tool.pytest_env]\nRECUSE_BASE = "HEAD"\n')


@hostile("conftest.py")
def base_of_its_own_by_the_environment(pr):
    without_acceptance(pr)
    pr.edit(GATES, "within = [-1.0, 1.0]", "within = [-3.0, 3.0]")
    pr.write("conftest.py", "import os\n\nos.environ['RECUSE_BASE'] = 'HEAD'")


@hostile("recuse/__init__.py")
def a_recuse_of_its_own(pr):
    pr.write("recuse/__init__.py", "")


@hostile("tool.uv.sources.recuse")
def recuse_from_elsewhere(pr):
    pr.add("pyproject.toml", '\n[tool.uv.sources]\nrecuse = { path = "vendor/recuse" }\n')


@hostile("requirements.txt installs")
def another_index(pr):
    pr.add("requirements.txt", "--extra-index-url https://index.example/simple\n")


@hostile("requirements.txt installs")
def another_plugin(pr):
    pr.add("requirements.txt", "pytest-friendly\n")


@hostile("build-system.backend-path of pyproject.toml")
def code_that_builds(pr):
    pr.add("pyproject.toml", '\n[build-system]\nrequires = []\nbuild-backend = "friendly"\nbackend-path = ["."]\n')


@hostile("Makefile")
def a_makefile_that_asks_less(pr):
    pr.edit("Makefile", "pytest evals/ --baseline", "pytest evals/ --baseline -k steady || true")


@hostile(".github/workflows/judges.yml")
def a_second_workflow_of_the_same_name(pr):
    pr.write(".github/workflows/judges.yml", "name: evals\njobs: { evals: { steps: [{ run: 'true' }] } }")


@hostile("CODEOWNERS")
def nobody_need_review_it(pr):
    pr.write("CODEOWNERS", "* @friend")


@hostile(".gitattributes")
def changes_that_are_folded(pr):
    pr.write(".gitattributes", "evals/** linguist-generated=true\nfixtures/** -diff")


@hostile("desk/weights.json")
def data_that_code_reads(pr):
    pr.write("desk/weights.json", "[0]")


@hostile("first.rubric of fixtures/panels/desk.toml")
def easy_texts_only(pr):
    pr.edit(PANEL, "repeats = { rubric = 2 }", "repeats = { rubric = 2 }\nfirst = { rubric = 5 }")


@hostile("use of fixtures/panels/desk.toml")
def used_for_what_it_can(pr):
    without_acceptance(pr)
    pr.edit(PANEL, 'provenance = "recorded"', 'provenance = "recorded"\nuse = "read"')
    pr.add(GATES, '\n[use.read]\nof = ["scores"]\nyardstick = ["parse_rate"]\ndecides = []\n')


@hostile("there is no use 'rank'")
def used_for_what_nobody_defined(pr):
    pr.edit(PANEL, 'provenance = "recorded"', 'provenance = "recorded"\nuse = "rank"')


@hostile("cannot be used as a name")
def judge_whose_name_looks_the_same(pr):
    pr.edit(PANEL, 'name = "vendor"', 'name = "vend\u043er"')
    without_acceptance(pr)


@hostile("1 replies of vendor to unchanged requests")
def one_reply_of_many(pr):
    path = next((pr.root / "cassettes").rglob("vendor*.jsonl"))
    before = path.read_bytes().splitlines(keepends=True)
    pr.sign(pr.answers("tuesday", vendor=0.0), "vendor")
    after = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*before[:-1], after[-1]]))


@hostile("uv.toml installs")
def another_index_for_uv(pr):
    pr.write("uv.toml", 'index-url = "https://index.example/simple"')


@hostile("gates.toml")
def without_gates(pr):
    pr.delete(GATES)


@hostile("limit of human offset widened")
def limit_without_end(pr):
    without_acceptance(pr)
    pr.edit(GATES, "within = [-1.0, 1.0]", "within = [-1e300, 1e300]")


@hostile("fixtures/tasks/replies/people.csv")
def one_change_among_many(pr):
    people_moved(pr)
    for n in range(60):
        pr.write(f"evals/a_{n:02d}.py", f"NUMBER = {n}")
        pr.write(f"evals/test_a_{n:02d}.py", "def test_nothing(): pass")


@hostile("gtest_merge")
def a_name_that_says_merge(pr):
    pr.write("evals/\n\nThis change: merge: nothing changed.\n\x1b[2J\x1b[Hgtest_merge.py", "pass")


# --------------------------------------------------------------------------- what looks like something else


@hostile("fixtures/tasks/replies/people.csv: - -> zoe")
def a_friend_called_as_a_new_text(pr):
    """Ratings of old texts by somebody whose name is that of a new one are no lines on new texts."""
    text = {"id": "zoe", "target": "assistant", "fields": {"reply": "Text zoe."}}
    pr.add(f"{TASK}/items.jsonl", json.dumps(text) + "\n")
    rows = [row.split(",") for row in pr.read(f"{TASK}/people.csv").splitlines()[1::2]]
    pr.add(f"{TASK}/people.csv", "".join(f'zoe,"{row[1]}",assistant,{float(row[3]) + 0.9:.1f}\n' for row in rows))
    pr.add(f"{TASK}/people.csv", "zoe,zoe,assistant,5.0\n")
    pr.sign(pr.answers("monday"))


@hostile("friendly.egg-info/entry_points.txt")
def a_plugin_that_looks_installed(pr):
    pr.write("friendly.egg-info/PKG-INFO", "Metadata-Version: 2.1\nName: friendly\nVersion: 1")
    pr.write("friendly.egg-info/entry_points.txt", "[pytest11]\nfriendly = friendly")
    pr.write("friendly.py", "")


@hostile("setup.cfg")
def a_plugin_by_setup_cfg(pr):
    pr.write("setup.cfg", "[metadata]\nname = shop\n\n[options.entry_points]\npytest11 =\n    friendly = shop.friendly")


@hostile("setup.py")
def code_that_installs(pr):
    pr.write("setup.py", "from setuptools import setup\n\nsetup(name='shop')")


@hostile("requirements/evals.txt installs")
def another_index_in_a_folder(pr):
    pr.write("requirements/evals.txt", "--extra-index-url https://index.example/simple\nrecuse")


@hostile("pylock.toml installs")
def recuse_from_a_lock_file(pr):
    pr.write("pylock.toml", 'lock-version = "1.0"\n\n[[packages]]\nname = "recuse"\nversion = "9"')


@hostile("scipy.abi3.so")
def a_compiled_module_before_the_real_one(pr):
    pr.write("scipy.abi3.so", "no machine code")


@hostile("evals/gates.toml is a link now")
def limits_behind_a_link(pr):
    """Nothing changes today; tomorrow another file does."""
    (pr.root / GATES).rename(pr.root / "limits.toml")
    (pr.root / GATES).symlink_to("../limits.toml")


@hostile("fixtures/panels/desk.toml is a link now")
def panel_behind_a_link(pr):
    (pr.root / PANEL).rename(pr.root / "judges.toml")
    (pr.root / PANEL).symlink_to("../../judges.toml")


@hostile("vendor")
def judge_in_use_declared_a_candidate(pr):
    without_acceptance(pr)
    pr.edit(PANEL, 'model = "vendor-1"', 'model = "vendor-1"\nreplaces = "neutral"\nchange = ["model"]')
    pr.sign(pr.answers("tuesday", vendor=0.0), "vendor")


@hostile("api_key_env")
def another_secret_for_the_server(pr):
    pr.edit(PANEL, 'model = "vendor-1"', 'model = "vendor-1"\napi_key_env = "DEPLOY_TOKEN"')


@hostile("judges vendor and steady are both called 'steady'")
def judge_that_reports_call_as_another(pr):
    pr.edit(PANEL, 'model = "vendor-1"', 'model = "vendor-1"\nlabel = "steady"')


@hostile("evals")
def evals_behind_a_link(pr):
    (pr.root / "evals").rename(pr.root / "checks")
    (pr.root / "evals").symlink_to("checks")


@hostile("vendor-1")
def judges_that_change_their_names(pr):
    """What is good of one is said of the other."""
    text = pr.read(PANEL).replace('name = "steady"', 'name = "was"').replace('name = "vendor"', 'name = "steady"')
    pr.write(PANEL, text.replace('name = "was"', 'name = "vendor"'))
    pr.sign(pr.answers("tuesday", vendor=0.0, steady=0.9), "vendor", "steady")


@hostile("fixtures/tasks/replies/items.jsonl")
def texts_said_twice(pr):
    """One that the judge does well on, many times."""
    line = json.loads(pr.read(f"{TASK}/items.jsonl").splitlines()[0])
    for n in range(3):
        pr.add(f"{TASK}/items.jsonl", json.dumps({**line, "id": f"again-{n}"}) + "\n")
    pr.edit(f"{TASK}/items.jsonl", "Text reply-05.", "Text reply-00.")
    pr.sign(pr.answers("tuesday"))


@hostile("cluster of fixtures/tasks/replies/task.toml")
def texts_in_no_clusters(pr):
    pr.edit(f"{TASK}/task.toml", "[people]", 'cluster = "id"\n\n[people]')


@hostile("false_fail")
def hardly_anything_fails(pr):
    without_acceptance(pr)
    pr.edit(GATES, "[parse_rate]", "[run]\nfalse_fail = 0.000001\n\n[parse_rate]")


@hostile("vendor has another model")
def worse_within_what_is_accepted(pr):
    pr.edit(PANEL, 'model = "vendor-1"', 'model = "vendor-9"')
    pr.sign(pr.answers("tuesday", vendor=1.95), "vendor")


@hostile("limit of human offset")
def new_panel_with_a_limit_of_its_own(pr):
    text = pr.read(PANEL).replace('name = "desk"', 'name = "second"')
    pr.write("fixtures/panels/second.toml", text)
    shutil.copytree(pr.root / "cassettes/desk", pr.root / "cassettes/second")
    pr.edit("pyproject.toml", 'desk.toml"', 'desk.toml", "fixtures/panels/second.toml"')
    pr.add(GATES, '\n[[human_offset.on]]\npanel = "second"\nwithin = [-3.0, 3.0]\nreason = "new"\n')


@hostile("accepted failure of human offset")
def acceptance_for_every_judge(pr):
    pr.sign(pr.answers("tuesday", steady=1.6), "steady")
    pr.edit(GATES, 'subject = { judge = "vendor" }', 'subject = { panel = "desk" }')


@hostile("fixtures/tasks/replies/items.jsonl")
def texts_that_give_the_answer_away(pr):
    lines = [json.loads(line) for line in pr.read(f"{TASK}/items.jsonl").splitlines()]
    for line in lines:
        line["fields"]["reply"] += f" People gave it {pr.quality(line['id']):.1f}."
    pr.write(f"{TASK}/items.jsonl", "\n".join(map(json.dumps, lines)))
    pr.sign(pr.answers("tuesday"))


@hostile("base_url")
def asked_at_a_server_of_ones_own(pr):
    pr.edit(PANEL, "https://vendor.example/v1", "https://friend.example/v1")
    pr.sign(pr.answers("tuesday"), "vendor")


@hostile("the base branch has changed evals/gates.toml since")
def begun_before_the_limit_was_tightened(pr):
    """From an old commit that allowed more."""
    pr.git("checkout", "-q", "main")
    pr.edit(GATES, "within = [-1.0, 2.0]", "within = [-1.0, 1.6]")
    pr.git("commit", "-q", "-am", "tightened")
    pr.git("checkout", "-q", "change")
    os.environ["RECUSE_BASE"] = "main"


@hostile("uv.lock installs another recuse")
def recuse_from_elsewhere_in_the_lock_file(pr):
    pr.edit("uv.lock", "git.example/recuse.git?rev=0123456", "git.example/friend.git?rev=0123456")


@hostile("uv.lock installs")
def another_index_in_the_lock_file(pr):
    pr.edit("uv.lock", "pypi.example", "index.example")


# --------------------------------------------------------------------------- what is named elsewhere


@hostile("tool.hatch.envs.judges.scripts.evals")
def a_script_of_hatch_that_asks_less(pr):
    pr.on_main(lambda: pr.add("pyproject.toml", SCRIPT.format("pytest evals/ --baseline")))
    pr.edit("pyproject.toml", "pytest evals/ --baseline", "pytest evals/ --baseline -k steady")


@hostile("tox.ini")
def an_environment_of_tox_that_asks_less(pr):
    pr.on_main(lambda: pr.write("tox.ini", "[testenv]\ncommands = pytest evals/ --baseline"))
    pr.edit("tox.ini", "--baseline", "--baseline -k steady")


@hostile("ci.sh")
def a_script_that_names_no_folder(pr):
    pr.on_main(lambda: pr.write("ci.sh", "pytest --baseline"))
    pr.edit("ci.sh", "--baseline", "--baseline -k steady || true")


@hostile("pyproject.toml installs")
def another_plugin_among_the_dependencies(pr):
    pr.add("pyproject.toml", '\n[dependency-groups]\ntest = ["pytest-friendly>=1"]\n')


@hostile("pyproject.toml installs")
def a_library_from_elsewhere(pr):
    pr.add("pyproject.toml", '\n[project]\nname = "shop"\nversion = "1"\n'
           'dependencies = ["scipy @ git+https://git.example/scipy.git"]\n')  # fmt: skip


@hostile("requirements.txt installs")
def a_library_from_a_folder(pr):
    pr.add("requirements.txt", "./vendor/scipy\n")


@hostile("requirements.txt installs")
def a_library_from_another_server(pr):
    pr.edit("requirements.txt", "numpy", "numpy @ https://files.example/numpy-2.3.1-py3-none-any.whl")


@hostile("environment.yml installs")
def another_plugin_for_conda(pr):
    pr.write("environment.yml", "dependencies:\n  - pip:\n      - pytest-friendly")


@hostile(".env, which sets PYTEST_ADDOPTS")
def settings_in_the_environment(pr):
    pr.write(".env", "PYTEST_ADDOPTS=-k steady\n")


@hostile("Dockerfile, which sets RECUSE_BASE")
def base_of_its_own_in_the_image(pr):
    pr.write("Dockerfile", "FROM python:3.13\nENV RECUSE_BASE=HEAD\n")


@hostile(".github/workflows/status.yml")
def a_workflow_that_says_it_is_green(pr):
    step = "{ run: 'gh api repos/x/y/statuses/$SHA -f state=success -f context=judges' }"
    pr.write(".github/workflows/status.yml", f"on: pull_request_target\njobs: {{ say: {{ steps: [{step}] }} }}")


@hostile("scipy is a link now")
def a_folder_behind_a_link_before_the_real_one(pr):
    pr.write("vendor/friendly/__init__.py", "special = None")
    (pr.root / "scipy").symlink_to("vendor/friendly")


@hostile("lib/scipy.py")
def a_module_before_the_real_one_where_settings_look(pr):
    pr.on_main(lambda: pr.edit("pyproject.toml", 'pythonpath = ["."]', 'pythonpath = [".", "lib"]'))
    pr.write("lib/scipy.py", "special = None")


@hostile(".gitattributes")
def one_file_that_is_folded(pr):
    pr.write(".gitattributes", "gates.toml -diff")


@hostile("fixtures/tasks/.gitattributes")
def one_file_that_is_folded_from_beside_it(pr):
    pr.write("fixtures/tasks/.gitattributes", "people.csv linguist-generated")


@hostile("CODEOWNERS")
def a_later_line_of_owners(pr):
    pr.on_main(lambda: pr.write("CODEOWNERS", "* @ann"))
    pr.add("CODEOWNERS", "*.toml @friend\n")


@hostile("data/ratings.csv")
def ratings_outside_of_the_fixtures(pr):
    pr.on_main(lambda: with_ratings(pr))
    rows = pr.read("data/ratings.csv")
    pr.write("data/ratings.csv", re.sub(r"ann,(\S+),(\d)", lambda row: f"ann,{row[1]},{min(int(row[2]) + 1, 5)}", rows))


@hostile("data/ratings.recuse.toml")
def ratings_read_otherwise(pr):
    pr.on_main(lambda: with_ratings(pr))
    pr.write("data/ratings.recuse.toml", 'people = ["ann"]')


@hostile(".gitmodules")
def a_repository_inside_of_it(pr):
    pr.write(".gitmodules", '[submodule "scipy"]\n\tpath = scipy\n\turl = https://git.example/scipy.git')


# --------------------------------------------------------------------------- under another name


@hostile("evals/conftest.py")
def hooks_that_get_another_name(pr):
    pr.on_main(lambda: pr.write("evals/conftest.py", "MOST = 1"))
    (pr.root / "evals/conftest.py").rename(pr.root / "evals/hooks.py")


@hostile("the test evals/test_people.py::test_human_offset")
def a_test_that_pytest_does_not_find(pr):
    without_acceptance(pr)
    (pr.root / PEOPLE_TEST).rename(pr.root / "evals/people.py")


@hostile("is a link now")
def panel_of_another_name_behind_a_link(pr):
    (pr.root / PANEL).rename(pr.root / "judges.toml")
    (pr.root / "fixtures/panels/support.toml").symlink_to("../../judges.toml")
    pr.edit("pyproject.toml", "desk.toml", "support.toml")


@hostile("people.file of fixtures/tasks/replies/task.toml")
def people_of_another_name_and_others_in_use(pr):
    rows = pr.read(f"{TASK}/people.csv")
    (pr.root / f"{TASK}/people.csv").rename(pr.root / f"{TASK}/annotators.csv")
    pr.write(f"{TASK}/panel.csv", "\n".join(rows.splitlines()[:11]))
    pr.edit(f"{TASK}/task.toml", '"people.csv"', '"panel.csv"')


@hostile("fixtures/tasks/replies/people.csv, ratings by people")
def labels_of_old_texts_beside_those_of_new_ones(pr):
    names = ["reply-90", "reply-91"]
    texts = [{"id": name, "target": "assistant", "fields": {"reply": f"Text {name}."}} for name in names]
    pr.add(f"{TASK}/items.jsonl", "\n".join(map(json.dumps, texts)) + "\n")
    pr.add(f"{TASK}/people.csv", "".join(f"cleo,{name},assistant,5.0\n" for name in [*names, "reply-00"]))
    pr.sign(pr.answers("monday"))


# --------------------------------------------------------------------------- recordings in packs


def in_a_pack(pr):
    assert packing(["pack", str(pr.root / "cassettes" / "desk")]) == 0


@hostile("48 replies of vendor to unchanged requests are not those of the base commit")
def other_replies_in_a_pack(pr):
    pr.on_main(lambda: in_a_pack(pr))
    without_acceptance(pr)
    shutil.rmtree(pr.root / "cassettes")
    pr.sign(pr.answers("monday", vendor=0.0))
    pr.sign(pr.answers("tuesday", vendor=0.0), "vendor")
    in_a_pack(pr)


@hostile("48 replies of vendor to unchanged requests are not those of the base commit")
def other_replies_beside_a_pack(pr):
    pr.on_main(lambda: in_a_pack(pr))
    without_acceptance(pr)
    pr.sign(pr.answers("tuesday", vendor=0.0), "vendor")


@hostile("packed recordings of desk cannot be compared")
def pack_that_nobody_has_any_more(pr):
    """Packs outside of git: the base commit names one that is not here."""

    def outside():
        pr.add(".gitignore", "/cassettes/.packs/\n")
        in_a_pack(pr)

    pr.on_main(outside)
    without_acceptance(pr)
    shutil.rmtree(pr.root / "cassettes")
    pr.sign(pr.answers("tuesday", vendor=0.0))


# --------------------------------------------------------------------------- what is said of them

CANDIDATE = """
[[judge]]
name = "candidate"
wire = "openai_chat"
base_url = "https://candidate.example/v1"
model = "candidate-1"
replaces = "{replaces}"
{prompts}
"""
SCRIPT = '\n[tool.hatch.envs.judges.scripts]\nevals = "{}"\n'


def with_ratings(pr):
    """A file of ratings, which settings name where it stands."""
    rows = [f"{who},reply-{n:02d},{min(5, max(1, round(pr.quality(f'reply-{n:02d}') / 2 + bias + n % 3 / 3)))}"
            for who, bias in (("judge_1", 0.1), ("ann", 0), ("ben", -0.1)) for n in range(40)]  # fmt: skip
    pr.write("data/ratings.csv", "\n".join(["rater,item,score", *rows]))
    pr.edit("pyproject.toml", 'desk.toml"', 'desk.toml", "data/ratings.csv"')


FAST = (limit_widened_and_acceptance_deleted, people_are_real_now, left_out_by_addopts,
        prompt_changed_and_old_replies_signed_again,
        prompt_changed_and_old_replies_of_a_local_server_signed_again)  # fmt: skip
BASELINES = (baseline_deleted, baseline_for_the_next_change, without_gates, baseline_of_no_numbers,
             baseline_from_which_nothing_will_ever_differ, baseline_of_which_nothing_will_ever_be_missed)  # fmt: skip
"""Changes after which no other baseline can be written."""


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize(
    ("change", "named"),
    [pytest.param(*case, id=case[0].__name__, marks=() if case[0] in FAST else pytest.mark.slow("whole runs"))
     for case in HOSTILE],
)  # fmt: skip
def test_a_hostile_pull_request_is_never_told_to_merge(pr, change, named):
    change(pr)
    run = pr.run()
    check(run, named)
    if change not in BASELINES and run.results:
        pr.rewrite_baseline(run)
        check(pr.run(), named)


def check(run, named):
    assert run.code != pytest.ExitCode.OK, run.text
    assert run.word in ("decide", "do not merge", "no decision", ""), run.text
    assert named in (run.screen if run.word else run.text), run.text


def test_the_next_step_is_of_the_panel_and_judge_and_none_that_was_just_taken(pr):
    pr.sign(pr.answers("monday", copied="steady"), "vendor")
    asked = "pytest evals/ --panel fixtures/panels/desk.toml --judges vendor --record="
    assert f"ask the judge itself: {asked}all" in steps(pr.run())
    pr.sign(pr.answers("tuesday"), "vendor")  # as after --record=all
    [step] = steps(pr.run())
    ways = {f"{asked}sample", "--update-baseline --because", "--record=all"}
    assert {way for way in ways if way in step} == ways - {"--record=all"}


def steps(run):
    return [row["next"] for row in run.results["changed"] if row["kind"] == "recording"]


def test_what_installed_packages_look_for_is_known(pr):
    """Whatever a run looks for and does not find, a pull request could bring."""
    pr.write("finder.py", FINDER)
    command = [sys.executable, "-c", "import finder, pytest; pytest.main(['evals', '-q'])"]
    subprocess.run(command, cwd=pr.root, check=True, capture_output=True)
    sought = set((pr.root / "sought.txt").read_text(encoding="utf-8").split())
    assert "numexpr" in sought
    assert sought - SOUGHT - sys.stdlib_module_names - packages_distributions().keys() == set()


FINDER = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if path is None:
            with open("sought.txt", "a") as file:
                print(name, file=file)

sys.meta_path.append(Finder())
"""


def test_there_are_many_of_them():
    assert len(HOSTILE) >= 100
