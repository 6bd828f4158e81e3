"""What a judge's requests are authorised with, taken from the environment when recording begins, and never stored."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from recuse.judges import wire
from recuse.schema import Judge, RecuseError, Request
from recuse.security.network import is_local
from recuse.security.redaction import LONG, too_plain


class MissingKeyError(RecuseError):
    """Recording needs an API key that is not in the environment, or not one that can be sent."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A judge's key, the values of its `headers_env`, and what signs its requests where the format wants that."""

    key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    sign: Callable[[Request], Mapping[str, str]] | None = field(default=None, repr=False)


def variables_of(judge: Judge) -> tuple[str, ...]:
    """The environment variables that hold this judge's secrets."""
    return tuple(filter(None, (judge.api_key_env, *judge.headers_env.values())))


def secret_values(judges: Mapping[str, Judge], environment: Mapping[str, str] = os.environ) -> list[str]:
    """The secrets of these judges that are set; `MissingKeyError` for one that cannot be kept out of recordings."""
    return list(_secrets(judges, environment).values())


def _secrets(judges: Mapping[str, Judge], environment: Mapping[str, str]) -> dict[str, str]:
    """Variable -> its secret. A word that servers on this machine or network want for form's sake (`EMPTY`) is none."""
    users: dict[str, list[Judge]] = {}
    for judge in judges.values():
        for variable in variables_of(judge):
            users.setdefault(variable, []).append(judge)
    values = {variable: environment[variable] for variable in sorted(users) if environment.get(variable)}
    plain = {variable: why for variable, value in values.items() if (why := too_plain(value))}
    for variable, why in plain.items():
        if not all(is_local(urlsplit(judge.base_url).hostname) for judge in users[variable]):
            raise MissingKeyError(f"the environment variable {variable} cannot hold an API key: {why}")
    return {variable: value for variable, value in values.items() if variable not in plain}


def short_keys(judges: Mapping[str, Judge], environment: Mapping[str, str] = os.environ) -> str:
    """A warning that names the variables whose keys are so short that a reply may hold them by accident; or ""."""
    if not (short := [variable for variable, value in _secrets(judges, environment).items() if len(value) < LONG]):
        return ""
    return (
        f"the key in {', '.join(short)} has fewer than {LONG} characters: wherever a reply holds these characters, "
        "also by accident, [secret] is stored in their place; a longer key is safer"
    )


def keys_from_environment(
    judges: Mapping[str, Judge], environment: Mapping[str, str] = os.environ
) -> dict[str, Credentials]:
    """Credentials per judge name; `MissingKeyError` names every variable that is missing or cannot go into a header."""
    wanted = {name: variables_of(judge) for name, judge in judges.items()}
    every = sorted({variable for variables in wanted.values() for variable in variables})
    if missing := [variable for variable in every if not environment.get(variable)]:
        names = ", ".join(sorted(name for name, variables in wanted.items() if set(variables) & set(missing)))
        raise MissingKeyError(
            f"recording {names} needs the environment variable(s) {', '.join(missing)}; "
            "set them, or leave these judges out with --judges"
        )
    # Found here, and not by the HTTP client, whose message would show the key.
    if broken := [variable for variable in every if not re.fullmatch(r"[\x21-\x7e]+", environment[variable])]:
        raise MissingKeyError(
            f"the value of the environment variable(s) {', '.join(broken)} cannot be an API key: it holds a blank, a "
            "line break or a character outside ASCII; set it again without them"
        )
    secrets = _secrets(judges, environment)
    for name, judge in judges.items():
        _check_not_in_file(judge, {variable: secrets[variable] for variable in wanted[name] if variable in secrets})
    return {name: _credentials(judge, environment) for name, judge in judges.items()}


def _check_not_in_file(judge: Judge, secrets: Mapping[str, str]) -> None:
    """A key that stands in the panel file would go into every cassette's header."""
    written = json.dumps([judge.base_url, judge.model, dict(judge.parameters), dict(judge.headers), dict(judge.query)])
    for variable, value in secrets.items():
        if value in written or json.dumps(value)[1:-1] in written:
            raise MissingKeyError(
                f"judge {judge.name}: its table in the panel file holds the value of {variable} (not shown); take it "
                "out, and renew the key if the file was shared"
            )


def _credentials(judge: Judge, environment: Mapping[str, str]) -> Credentials:
    key = environment[judge.api_key_env] if judge.api_key_env else None
    headers = {name: environment[variable] for name, variable in judge.headers_env.items()}
    signer = getattr(wire(judge.wire), "signer", None)
    stand_in = (urlsplit(judge.base_url).hostname or "").endswith(".invalid")
    return Credentials(key, headers, signer(judge) if signer and key is None and not stand_in else None)
