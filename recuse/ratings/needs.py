"""What a question may ask for and a protocol may offer: one vocabulary, with what would unlock each need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recuse.schema import RecuseError


@dataclass(frozen=True, slots=True)
class Need:
    """`means`: what is there when it is offered; `unlock`: what to add when it is not."""

    means: str
    unlock: str


CANDIDATE = "candidate"

KINDS: dict[str, Need] = {
    "scores": Need("scores of texts", "ask by a protocol that scores texts, or add a column score"),
    "choices": Need("choices between two texts", "ask by the protocol pairwise"),
    "choices_after_evidence": Need("choices after written evidence", "ask by the protocol pairwise_evidence"),
    "length_twins": Need("choices between a text and itself made longer", "ask by the protocol pairwise_length"),
    "attacked_scores": Need("scores of texts with an injected instruction", "ask by the protocol grading_injected"),
    "attacked_choices": Need("choices where one text was tampered with", "ask by the protocol pairwise_injected"),
    "segment_scores": Need("scores of a text's parts one by one", "ask by the protocol grading_segments"),
    "likelihoods": Need("how likely each judge finds each text", "ask by the protocol text_perplexity"),
    "text_filter": Need("judges asked whether a text steers", "ask by the protocol input_filter"),
    "reply_filter": Need("judges asked whether a reply was steered", "ask by the protocol output_filter"),
    "picks": Need("items that models put on levels", "ask by the protocol generation"),
    "levels": Need("items on levels, from a file", "give what is true of the items: recuse check FILE --rates RATES"),
    "claimed_statistics": Need("means and SDs that judges claim", "ask by the protocol rubric_self_reported"),
    "forced_choices": Need(
        "choices of one option per item",
        "ask by the protocol forced_choice, or give a file with the one option that each rater chose",
    ),
    "response_sets": Need(
        "sets of all options that a rater holds reasonable",
        'ask by the protocol response_set, or give a file whose ratings are sets of options, as "yes|no"',
    ),
    "explanations": Need(
        "a reason in words for every score", "ask by the protocol rubric, whose replies explain their scores"
    ),
    "quotes": Need(
        "the places of a text that judges cite", "ask by the protocol merg, whose judges quote for each score"
    ),
    "blinded_people": Need(
        "single ratings by people, criterion by criterion",
        "add people's single ratings per criterion (task.toml, [people.single])",
    ),
    "texts": Need("texts that models wrote", "ask by a generating protocol"),
    "worded_scores": Need(
        "scores asked for as quality and as badness",
        "ask by the protocol grading_wording, or add columns wording (quality, badness) and direction",
    ),
    "prompted_scores": Need("scores asked for in several ways", "ask by the protocol grading_prompts"),
    "prompted_verdicts": Need("right or wrong, asked for in several ways", "ask by the protocol correctness"),
    "prompted_choices": Need("choices asked for in several ways", "ask by the protocol pairwise_prompts"),
    "prompted_length_twins": Need(
        "choices between a text and itself made longer, told that length must not matter and not told",
        "ask by the protocol pairwise_length_prompts",
    ),
    "channelled_scores": Need(
        "scores with the text inside the instructions and apart from them", "ask by the protocol grading_channels"
    ),
    "hundred_scores": Need("scores from 0 to 100", "ask by the protocol grading_hundred"),
    "calibrated_scores": Need("scores by criteria inferred from labels", "ask by the protocol grading_calibrated"),
    "choices_after_discussion": Need("choices after a peer's review", "ask by the protocol pairwise_discussion"),
    "list_choices": Need("the best of three texts or more", "ask by the protocol listwise"),
    "recognitions": Need("judges asked whether they wrote a text", "ask by the protocol self_recognition"),
    "recognition_choices": Need(
        "judges asked which of two texts they wrote", "ask by the protocol self_recognition_pairs"
    ),
}
"""What a protocol's rows are (`OFFERS` of its module). A team's protocol may offer a kind of its own."""

NEEDS: dict[str, Need] = {
    **KINDS,
    "names": Need("names shown and hidden", "ask with names shown and hidden"),
    "direction": Need("both directions of the scale", "ask with the scale ascending and reversed"),
    "order": Need("both orders of a pair", "ask every pair in both orders"),
    "labels": Need("labels swapped", "ask with labels plain and swapped"),
    "wording": Need("two opposite words for what is rated", "ask for quality and for badness (a column wording)"),
    "channel": Need("texts among the instructions and apart from them", "ask by the protocol grading_channels"),
    "rubric_source": Need(
        "scores by rubrics of several sources",
        "ask by the protocol merg, or give a column rubric_source: checklist, shared, ...",
    ),
    "twins": Need(
        "polished texts with a planted flaw beside plain sound ones",
        "write twins of some texts and say which is flawed (texts: flawed = yes or no)",
    ),
    "temperature": Need("several temperatures", "ask at several temperatures (a factor, or a column temperature)"),
    "versions": Need("two versions of a judge", "give a second file, or a column version"),
    "repeats": Need("texts judged more than once", "record more repeats of the same question"),
    "peers": Need("two judges or more", "add a second judge"),
    "three_judges": Need("three judges or more", "add a third judge"),
    "authors": Need("a judge that wrote one of the texts", "name the target a judge wrote (author = ...)"),
    "families": Need(
        "texts by a judge of the same family",
        'say which judges are of one family of models (family = "..." in the panel file)',
    ),
    "tiers": Need("targets of known tiers", "say which targets are known to be better (task.toml, [[tier]])"),
    "shared_texts": Need("texts judged by several judges", "let several judges judge the same texts"),
    "several_targets": Need("three targets or more", "judge texts by three systems or more"),
    "items": Need("several items per target", "add items: one text per target says nothing about the next text"),
    "common_items": Need(
        "items with texts by several targets",
        "give items a text by each target: only texts on the same item can be compared",
    ),
    "neutral_texts": Need(
        "texts that neither of two judges wrote", "add a judge or a target: what neither of two judges wrote is needed"
    ),
    "lengths": Need("texts with their number of words", "give the texts, or how many words each has"),
    "parts": Need("scores of parts beside a total", "score the parts of the total one by one"),
    "people": Need("ratings by people", "add ratings by people (task.toml, [people])"),
    "people_items": Need(
        "single ratings by people",
        "add people's own ratings, one row per person and item: their means cannot tell who agrees on what",
    ),
    "two_people": Need("two people's ratings of the same items", "add a second person's ratings of the same items"),
    "expert": Need(
        "right answers, or people's ratings by one person each",
        "add a column of right answers, or one person's ratings of the same items",
    ),
    "positive": Need(
        "a yes or no to decide: two options, or a stated property or threshold",
        "say which option is the property that texts are judged for, or from which score on a text passes",
    ),
    "property": Need(
        "an option that texts are judged for: stated, one of two, or the best in order",
        "say which option is the property that texts are judged for, or give the options in order",
    ),
    "several_options": Need(
        "three options or more, none of them the one that is looked for", "give the option that each rater chose"
    ),
    "slices": Need(
        "texts of several systems, topics or languages, twenty of each",
        "say what texts can be grouped by: several targets, or a column such as topic, with twenty texts of each",
    ),
    "groups": Need(
        "texts of three systems or more, or of several topics or languages, twenty of each",
        "say what texts can be grouped by: three targets or more, or a column such as topic, with twenty texts of each",
    ),
    "ranking": Need("a ranking of the texts beside their scores", "ask by the protocol rubric_joint"),
    "right_scores": Need(
        "a criterion that can be counted, with its right score",
        "give the right score of a text (texts: true_<criterion>)",
    ),
    "right_answer": Need(
        "responses of which one is known to be right", "say which response of an item is the right one (texts: gold)"
    ),
    "held_out_payloads": Need(
        "injected instructions that no defence was made from",
        "write payloads after and apart from the defences (task.toml, [payloads])",
    ),
    "reference": Need("true values", "add the true value of each item (task.toml, [reference])"),
    CANDIDATE: Need(
        "a candidate that would replace a judge",
        'name the judge that another would replace (replaces = "..." in the panel file), or run recuse compare',
    ),
    "numbers": Need("scores that can be averaged", "give the scale as numbers, or as two ordered options"),
}
"""Everything that a question may ask for: a kind of rows, or something that they have."""


def check_needs(needs: Iterable[str], place: str, known: Iterable[str] = ()) -> None:
    """`RecuseError` for a need that nothing can offer, naming the place and the known ones."""
    there = {*NEEDS, *known}
    if unknown := [name for name in needs if name not in there]:
        raise RecuseError(f"{place}: nothing offers {', '.join(map(repr, unknown))}; known: {', '.join(sorted(there))}")


def kind_of(needs: Sequence[str]) -> str:
    """Which ratings a question is about: the first kind that it names, or plain scores."""
    return next((name for name in needs if name in KINDS or name not in NEEDS), "scores")


def missing(needs: Iterable[str], offers: Iterable[str]) -> list[str]:
    """The needs that are not offered, in their order."""
    there = set(offers)
    return [name for name in needs if name not in there]


def unlock(need: str) -> str:
    """What to add, in words."""
    return NEEDS[need].unlock if need in NEEDS else f"ask by a protocol that offers {need}"


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
    "property": "which label is looked for: --positive toxic; or their order: --scale 'bad<fair<good'",
    "several_options": "labels of three kinds or more: the option that each rater chose",
    "slices": "what replies can be grouped by: a column system, topic or language, with twenty replies of each",
    "groups": "what replies can be grouped by: a column system with three, or topic with twenty replies of each",
    "ranking": "the texts' places in a ranking: a criterion place, 1 for the best",
    "right_scores": "the right score of a criterion that can be counted: a column true_<criterion>",
    "right_answer": "which response of an item is the right one: a column gold (1 or 0)",
    "reference": "the true value of each item",
    "candidate": "a second judge: add its column, then recuse compare FILE JUDGE_IN_USE CANDIDATE",
    "numbers": "a scale with numbers, or two options in order: --scale 'fail<pass'",
}

NOT_OF_A_FILE = frozenset(
    name for name in KINDS if name not in ("scores", "choices", "forced_choices", "response_sets")
) | {"parts", "direction", "names", "labels", "families"}  # fmt: skip
"""Needs that a table of ratings seldom has: judges must be asked in another way."""


def unlock_by_column(need: str) -> str:
    """What column of a file would unlock a need; where none does, what would unlock it in a panel."""
    return COLUMNS.get(need) or unlock(need)
