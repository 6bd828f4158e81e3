"""What to add to a file so that a question can be asked of it: which column."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.ratings.needs import KINDS, unlock

__all__ = ["NOT_OF_A_FILE", "unlock_by_column"]

COLUMNS: Mapping[str, str] = {
    "scores": "scores of single texts: a column per rater, or columns rater and score",
    "choices": "choices between two texts: columns first, second and winner",
    "forced_choices": "labels instead of scores: the option that each rater chose, or columns count_<option>",
    "response_sets": 'all options that each rater holds reasonable: a column response_set, written "yes|no"',
    "repeats": "the judge's repeats: a column repeat, or columns judge.1, judge.2",
    "versions": "the judge's older version: recuse check OLD.csv NEW.csv, or a column version",
    "order": "pairs judged in both orders: columns first and second, once either way round",
    "names": "every text judged with names shown and hidden: a column names (shown, hidden)",
    "direction": "every text judged on the scale and on its mirror image: a column direction (ascending, reversed)",
    "labels": "pairs judged with labels swapped: a column labels (plain, swapped)",
    "peers": "a second judge: add its column",
    "three_judges": "a third judge: add its column",
    "authors": "who wrote each reply, and a judge among them: a column system with a judge's name, or author",
    "items": "several items per system",
    "common_items": "items that several systems answered: a column system, and one row per item and system",
    "neutral_texts": "texts that neither of two judges wrote",
    "lengths": "the replies' length: a column text, or words",
    "parts": "scores of the parts of a total",
    "people": "ratings by people: a column per person, or --people A,B",
    "people_items": "ratings by people, item by item: a column per person, or --people A,B",
    "two_people": "a second person's ratings of the same items: add a column",
    "expert": "right answers, or one person's ratings of the same items: a column",
    "positive": 'a yes or no: a column with two options, or in FILE.recuse.toml positive = "toxic" or threshold = 4',
    "several_options": "labels of three kinds or more: the option that each rater chose",
    "slices": "what replies can be grouped by: a column system, topic or language, with twenty replies of each",
    "ranking": "the texts' places in a ranking: a criterion place, 1 for the best",
    "right_scores": "the right score of a criterion that can be counted: a column true_<criterion>",
    "right_answer": "which response of an item is the right one: a column gold (1 or 0)",
    "reference": "the true value of each item",
    "candidate": "a second judge: add its column, then recuse compare FILE JUDGE_IN_USE CANDIDATE",
    "numbers": "a scale with numbers, or two options in order: --scale 'fail<pass'",
}

NOT_OF_A_FILE = frozenset(
    name for name in KINDS if name not in ("scores", "choices", "forced_choices", "response_sets")
) | {"parts", "direction", "names", "labels"}  # fmt: skip
"""Needs that a table of ratings seldom has: judges must be asked in another way."""


def unlock_by_column(need: str) -> str:
    """What column of a file would unlock a need; where none does, what would unlock it in a panel."""
    return COLUMNS.get(need) or unlock(need)
