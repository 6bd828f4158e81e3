"""A judge's words: whatever survives HTML escaping and could hide, reorder or repaint is spelled out."""

from __future__ import annotations

import unicodedata

import pytest

from recuse.security.sanitize import encodable, shortened, visible


@pytest.mark.parametrize(
    "character", ["\u202e", "\u2066", "\u200b", "\ufeff", "\x1b", "\x00", "\x85", "\U000e0041", "\ud800"]
)
def test_invisible_characters_are_spelled_out(character: str) -> None:
    assert visible(f"a{character}b") == f"a⟦U+{ord(character):04X}⟧b"


def test_every_control_and_format_character_is_caught() -> None:
    missed = [
        f"U+{code:04X}"
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        and chr(code) not in "\t\n"
        and visible(chr(code)) == chr(code)
    ]
    # number and poetry signs that show something, and the controls of hieroglyphs and shorthand, which stay inside them
    shown = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    shown |= {*range(0x13430, 0x13440), *range(0x1BCA0, 0x1BCA4)}
    assert [code for code in missed if int(code[2:], 16) not in shown] == []


def test_ordinary_text_stays() -> None:
    text = "Größe, ρ = 0.77 — 日本語, \tתודה, é, 👍🏽\nnext line"
    assert visible(text) == text
    assert visible("a\r\nb") == "a\nb"
    assert visible("a\rb") == "a⟦U+000D⟧b"


def test_stacks_of_marks_are_cut() -> None:
    assert visible("Z" + "\u0300" * 50) == "Z" + "\u0300" * 4


def test_shortened() -> None:
    assert shortened("short", 10) == ("short", 0)
    assert shortened("word " * 100, 10) == ("word word", 491)


def test_a_lone_surrogate_is_spelled_out_and_a_pair_is_not():
    """A reply cut in the middle of an emoji: JSON can carry it, a file or another process cannot."""
    assert encodable("cut \ud83d").encode() == "cut ⟦U+D83D⟧".encode()
    whole = "whole \U0001f600 and \u202e"
    assert encodable(whole) is whole
