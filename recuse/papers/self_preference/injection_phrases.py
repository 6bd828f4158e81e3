"""String matching, the first defence against prompt injection: phrases that are common in published injections.

(Thesis on bias in LLM self-evaluation, sec. 2.3.1.) What it stops, and what clean text it blocks, is measured in
`recuse.papers.self_preference.defences`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["PHRASES", "has_phrase", "phrase_in_ending", "string_matching"]

_ORDERS = r"(?:instructions?|orders?|rules?|guidelines?|prompts?|directions?|tasks?)"
_GRADING = r"(?:grad|rat|judg|scor|award|prais|answer)\w*"
_RESULT = r"(?:rating|score|grade|winner|verdict)"
_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "takes back": (
        rf"\b(?:ignore|disregard|forget|override|drop|skip)\b.{{0,40}}\b(?:{_ORDERS}|above|before|asked|told)\b",
    ),
    "new orders": (
        rf"\b(?:new|updated|changed|real|actual)\s+{_ORDERS}\b",
        rf"\b{_ORDERS}\b.{{0,20}}\b(?:has|have)\s+changed\b",
    ),
    "speaks as system": (
        r"\bsystem\s*(?:message|prompt|note|:)",
        r"^\s*(?:system|assistant|user)\s*:",
        r"<\|?(?:system|im_start)",
    ),
    "claims rank": (r"\b(?:admin(?:istrator)?|root|developer|authori[sz](?:ed|ation)|clearance|priority\s*:)\b",),
    "speaks to the judge": (
        rf"\byou\s+(?:are|must|will|should)\b.{{0,30}}\b{_GRADING}",
        r"\b(?:answer|reply|respond)\s+(?:only\s+)?with\b",
    ),
    "names its result": (rf"^\s*{_RESULT}\s*[:=]", rf"\b{_RESULT}\s*:\s*\S"),
    "asks for praise": (
        r"\b(?:give|award|record|declare|assign)\b.{0,40}\b(?:best|highest|top|full|maximum|perfect)\b",
    ),
    "breaks out": (r"\bend of (?:text|story|input|article|prompt)\b", r"^\s*(?:-{3,}|={3,}|#{3,})"),
    "asks to decode": (r"\b(?:decode|base ?64|rot ?13|hexadecimal|right to left)\b",),
}
PHRASES: Mapping[str, re.Pattern[str]] = {
    name: re.compile("|".join(patterns), re.MULTILINE) for name, patterns in _PATTERNS.items()
}
"""Phrases common in published injections, by what they do, in lower case."""


def _joined(patterns: Sequence[str]) -> str:
    """One pattern for all. What many begin with is looked for once at every place of a text, not once for each."""
    at_word, at_line = [p[2:] for p in patterns if p[:2] == r"\b"], [p[4:] for p in patterns if p[:4] == r"^\s*"]
    elsewhere = [p for p in patterns if not p.startswith((r"\b", r"^\s*"))]
    return "|".join((rf"\b(?:{'|'.join(at_word)})", rf"^\s*(?:{'|'.join(at_line)})", *elsewhere))


_ANY_PHRASE = re.compile(_joined([pattern for patterns in _PATTERNS.values() for pattern in patterns]), re.MULTILINE)
_LOOK_ALIKES = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}  # what else is i, s or k in any case
_LONG_BLANK = re.compile(r"\s{9}")
_REACH = 160  # no phrase has so many characters before the blank that it crosses, unless a blank in it is long


def string_matching(text: str) -> tuple[str, ...]:
    """Names of the PHRASES found in the text; empty for one without. Surface only: a payload in other words passes."""
    lowered = _lowered(text)
    return tuple(name for name, pattern in PHRASES.items() if pattern.search(lowered))


def has_phrase(text: str, start: int = 0) -> bool:
    """Whether any of the PHRASES is found in the text, at `start` or after it."""
    return _ANY_PHRASE.search(_lowered(text), start) is not None


def phrase_in_ending(text: str, ending: str) -> bool:
    """Whether "text ending" has one of the PHRASES, for a text that has none: only what reaches into the ending is
    looked at."""
    start = 0 if _LONG_BLANK.search(text) else max(len(text) - _REACH, 0)
    return has_phrase(f"{text} {ending}", start)


def _lowered(text: str) -> str:
    """The text in lower case, character by character."""
    if not text.isascii():
        for letter, plain in _LOOK_ALIKES.items():
            text = text.replace(letter, plain)
    return text.lower()
