"""String matching, the first defence against prompt injection: phrases that are common in published injections.

(Thesis on bias in LLM self-evaluation, sec. 2.3.1.) What it stops, and what clean text it blocks, is measured in
`recuse.metrics.defences`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

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
    name: re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE) for name, patterns in _PATTERNS.items()
}
"""Phrases common in published injections, by what they do."""

_LOWERED = tuple(re.compile("|".join(patterns), re.MULTILINE) for patterns in _PATTERNS.values())
_LONG_BLANK = re.compile(r"\s{9}")
_REACH = 160  # no phrase has so many characters before the blank that it crosses, unless a blank in it is long


def string_matching(text: str) -> tuple[str, ...]:
    """Names of the PHRASES found in the text; empty for one without. Surface only: a payload in other words passes."""
    return tuple(name for name, pattern in PHRASES.items() if pattern.search(text))


def has_phrase(text: str, start: int = 0) -> bool:
    """Whether any of the PHRASES is found in the text, at `start` or after it."""
    if text.isascii():  # in lower case the same is found faster
        text, patterns = text.lower(), _LOWERED
    else:
        patterns = tuple(PHRASES.values())
    return any(pattern.search(text, start) for pattern in patterns)


def phrase_in_ending(text: str, ending: str) -> bool:
    """Whether "text ending" has one of the PHRASES, for a text that has none: only what reaches into the ending is
    looked at."""
    start = 0 if _LONG_BLANK.search(text) else max(len(text) - _REACH, 0)
    return has_phrase(f"{text} {ending}", start)
