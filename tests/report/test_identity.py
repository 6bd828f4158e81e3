"""Of what a report is: commit, recording days, judges' versions, digests; beside the results and never in them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import samples

from recuse import report
from recuse.git import identity_of, recording_days

COMMIT = "0123456789abcdef0123456789abcdef01234567"
KNOWN = {"commit": COMMIT, "recorded": {"published": ("2026-03-01", "2026-03-04")}, "gates": "ab" * 32}
SOURCES = {
    "published/merchant_risk/rubric": {
        "items": "1111aaaa", "prompt": "2222bbbb", "rubric": "3333cccc", "scale": "0..10",
        "judges": {"grok-4": "4444dd"},
    }
}  # fmt: skip


def written(folder: Path, **more: object) -> tuple[str, str, str]:
    results = samples.published() | {"sources": SOURCES}
    report.write(results, folder, **more)  # type: ignore[arg-type]
    return tuple((folder / name).read_text() for name in ("results.json", "summary.md", "index.html"))  # type: ignore[return-value]


def test_page_and_summary_say_commit_days_versions_and_digests(tmp_path):
    _, summary, page = written(tmp_path, identity=KNOWN)
    for text in (summary, page):
        days, gates = "2026-03-01 to 2026-03-04", "abababababab"
        for fact in (COMMIT[:12], days, gates, "1111aaaa", "2222bbbb", "3333cccc", "4444dd"):
            assert fact in text, fact


def test_results_json_is_the_same_whatever_the_commit(tmp_path):
    first, _, page = written(tmp_path / "a", identity=KNOWN)
    second, _, other = written(tmp_path / "b", identity={**KNOWN, "commit": "f" * 40})
    assert first == second
    assert COMMIT[:12] not in first
    assert page != other


def test_the_page_names_the_results_it_was_drawn_from(tmp_path):
    from hashlib import sha256

    facts, summary, page = written(tmp_path)
    digest = sha256(facts.encode()).hexdigest()[:12]
    assert digest in page
    assert digest in summary


def test_the_commit_is_the_one_of_the_pull_request_not_of_its_merge():
    environments = {"RECUSE_COMMIT": COMMIT, "GITHUB_SHA": "f" * 40}, {"CI_COMMIT_SHA": COMMIT.upper()}
    assert [_commit_of(one) for one in environments] == [COMMIT, COMMIT]
    assert [_commit_of(one) for one in ({"GITHUB_SHA": "</sub><script>"}, {})] == ["", ""]


def _commit_of(environment):
    return identity_of(Path("nowhere"), [], Path("nowhere/gates.toml"), environment)["commit"]


def git(folder: Path, *words: str, day: str = "2026-03-01") -> None:
    environ = {
        "GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z", "PATH": "/usr/bin:/bin",
        "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    ours = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    subprocess.run(["git", *ours, *words], cwd=folder, env=environ, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    """Cassettes of one panel committed on two days, of another on none."""
    git(folder, "init", "-q")
    (folder / "cassettes" / "ours").mkdir(parents=True)
    (folder / "cassettes" / "new").mkdir()
    for day in ("2026-03-01", "2026-03-04"):
        (folder / "cassettes" / "ours" / f"{day}.jsonl").write_text("{}")
        git(folder, "add", "cassettes/ours")
        git(folder, "commit", "-qm", day, day=day)
    return folder


def test_recording_days_are_those_of_the_commits(tmp_path):
    root = repository(tmp_path)
    found = identity_of(root, ["ours", "new", "a file"], root / "gates.toml", {"GITHUB_SHA": COMMIT})
    assert found == {"commit": COMMIT, "recorded": {"ours": ("2026-03-01", "2026-03-04")}, "gates": ""}


def test_a_shallow_clone_claims_no_recording_day(tmp_path):
    (tmp_path / "origin").mkdir()
    root = repository(tmp_path / "origin")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", "clone")
    assert recording_days(tmp_path / "clone", ["ours"]) == {}
    assert recording_days(root, ["ours"])


def test_no_repository_is_no_fault(tmp_path):
    (tmp_path / "cassettes" / "ours").mkdir(parents=True)
    assert recording_days(tmp_path, ["ours"]) == {}
