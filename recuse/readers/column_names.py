"""What people call the columns of a table of ratings."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import Any

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
NAMES: Mapping[str, tuple[str, ...]] = {role: tuple(words.split()) for role, words in WORDS["roles"].items()}
"""Role -> names in plain form, the surest first."""
(
    WINNERS, COUNTS, CRITERIA, PARTS, TALKS, BATCHES, PROMPTS, FACTORS, SETS, JUDGES, SOFTWARE, PEOPLE, NAMED_ON,
    CALLED_ON, DERIVED, SPREADS, ATTRIBUTES, DATES, SURE, PROPERTIES, WHOSE, SUFFIX,
) = (tuple(words.split()) for words in WORDS["lists"].values())  # fmt: skip
"""Each is explained where its words stand."""
OTHER_WORDS = {*sum(NAMES.values(), ()), *PARTS, *FACTORS, *BATCHES, *TALKS, *ATTRIBUTES, *PROPERTIES}
LONGEST_NAME = 4  # a column's name of more words is a sentence
TITLED = re.compile(r"(?:Dr|Prof|Mr|Mrs|Ms)(?:\. ?| )[A-Z]")
SIDES = (("a", "b"), ("0", "1"), ("1", "2"), ("first", "second"), ("left", "right"), ("one", "two"),
         ("chosen", "rejected"))  # fmt: skip
THIRD = (("b", "c"), ("1", "2"), ("2", "3"), ("two", "three"))  # a third text is told apart from the second
NOBODY_KNOWN = 3  # from so many raters on, a whole table of raters x criteria is one although nobody is called so
FILLED = 0.6  # of raters x criteria, how many must be there: a rater may leave a criterion out
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.IGNORECASE)  # an address for mail, which only people have
SCRIPTS = re.compile(r"(?<=[a-z0-9])(?=[\u3040-\u9fff\uac00-\ud7a3])|(?<=[\u3040-\u9fff\uac00-\ud7a3])(?=[a-z0-9])")
"""Where letters of Latin meet Japanese, Chinese or Korean ones: another word begins."""
NUMBERED = re.compile(r"^(.+?)(?:\.|[ _](?i:r)|[ _]\(?(?i:run|rep|repeat|round)[ _]?)(\d{1,3})\)?$")
"""How the columns of one rater are told apart: gpt_run1, anna (round 2); tone_R1 may be a first reviewer's."""
SIZE = re.compile(r"\d{2,3}b")  # how many parameters a model has, in billions: a question may be called 2b
VERSION = re.compile(r"(?i)(?:\d\.|deepseek[ _]r)\d+$")  # how names of judges end that bear a version: claude-3.5
HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[a-z]\d)(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])")
"""Where a word begins in a name without signs between: judgeModel, GPT4Score; A1AI3MTR9 is a code, and no words."""
PLACES, BRACKETED = re.compile(r"[ _.:/|-]+"), re.compile(r"^[(\[](.*)[)\]]$")  # "Clarity (Anna)"
LISTED = re.compile(r'(?:^|(?<=,))\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))')  # a name of a list; in quotes as in CSV


@lru_cache(maxsize=4096)  # a file's columns are asked thousands of times what they are called
def plain(name: str) -> str:
    """A column's name in plain form: "Item ID" is item_id, "judgeModel" judge_model, "Évaluateur" evaluateur."""
    spaced = HUMPS.sub("_", name.strip())
    if not spaced.isascii():
        spaced = re.sub("(?<=[Nn])°", "o", spaced)  # a running number: N° is no count n
        bare = "".join(c for c in unicodedata.normalize("NFKD", spaced) if not "\u0300" <= c <= "\u036f")
        spaced = SCRIPTS.sub("_", unicodedata.normalize("NFC", bare).lower())
    return re.sub(r"[\W_]+", "_", spaced.lower()).strip("_")


def _parts(name: str) -> list[str]:
    words = [*plain(name).split("_"), *plain(name.lower()).split("_")]  # LLaMA and DeepSeek are one word as well
    return [re.sub(r"\d+$", "", word) or word for word in words] + words


def is_judge(name: str) -> bool:
    """Whether a rater is called as models are."""
    return any(part in JUDGES or part.startswith(NAMED_ON) or SIZE.fullmatch(part) for part in _parts(name))


def is_software(name: str) -> bool:
    """Whether a rater is called as programs are, which may be no model."""
    return any(part in SOFTWARE for part in _parts(name))


def is_person(name: str) -> bool:
    """Whether a rater is called as people are, with a title as in "Dr. Abel", or is an address for mail."""
    called = any(part in PEOPLE or part.startswith(CALLED_ON) for part in _parts(name))
    addressed = TITLED.match(name.strip()) or ADDRESS.fullmatch(name.strip())
    return called or plain(name).endswith("_ground_truth") or bool(addressed)


def is_rater(name: str) -> bool:
    """Whether a column or rater is called as models or as people are."""
    return is_judge(name) or is_person(name)


def is_gold(name: str) -> bool:
    """Whether a column is called as right answers are; correct_gpt4 says whether that was right."""
    called = plain(name)
    begins = called.startswith(("gold_", "ground_truth_", "expected_", "oracle_"))
    return called in NAMES["gold"] or begins or (called.startswith("correct_") and not is_rater(name))


def is_criterion(name: str) -> bool:
    """Whether a column is called after what is rated, and after nobody who rates."""
    return any(part in CRITERIA for part in _parts(name)) and not is_rater(name)


def is_reason(name: str) -> bool:
    """Whether a column is called as reasons for ratings are."""
    return plain(name).rsplit("_", 1)[-1] in NAMES["reason"]


def is_date(name: str) -> bool:
    """Whether a column is called as times, costs and lengths are, which are nobody's ratings."""
    parts = plain(name).split("_")  # those of a question say nothing of the kind of its answers
    return len(parts) <= LONGEST_NAME and (parts[-1] == "at" or not {*DATES}.isdisjoint(parts))


def is_attribute(name: str) -> bool:
    """Whether a column says something of a text, a rater or a request, and is no rating: confidence_gpt, is_llm."""
    parts = plain(name).split("_")
    counted = parts in (["annotators"], ["raters"])
    words = len(plain(name.rsplit(".", 1)[-1]).split("_"))  # of feedback_stats.user_score.n one: no sentence
    few = len(parts) > 1 and words <= LONGEST_NAME and (parts[-1] in ATTRIBUTES or not {*SURE}.isdisjoint(_parts(name)))
    rater = len(parts) == 2 and parts[0] in ("is", "was", "n", "num") and is_rater(parts[1])
    return is_date(name) or counted or few or rater


def is_nobodys(name: str) -> bool:
    """The same, and names of properties that could be rated, where no rater's name stands before them."""
    return is_attribute(name) or plain(name).rsplit("_", 1)[-1] in (*ATTRIBUTES, *SURE, *PROPERTIES)


def is_derived(name: str, words: Collection[str] = (*DERIVED, *SPREADS)) -> bool:
    """Whether it is called after what is made of raters' answers: human_mean; by `SPREADS` after how they lie apart."""
    within, _, last = name.rpartition(".")  # tone.majority_human, but annotator1.overall is that person's
    word = plain(name) if is_person(within) else plain(last) or plain(name)
    return not {word, "_".join(part for part in word.split("_") if part not in WHOSE)}.isdisjoint(words)


def may_be_a_person(name: str) -> bool:
    """Whether a column is called as people are, or by one word of letters that names nothing else."""
    other = is_judge(name) or is_criterion(name) or is_date(name)
    return not other and (is_person(name) or (name.isalpha() and plain(name) not in OTHER_WORDS))


def listed(value: Any) -> list[str]:
    """Names as a list, whether they were given one by one or with commas."""
    if not isinstance(value, str):
        return list(value)
    return [quoted.replace('""', '"') or bare.strip() for quoted, bare in LISTED.findall(value)]


def in_quotes(name: str) -> str:
    """A name as it may stand in a list with commas."""
    return '"' + name.replace('"', '""') + '"' if "," in name or name[:1] == '"' else name


def as_option(names: Iterable[str]) -> str:
    """Names as they are typed behind an option."""
    return quote(",".join(map(in_quotes, names)))


def as_typed(options: Mapping[str, Any]) -> str:
    """Options as they are typed behind a file, so that a command that is printed reads it in the same way."""
    typed = {name: "" if value is True else f" {quote(str(value))}" for name, value in options.items() if value}
    typed = {name: f"={value[1:]}" if value.startswith(" -") else value for name, value in typed.items()}
    return "".join(f" --{name}{value}" for name, value in typed.items())


def rater_name(column: str) -> str:
    """The rater's name in that of a column: gpt for gpt_score."""
    for suffix in SUFFIX:
        cut = re.fullmatch(rf"(?is)(.+?)[\s_.:/(\[-]*{suffix[1:]}\W*", column)
        if cut and plain(column).endswith(suffix):
            return cut[1]
    return column


def told_apart(names: Collection[str], sides: Iterable[tuple[str, str]] = SIDES) -> list[tuple[str, str]]:
    """Pairs of names that differ in the word for a side alone: left_model and right_model, reply1_text, reply2_text."""
    pairs = []
    for one, other in sides:
        side = re.compile(rf"(?:(?:^|(?<=_)){one}|(?<=[a-z]){one if one.isdigit() else '(?!)'})(?=_|$)")
        changed = {name: side.sub(other, name, count=1) for name in names}
        pairs += [(name, to) for name, to in changed.items() if to != name and to in names]
    return pairs


def base_of(name: str, names: Sequence[str]) -> str:
    """anna for anna.1 where the names hold another column of hers; else the name itself, as that of a version."""
    match = NUMBERED.match(name) if is_person(name) or not VERSION.search(name) else None
    if match and sum(bool((o := NUMBERED.match(n)) and o[1] == match[1]) for n in names) + (match[1] in names) > 1:
        return match[1]
    return name


def crossed_names(names: Sequence[str], stated: Collection[str] = ()) -> dict[str, tuple[str, str]] | None:
    """Name -> rater and criterion where every name is one of each, in one order, with at least two of both and most of
    their combinations, of known criteria any, and one side is called, or `stated` to be, judges or people; or where
    three and more stand before each of the same known criteria. None where the names are no such table."""
    for parts in splits(names):
        fronts, backs = ({part[side] for part in parts.values()} for side in (0, 1))
        named = any(all(map(is_criterion, side)) for side in (fronts, backs))  # people may have rated one of them
        part_of_name = any(back.endswith(f"_{word}") for back in backs for word in backs & {*NAMES["value"]})
        fewest = len(fronts) * len(backs) * (1 if part_of_name else 0 if named else FILLED)  # gpt4_turbo_score
        if min(len(fronts), len(backs)) < 2 or len(names) < fewest:
            continue
        by_front, by_back = (any(is_rater(n) or n in stated for n in side) for side in (fronts, backs))
        if not by_front and not by_back and len(names) == len(fronts) * len(backs):  # every criterion of every rater
            several = len(fronts) >= NOBODY_KNOWN  # answer_precision, context_precision are criteria of one rater
            by_front = several and any(map(is_criterion, backs)) and not any(map(is_criterion, fronts))
        if by_front != by_back and not any(n.isdigit() for n in (backs if by_front else fronts)):
            return {name: part if by_front else part[::-1] for name, part in parts.items()}
    return None


def splits(names: Sequence[str]) -> Iterator[dict[str, tuple[str, str]]]:
    """Every way to cut all names in two such that front or back of one name comes again, whatever stands between."""
    cuts = {n: [(n[: cut.start()], n[cut.end() :]) for cut in PLACES.finditer(n)] for n in names}
    beside: tuple[dict[str, set[str]], ...] = ({}, {})
    for parted in (each for own in cuts.values() for each in own):
        for side in (0, 1):
            beside[side].setdefault(parted[side], set()).add(parted[1 - side])
    seen = []
    for front, back in (each for own in (cuts.values() if len(names) >= 4 else ()) for each in own):
        fronts, backs = beside[1][back], beside[0][front]
        if len(fronts) * len(backs) < len(names):
            continue
        parts = {n: part for n in names for part in reversed(cuts[n]) if part[0] in fronts and part[1] in backs}
        if len(parts) == len(names) and parts not in seen:
            seen.append(parts)
            yield {n: (BRACKETED.sub(r"\1", one), BRACKETED.sub(r"\1", other)) for n, (one, other) in parts.items()}
