"""Renders a task's prompt templates (fixtures/tasks/<task>/prompts/*.j2) in a sandbox."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from recuse.schema import Item, Message, RecuseError

if TYPE_CHECKING:
    from recuse.tasks import Task


def messages(task: Task, protocol: str, /, **variables: Any) -> tuple[Message, ...]:
    """The system message (if the task has one for this protocol) and the user message."""
    folders, system = task.prompt_folders, f"{protocol}.system.j2"
    # Asked thousands of times, where a `Path` costs more.
    has_system = any(os.path.isfile(os.path.join(folder, system)) for folder in folders)
    parts = [Message("system", _render(folders, system, variables))] if has_system else []
    return (*parts, Message("user", _render(folders, f"{protocol}.user.j2", variables)))


def wording_hash(task: Task, protocol: str) -> str:
    """Identifies the wording of a protocol's templates: 16 hex digits over their bytes."""
    digest = hashlib.blake2b(digest_size=8)
    every = {path.name: path for folder in reversed(task.prompt_folders) for path in folder.glob(f"{protocol}.*.j2")}
    for name, path in sorted(every.items()):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _render(folders: tuple[Path, ...], name: str, variables: dict[str, Any]) -> str:
    try:
        return _environment(folders).get_template(name).render(variables).strip()
    except Exception as error:  # a template is code: it may fail in any way
        what = "" if isinstance(error, TemplateError) else f"{type(error).__name__}: "
        if isinstance(error, UndefinedError):
            what = "the template asks for something that is not there: "
        place = next((folder / name for folder in folders if (folder / name).is_file()), folders[-1] / name)
        line = getattr(error, "lineno", None) if isinstance(error, TemplateError) else None
        raise RecuseError(f"{place}{f':{line}' if line else ''}: {what}{error}") from None


@lru_cache
def _environment(folders: tuple[Path, ...]) -> ImmutableSandboxedEnvironment:
    # Plain text for a model, not HTML: escaping would change the item's words.
    made = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folders), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=False,
    )  # fmt: skip
    # One dictionary: each of thousands of prompts copies it, and of Jinja's map of maps that takes the longer half.
    made.make_globals = lambda own: {**made.globals, **(own or {})}  # type: ignore
    return made


def text_schema(task: Task, part: str) -> dict[str, Any]:
    """JSON schema of a text of the reply, which ends where its author ends it. task.toml may hold it to a number of
    sentences: `sentences = { why = [1, 1] }`."""
    least, most = task.data.get("sentences", {}).get(part, (0, 0))
    return {"type": "string"} | ({"pattern": rf'^([^."\\\n]+[.]){{{least},{most}}}$'} if most else {})


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with these members and no others."""
    closed = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": dict(properties), **closed}


def list_schema(of: Mapping[str, Any], count: int) -> dict[str, Any]:
    """JSON schema of a list of so many entries."""
    return {"type": "array", "items": of, "minItems": count, "maxItems": count}


def facts(task: Task, item: Item) -> dict[str, Any]:
    """The item's single-valued fields, and its text and number of words where the task says what is the text."""
    known = {name: value for name, value in item.fields.items() if isinstance(value, str | int | float)}
    text = text_of(task, item.fields)
    return known if text is None else {**known, "text": text, "words": len(text.split())}


def facts_of(how: object, task: Task, item: Item) -> Mapping[str, Any]:
    """What the protocol `how` tells of an item, in its own way where it has one."""
    return cast(Mapping[str, Any], getattr(how, "facts", facts)(task, item))


def text_of(task: Task, fields: Mapping[str, Any]) -> str | None:
    """The judged text: the task's text fields, one below the other; None where one is missing or none is named."""
    parts = [fields.get(name) for name in task.text]
    return "\n".join(map(str, parts)) if parts and all(part is not None for part in parts) else None
