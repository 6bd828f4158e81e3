"""`recuse comment`: the summary as one comment on the pull request, posted once and then updated. Speaks two endpoints
of GitHub's REST API: `/repos/{repository}/issues/{number}/comments` (list, create) and
`/repos/{repository}/issues/comments/{id}` (update). All it needs stands in the environment of a workflow."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recuse.judges.provider_responses import parsed, words
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import httpx2

MOST = 65_536  # characters of a comment, by GitHub
PAGE, MOST_PAGES = 100, 50
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
NO_RIGHT = (401, 403, 404)  # GitHub hides what a token may not see behind a 404


@dataclass(frozen=True, slots=True)
class PullRequest:
    """Which pull request, and what a reader of the comment should know of the run."""

    api: str
    repository: str  # "owner/name"
    number: int
    commit: str
    link: str  # to the run, with the report among its files
    token: str = field(repr=False)

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> PullRequest | None:
        """From the environment of a workflow; None where it runs for no pull request. `RecuseError`: what it lacks."""
        path = _needed(environ, "GITHUB_EVENT_PATH")
        try:
            about = dict(json.loads(Path(path).read_text(encoding="utf-8"))).get("pull_request") or {}
        except (OSError, ValueError) as error:
            raise RecuseError(f"GITHUB_EVENT_PATH does not lead to an event: {type(error).__name__}") from None
        if not about:
            return None
        repository, token = (_needed(environ, name) for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN"))
        if not re.fullmatch(r"[\x21-\x7e]+", token):  # found here: the HTTP client's message would show it
            raise RecuseError(
                "GITHUB_TOKEN cannot be a token: it holds a blank, a line break or a character outside ASCII; set it "
                "again without them"
            )
        api = environ.get("GITHUB_API_URL") or "https://api.github.com"
        parts = urlsplit(api)  # the token travels encrypted, or not beyond this machine
        if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost"):
            raise RecuseError(
                f"GITHUB_API_URL must begin with https://, as the token is sent there; got {parts.scheme}://"
            )
        server, run = environ.get("GITHUB_SERVER_URL", ""), environ.get("GITHUB_RUN_ID", "")
        link = f"{server}/{repository}/actions/runs/{run}" if server and run else ""
        commit = str((about.get("head") or {}).get("sha") or environ.get("GITHUB_SHA", ""))
        return cls(api.rstrip("/"), repository, int(about["number"]), commit, link, token)


def body(summary: str, pull_request: PullRequest, name: str, today: date) -> str:
    """The comment: a mark that finds it again, the summary, and of which commit, which day and which run it is."""
    commit = f"Commit `{re.sub('[^0-9a-f]', '', pull_request.commit)[:12]}`" if pull_request.commit else ""
    link = f"[report and files of this run]({pull_request.link})" if pull_request.link else ""
    foot = " · ".join(part for part in (commit, today.isoformat(), link) if part)
    if not NAME.fullmatch(name):
        raise RecuseError(f"--name takes small letters, digits and hyphens; got {name!r}")
    text = f"<!-- recuse:{name} -->\n{summary.strip()}\n\n{foot}\n"
    if len(text) > MOST:
        raise RecuseError(
            f"the comment would have {len(text)} characters, GitHub takes {MOST}; name a summary.md that Recuse wrote"
        )
    return text


def put(pull_request: PullRequest, author: str, text: str) -> str:
    """Update the author's comment that begins with the same first line, or post it: "updated" or "posted". Redirects
    are not followed: the token goes to the API's own address only."""
    import httpx2

    headers = {"authorization": f"Bearer {pull_request.token}", "accept": "application/vnd.github+json",
               "x-github-api-version": "2022-11-28"}  # fmt: skip
    issues, mark = f"/repos/{pull_request.repository}/issues", text.partition("\n")[0]
    path = f"{issues}/{pull_request.number}/comments"
    try:
        with httpx2.Client(base_url=pull_request.api, headers=headers, timeout=30) as http:
            for page in range(1, MOST_PAGES + 1):
                comments = _answer(pull_request, path, http.get(f"{path}?per_page={PAGE}&page={page}"))
                for comment in comments:
                    theirs = str((comment.get("user") or {}).get("login"))
                    if theirs == author and str(comment.get("body") or "").startswith(mark):
                        own = f"{issues}/comments/{int(comment['id'])}"
                        _answer(pull_request, own, http.patch(own, json={"body": text}))
                        return "updated"
                if len(comments) < PAGE:
                    break
            _answer(pull_request, path, http.post(path, json={"body": text}))
            return "posted"
    except httpx2.RequestError as error:
        raise RecuseError(f"{urlsplit(pull_request.api).hostname} did not answer: {error}; run it again") from None


def _answer(pull_request: PullRequest, path: str, response: httpx2.Response) -> Any:
    method, status = response.request.method, response.status_code
    message = words(response.content, [pull_request.token])
    answer = f"GitHub answered {status}{f': “{message}”' if message else ''}"
    if status == 429 or (status == 403 and "rate limit" in message.lower()):
        raise RecuseError(f"{answer}: no more calls are taken for now; run it again in some minutes")
    if status in NO_RIGHT:
        raise NoRight(
            f"{answer}: the token may not comment. Give the job `permissions: pull-requests: write`; the pull "
            "request of a fork has none, and its summary stands in the job summary"
        )
    if not response.is_success:
        raise RecuseError(f"{answer} to {method} {path}")
    given = parsed(response.content)
    listed = given if method == "GET" else [given]
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise RecuseError(
            f"what answers at {pull_request.api} is not GitHub’s API ({method} {path} gave "
            "something else than comments); look at GITHUB_API_URL, and whether a proxy stands before it"
        )
    return given


class NoRight(RecuseError):
    """The token may not comment: no fault of the judges, and no reason to turn a run red."""


def comment(summary: Path, *, name: str, author: str) -> int:
    """`recuse comment`; 0, also where this is no pull request, or the token may not comment."""
    pull_request = PullRequest.of(os.environ)
    if pull_request is None:
        print("Not a pull request: nothing to comment on.")
        return 0
    if not summary.is_file():
        raise RecuseError(f"{summary} is not there; run pytest evals/ before")
    text = body(summary.read_text(encoding="utf-8"), pull_request, name, date.today())
    try:
        print(f"Comment {put(pull_request, author, text)} on pull request {pull_request.number}.")
    except NoRight as error:
        print(f"No comment: {error}.")
    return 0


def _needed(environ: Mapping[str, str], name: str) -> str:
    if not environ.get(name):
        raise RecuseError(
            f"{name} is not set; `recuse comment` runs in a workflow of GitHub, with "
            "`env: GITHUB_TOKEN: ${{ github.token }}`"
        )
    return environ[name]
