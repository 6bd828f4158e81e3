"""No credential stands in a panel file: its tables name the environment variables that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recuse.schema import RecuseError
from recuse.security.key_shapes import SECRET_NAMES, looks_like_a_key

if TYPE_CHECKING:
    from recuse.panels.judge_table import JudgeTable


def check_no_keys(judge: JudgeTable) -> None:
    """`RecuseError` where a judge's table holds what should be in the environment. The message never shows it."""
    for place, name in [("api_key_env", judge.api_key_env), *(("headers_env", v) for v in judge.headers_env.values())]:
        if name is not None and (looks_like_a_key(name) or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)):
            raise RecuseError(
                f'{place} holds the name of an environment variable, such as "MY_JUDGE_KEY" (value not shown)'
            )
    for place in ("base_url", "model", "parameters", "headers", "query"):
        for name, text in _texts(getattr(judge, place), place):
            secret = name.rpartition(".")[2].lower() in SECRET_NAMES and place in ("parameters", "headers", "query")
            if secret or looks_like_a_key(text):
                raise RecuseError(
                    f"{name} looks like a key, which may not stand in a file (value not shown): name its variable in "
                    'api_key_env, or in headers_env = { header = "VARIABLE" }'
                )


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every text within a value, with its dotted place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{'[key]' if looks_like_a_key(name) else name}")
            yield from ((f"{place}.[key]", name) for _ in [0] if looks_like_a_key(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, place)
