"""Renders a task's prompt templates (fixtures/tasks/<task>/prompts/*.j2) in a sandbox."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from recuse.schema import Message, RecuseError


def messages(folder: Path, protocol: str, /, **variables: Any) -> tuple[Message, ...]:
    """The system message (if the task has one for this protocol) and the user message."""
    prompts, system = _prompts(folder), f"{protocol}.system.j2"
    has_system = os.path.isfile(os.path.join(prompts, system))  # asked thousands of times, where a `Path` costs more
    parts = [Message("system", _render(prompts, system, variables))] if has_system else []
    return (*parts, Message("user", _render(prompts, f"{protocol}.user.j2", variables)))


def wording_hash(folder: Path, protocol: str) -> str:
    """Identifies the wording of a protocol's templates: 16 hex digits over their bytes."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted((folder / "prompts").glob(f"{protocol}.*.j2")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@lru_cache
def _prompts(folder: Path) -> Path:
    return folder / "prompts"


def _render(prompts: Path, name: str, variables: dict[str, Any]) -> str:
    try:
        return _environment(prompts).get_template(name).render(variables).strip()
    except UndefinedError as error:
        raise RecuseError(f"{prompts / name}: the template asks for something that is not there: {error}") from None
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise RecuseError(f"{prompts / name}{f':{line}' if line else ''}: {error}") from None
    except Exception as error:  # a template is code: it may fail in any way
        raise RecuseError(f"{prompts / name}: {type(error).__name__}: {error}") from None


@lru_cache
def _environment(prompts: Path) -> ImmutableSandboxedEnvironment:
    # Plain text for a model, not HTML: escaping would change the item's words.
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(prompts),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
