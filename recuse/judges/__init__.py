"""Wire formats: prompt -> HTTP request -> reply. Add yours to WIRES, or leave it in your own repository and name the
module in the panel file: wire = "our_judges.house_chat". What a wire format is, `Wire` says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Protocol, cast

from recuse.configuration import named
from recuse.judges.provider_responses import decoded, is_policy_refusal, no_reply
from recuse.schema import Judge, Prompt, RawResponse, Reply, Request, Usage
from recuse.security.sanitize import encodable

WIRES = (
    "openai_chat", "openai_responses", "anthropic_messages", "gemini_generate", "azure_openai", "bedrock_converse",
    "vertex_generate",
)  # fmt: skip
_WITHIN = {"azure_openai": f"{__name__}.openai_chat.AZURE", "vertex_generate": f"{__name__}.gemini_generate.VERTEX"}
_ALIAS = re.compile(r"-(?:latest|0)$")
_DATED = r"[-@:](?:preview|exp|latest|v?\d{3,8}|\d{2}|\d{4}-\d\d-\d\d)"
_VERSION = re.compile(f"(?:{_DATED})*")
_WEIGHTS = re.compile(rf"(?:{_DATED}|[-.:_](?:instruct|chat|it|i?q\d\w*|(?:b?f|fp|int)(?:4|8|16|32)|awq|gptq))*")

_TAGS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "reasoning", "thought", "seed:think")},
    r"\[THINK\]": r"\[/THINK\]", "◁think▷": "◁/think▷", r"<\|START_THINKING\|>": r"<\|END_THINKING\|>",
    r"<\|channel\|>analysis<\|message\|>": r"<\|end\|>(?:<\|start\|>assistant)?(?:<\|channel\|>final<\|message\|>)?",
}  # fmt: skip
"""What opens and closes reasoning in a reply that the server did not take apart: most open models, Gemini's compatible
interface, Seed-OSS, Mistral, Kimi, Cohere, gpt-oss."""

_BLOCK = re.compile("|".join(rf"\s*{start}(.*?)(?:{end}|\Z)" for start, end in _TAGS.items()), re.DOTALL)
_REST = re.compile(r"(.*?)(?:^[ \t]*</think>|</think>[ \t]*$)(.*)", re.DOTALL | re.MULTILINE)


class Wire(Protocol):
    """What the rest needs to know of a wire format. A module with these functions is one. It has a fifth where requests
    are signed: `signer(judge)` gives a function from a `Request` to the headers that authorise it, used where the judge
    names no key. A module whose provider takes files of requests says by which interface of `recuse.batch`, `BATCH`."""

    def request(self, judge: Judge, prompt: Prompt, seed: int | None) -> Request:
        """The request as it goes out, without secrets; see `description.as_written`."""

    def headers(self, key: str | None) -> dict[str, str]:
        """How this provider wants its API key; None: the judge needs none."""

    def read(self, payload: Mapping[str, Any]) -> Reply:
        """What the provider's JSON says. Raises `KeyError`, `IndexError`, `TypeError` or `AttributeError` where
        something is not there: the reply then counts as ended in error."""

    def payload(self, text: str, *, model: str, refusal: bool, input_tokens: int, output_tokens: int) -> dict[str, Any]:
        """The inverse of `read`, for stand-ins."""


@cache
def wire(name: str) -> Wire:
    """The wire format of this name: Recuse's own or a team's module. `RecuseError` where there is none."""
    needs = ("request", "headers", "read", "payload")
    return cast(Wire, named(_WITHIN.get(name, name), what="wire format", package=__name__, known=WIRES, needs=needs))


def read_response(wire_name: str, response: RawResponse) -> Reply:
    """What a judge answered, in this wire format. A body that is not the JSON it promises finished in error."""
    try:
        payload = decoded(response.body)
    except (ValueError, RecursionError) as error:
        return Reply(text=f"the body is not JSON: {error}", finish="error")
    if not isinstance(payload, dict):
        return Reply(text=f"the body is a JSON {type(payload).__name__}, not an object", finish="error")
    if response.status >= 400:
        message = payload["error"].get("message") if isinstance(payload.get("error"), dict) else None
        refused = is_policy_refusal(response.status, payload)
        return Reply(text=str(message or f"HTTP {response.status}"), finish="refusal" if refused else "error")
    if why := no_reply(payload):
        return Reply(text=why, finish="error")
    try:
        reply = wire(wire_name).read(payload)
        if not isinstance(reply.text, str):
            raise TypeError("the answer is not a text")
        given, text = reply.usage, reply.text if reply.text.isascii() else encodable(reply.text)
        counts = given.input_tokens, given.output_tokens, given.reasoning_tokens
        sound = _is_count(counts[0]) and _is_count(counts[1]) and _is_count(counts[2])
        marked = "<" in text or "◁" in text or ("[" in text and "[THINK" in text)  # as all of `_TAGS` begin
        if sound and type(reply.model) is str and not reply.reasoning and text is reply.text and not marked:
            return reply
        usage = given if sound else Usage(*(count if _is_count(count) else None for count in counts))
        model = reply.model if isinstance(reply.model, str) else None
        reasoning = reply.reasoning if isinstance(reply.reasoning, str) else ""
        if marked and reply.finish in ("stop", "length"):
            thoughts, text = split_reasoning(text)
            reasoning = "\n".join(filter(None, (reasoning, thoughts)))
        return replace(reply, text=text, usage=usage, model=model, reasoning=reasoning)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__} {error}"
        return Reply(text=f"the body lacks what the wire format promises: {what}", finish="error")


def _is_count(value: object) -> bool:
    return value is None or (type(value) is int and 0 <= value < 2**53)


def other_models(judge_wire: str, requested: str, named: Iterable[str | None]) -> list[str]:
    """Which of the models that answers name is not the one that was asked, as far as names say. A name may be longer by
    a date or a version (`gpt-4o` is answered by `gpt-4o-2024-08-06`), may have a folder before it, or a file's ending,
    and a local server may leave out the kind of weights; Azure is asked for a deployment, whose name says nothing.

    >>> other_models("openai_chat", "gpt-4o", ["gpt-4o-2024-08-06", "gpt-4o-mini", None])
    ['gpt-4o-mini']
    """
    wanted = _ALIAS.sub("", _model_name(requested))

    def is_another(name: str) -> bool:
        answered = _model_name(name)
        if answered.startswith(wanted):
            return _VERSION.fullmatch(answered[len(wanted) :]) is None
        return not wanted.startswith(answered) or _WEIGHTS.fullmatch(wanted[len(answered) :]) is None

    return sorted(filter(is_another, {name for name in named if name and judge_wire != "azure_openai"}))


def _model_name(name: str) -> str:
    return name.lower().rpartition("/")[2].removesuffix(".gguf")


def split_reasoning(text: str) -> tuple[str, str]:
    """(reasoning, answer): the blocks with which a text begins, and what follows them.

    A block that is never closed was cut by the token limit: no answer follows. Where the template of the prompt opens
    the block (DeepSeek-R1, Qwen3), the reply only closes it: so does the one </think> of a text, at the beginning or
    the end of a line. Any other tag is part of the answer; so a text that is judged cannot make itself disappear by
    being quoted within a line or a JSON text.

    >>> split_reasoning("<think>7 or 8?</think>Rating: 7")
    ('7 or 8?', 'Rating: 7')
    >>> split_reasoning("Rating: 7? No.\\n</think>\\n\\nRating: 8")
    ('Rating: 7? No.', 'Rating: 8')
    >>> split_reasoning("It says <think>7</think>. Rating: 7")
    ('', 'It says <think>7</think>. Rating: 7')
    """
    if text.count("</think>") == 1 and "<think>" not in text and (closed := _REST.fullmatch(text)):
        return closed[1].strip(), closed[2].lstrip()
    thoughts, at = [], 0
    while block := _BLOCK.match(text, at):
        thoughts.append(block[block.lastindex or 0].strip())
        at = block.end()
    return "\n".join(filter(None, thoughts)), text[at:].lstrip() if at else text
