"""The names of vcrpy that the replay relies on, pinned: when one moves, this says which, and where it is used."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
import vcr
from packaging.requirements import Requirement
from small_plans import answer_for, opened, plan, post, recorded, send_all

from recuse.cassettes import vcrpy_adapter
from recuse.cassettes.cell_cassette import MissingInteractionError
from recuse.cassettes.plain_file import CassetteError
from recuse.cassettes.vcrpy_adapter import LibraryCassette
from recuse.schema import Call, RecuseError

WHERE = "recuse/cassettes/vcrpy_adapter.py"

CALLABLES = {
    "vcr.cassette:Cassette.__init__": "self path serializer persister record_mode match_on before_record_request",
    "vcr.cassette:Cassette.use": "kwargs",
    "vcr.cassette:Cassette.use_arg_getter": "arg_getter",
    "vcr.cassette:Cassette.load": "kwargs",
    "vcr.cassette:Cassette.can_play_response_for": "self request",
    "vcr.cassette:Cassette.play_response": "self request",
    "vcr.cassette:Cassette.append": "self request response",
    "vcr.cassette:Cassette.filter_request": "self request",
    "vcr.cassette:Cassette._load": "self",
    "vcr.cassette:Cassette._save": "self force",
    "vcr.cassette:Cassette.__contains__": "self request",
    "vcr.cassette:Cassette.__len__": "self",
    "vcr.request:Request.__init__": "self method uri body headers",
    "vcr.config:VCR.register_serializer": "self name serializer",
    "vcr.config:VCR.register_matcher": "self name matcher",
    "vcr.config:VCR.use_cassette": "self path kwargs",
    "vcr.config:VCR.get_merged_config": "self kwargs",
    "vcr.stubs.httpx_stubs:vcr_handle_async_request": "cassette real_handle_async_request httpx",
    "vcr.stubs.httpx_stubs:vcr_handle_request": "cassette real_handle_request httpx",
}
PROPERTIES = {
    "vcr.cassette:Cassette": ["write_protected"],
    "vcr.request:Request": ["uri", "headers", "body", "body_bytes"],
}


@pytest.mark.parametrize("name", CALLABLES)
def test_a_name_in_use_is_where_it_was(name: str) -> None:
    found = _found(name)
    have = list(inspect.signature(found).parameters)
    want = CALLABLES[name].split()
    assert have[: len(want)] == want, (
        f"vcrpy {vcr.__version__} changed {name}({', '.join(have)}); {WHERE} was written for ({', '.join(want)}, ...). "
        "Adapt it, or narrow the vcrpy range in pyproject.toml"
    )


@pytest.mark.parametrize("name", PROPERTIES)
def test_an_attribute_in_use_is_where_it_was(name: str) -> None:
    found = _found(name)
    gone = [p for p in PROPERTIES[name] if not isinstance(inspect.getattr_static(found, p, None), property)]
    assert not gone, f"vcrpy {vcr.__version__} has no property {', '.join(gone)} on {name} any more; {WHERE} uses it"


def _found(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        pytest.fail(f"vcrpy {vcr.__version__} moved {name}, which {WHERE} uses: {error}")
    return found


def test_every_method_we_override_exists_in_vcrpy() -> None:
    ours = {n for n, v in vars(LibraryCassette).items() if callable(v) or isinstance(v, property)}
    gone = ours - set(dir(vcr.cassette.Cassette))
    assert not gone, f"vcrpy {vcr.__version__} has no Cassette.{', '.join(gone)} any more: the override would be dead"


def test_the_installed_vcrpy_is_in_the_pinned_range() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    (pinned,) = [Requirement(r) for r in project["dependencies"] if Requirement(r).name == "vcrpy"]
    assert pinned.specifier.contains(vcr.__version__)
    assert any(s.operator in ("<", "==", "~=") for s in pinned.specifier), "the range needs an upper end"


def test_the_stub_asks_in_the_order_we_rely_on(root: Path) -> None:
    """Whether we can answer, then for the answer; never `append` for what was replayed."""
    calls = plan(items=("a",), repeats=1)
    recorded(root, calls)
    asked: list[str] = []
    with opened(root, calls).use(), pytest.MonkeyPatch.context() as patch:
        for name in ("can_play_response_for", "play_response", "append"):
            patch.setattr(LibraryCassette, name, _noting(getattr(LibraryCassette, name), name, asked))
        asyncio.run(send_all(calls))
    assert asked == ["can_play_response_for", "play_response"], f"vcrpy {vcr.__version__} asks {asked}; see {WHERE}"


def _noting(method: Callable[..., Any], name: str, asked: list[str]) -> Callable[..., Any]:
    def noting(self: LibraryCassette, *arguments: Any) -> Any:
        asked.append(name)
        return method(self, *arguments)

    return noting


def test_an_error_raised_while_looking_for_an_answer_reaches_the_caller_unchanged(root: Path) -> None:
    """So a miss is a miss, not the HTTP client's error, which a client would retry."""
    calls = plan(items=("a",), repeats=2)
    recorded(root, calls[:1])
    with opened(root, calls).use(), pytest.raises(MissingInteractionError):
        asyncio.run(send_all(calls[1:]))


# --------------------------------------------------------------------------- stock vcrpy reads our files


@pytest.fixture
def calls(root: Path) -> list[Call]:
    found = plan(items=("a", "b"), repeats=3)
    recorded(root, found)
    return found


def recorder() -> vcr.VCR:
    made = vcr.VCR(record_mode="none", match_on=["method", "uri", "body"])
    made.register_serializer("recuse", vcrpy_adapter)
    made.register_matcher("repeat", vcrpy_adapter.same_repeat)
    return made


def test_stock_vcrpy_replays_our_cassette_in_file_order(calls: list[Call], root: Path) -> None:
    with recorder().use_cassette(str(root / f"{calls[0].cell}.jsonl"), serializer="recuse") as cassette:
        assert asyncio.run(send_all(calls[:3], 1)) == [json.loads(answer_for(call)) for call in calls[:3]]
    assert cassette.all_played


def test_with_our_matcher_stock_vcrpy_serves_each_repeat_its_own_answer(calls: list[Call], root: Path) -> None:
    how = {"serializer": "recuse", "match_on": ["method", "uri", "body", "repeat"]}
    with recorder().use_cassette(str(root / f"{calls[0].cell}.jsonl"), **how):
        assert asyncio.run(send_all(calls[2::-1], 1)) == [json.loads(answer_for(call)) for call in calls[2::-1]]


def test_stock_vcrpy_refuses_what_is_not_there(calls: list[Call], root: Path) -> None:
    with (
        recorder().use_cassette(str(root / f"{calls[0].cell}.jsonl"), serializer="recuse"),
        pytest.raises(vcr.errors.CannotOverwriteExistingCassetteException),
    ):
        asyncio.run(_post(calls[3]))


async def _post(call: Call) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
        return await post(client, call)


def test_stock_vcrpy_gets_no_answer_out_of_a_damaged_cassette(calls: list[Call], root: Path) -> None:
    path = root / f"{calls[0].cell}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"run": 2', b'"run": 9'))
    with (
        pytest.raises(CassetteError, match="does not match its checksum"),
        recorder().use_cassette(str(path), serializer="recuse"),
    ):
        pass


def test_stock_vcrpy_may_not_write_our_files(calls: list[Call], root: Path) -> None:
    path = root / f"{calls[0].cell}.jsonl"
    before = path.read_bytes()
    with pytest.raises(RecuseError, match="may read Recuse cassettes, not write them"):
        vcrpy_adapter.serialize({"interactions": []})
    with recorder().use_cassette(str(path), serializer="recuse", record_mode="once"):
        asyncio.run(send_all(calls[:3], 1))
    assert path.read_bytes() == before
