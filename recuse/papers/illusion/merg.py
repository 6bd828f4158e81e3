"""MERG, metacognitive enhanced rubric generation: say what you know, what misleads you, and what counts; then score.

Four stages ("Beyond the Illusion of Consensus", 2026, section 2.2 and appendix A). The first three are made once per
prompt and judge, before any text is shown; the fourth scores each text. The factor says where the rubric comes from
(table 2):

    checklist    given with the prompt, one call, no stage before: the baseline
    independent  every judge writes its own, all four stages
    dimensions   the names of the five dimensions are given, every judge writes their anchors
    shared       the first judge of the panel writes stages 1 to 3, all score by its rubric
    universal    one rubric for all prompts, written beforehand (task.toml), scored with evidence"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import Earlier, Stage, Use, reading, rubric, wording
from recuse.ratings import Numeric, Scale
from recuse.schema import Item, Judgement, Prompt, RecuseError, Reply
from recuse.schema.factors import RUBRIC
from recuse.tasks import Task

Rubric = Mapping[str, Any]  # `dimensions`: five of {name, anchors: four texts}; `weights`: five numbers that sum to 1

DIMENSIONS = 5
ANCHORS = 4  # what is poor (2), adequate (5), strong (8) and exceptional (10)
LONGEST = {"phrase": 200, "name": 40, "anchor": 120}  # characters, unless [rubric] of task.toml says otherwise
TOLERANCE = 0.005  # of the sum of the weights: 0.33 three times is meant well

OFFERS = "scores"
FACTORS: Mapping[str, tuple[str, ...]] = {RUBRIC: ("checklist", "independent", "dimensions", "shared", "universal")}
REPEATS = 1
OVERALL, PLAIN_MEAN = "overall", "plain_mean"
PARTS = tuple(f"dimension_{number}" for number in range(1, DIMENSIONS + 1))
CRITERIA = (OVERALL, PLAIN_MEAN, *PARTS)
WORDS: Mapping[str, Any] = {"type": "string", "minLength": 1}
"""JSON schema of a text of any length: no reason or quote is cut; a reply that the token limit ends is unparsed."""
HABITS = ("length", "format", "familiarity", "anchoring", "halo")
TEMPERATURE = 0.0

items = rubric.items


def headline(task: Task) -> tuple[str, ...]:
    """The weighted mean (appendix A), beside the dimensions and their plain mean (the body of the paper)."""
    return (OVERALL,)


def scales(task: Task) -> dict[str, Scale]:
    """The whole numbers of the task's scale for each dimension, as the schema asks; means fall between them. A judge
    that is held to no schema and gives 9.5 is read as it stands, as in the paper (appendix E.1)."""
    return {name: Numeric(*task.scale, 1.0 if name in PARTS else None) for name in CRITERIA}


KNOWLEDGE_LISTS = ("standards", "knowledge", "challenges")
KNOWLEDGE_PHRASES = ("task_type", "excellent", "good", "poor")
REFLECTIONS = (*HABITS, "blind_spot", "focus")


def _of_phrases(name: str, max_tokens: int, phrases: Sequence[str], lists: Sequence[str] = (), *uses: str) -> Stage:
    """A stage whose reply is one JSON object of phrases and of `lists`, two phrases each."""

    def prompt(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
        words = wording.messages(task, f"merg.{name}", task=task.data, **item.fields, **earlier)
        text, (first, *others) = _text(task, "phrase"), phrases
        pairs = dict.fromkeys(lists, wording.list_schema(text, 2))
        schema = wording.object_schema({first: text, **pairs, **dict.fromkeys(others, text)})
        return Prompt(words, TEMPERATURE, max_tokens=max_tokens, schema=schema)

    def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> Any:
        answer = reading.json_value(reply, dict)
        single = {name: reading.phrase(answer, name) for name in phrases}
        for name in lists:
            reading.phrases(answer, name, 2)
        return answer if lists else single  # knowledge is shown as it was written, blanks and all

    def specimen(task: Task, item: Item, factors: Mapping[str, str]) -> Any:
        text = "x" * longest(task, "phrase")
        return {**dict.fromkeys(phrases, text), **dict.fromkeys(lists, [text] * 2)}

    return Stage(name, prompt, read, specimen, uses=lambda factors: [*map(Use, uses)])


def fixed_names(task: Task, factors: Mapping[str, str]) -> list[str]:
    """The names of the five dimensions where they are given, else none."""
    return list(task.data["rubric"]["names"]) if factors[RUBRIC] == "dimensions" else []


def rubric_prompt(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    """Stage 3: five dimensions, each with its anchors, and their weights."""
    names = fixed_names(task, factors)
    words = wording.messages(task, "merg.rubric", task=task.data, names=names, **item.fields, **earlier)
    free, tenths = (rubric_schema(task, named=bool(names), tenths=by_grammar) for by_grammar in (False, True))
    return Prompt(words, TEMPERATURE, max_tokens=800, schema=free, grammar_schema=tenths)


STAGES = (  # specimens are as long as they come
    _of_phrases("knowledge", 500, KNOWLEDGE_PHRASES, KNOWLEDGE_LISTS),  # what it knows of this kind of task
    _of_phrases("reflection", 400, REFLECTIONS, (), "knowledge"),  # how it may be misled
    Stage(
        "rubric", rubric_prompt, lambda task, item, factors, reply, earlier: read_rubric(
            reading.json_value(reply, dict), fixed_names(task, factors)
        ),
        specimen=lambda task, item, factors: {
            "dimensions": DIMENSIONS * [
                {"name": "x" * longest(task, "name"), "anchors": ["x" * longest(task, "anchor")] * ANCHORS}
            ], "weights": [0.2] * DIMENSIONS,
        }, per=("item", RUBRIC), uses=lambda factors: [Use("knowledge"), Use("reflection")],
    ),
)  # fmt: skip


def uses(factors: Mapping[str, str]) -> Sequence[Use]:
    """Which earlier replies a judgement is made from, at these factor levels."""
    source = factors[RUBRIC]
    if source in ("checklist", "universal"):
        return []
    first = source == "shared"
    under = {RUBRIC: "independent"} if first else {}
    return [Use("reflection", first_judge=first), Use("rubric", first_judge=first, factors=under)]


def prompt(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    """Stage 4: the text, with the checklist or with a rubric and what the judge said of its habits (`earlier`). The
    scores come as a list in the order of the dimensions. `RecuseError` for a task whose [[universal]] is no rubric."""
    listed = factors[RUBRIC] == "checklist"
    given = {**item.fields, "checklist": item.fields["checklist"] if listed else None, "rubric": _rubric(task, earlier)}
    words = wording.messages(task, "merg.evaluation", task=task.data, reflection=earlier.get("reflection"), **given)
    score = {"enum": list(range(int(task.scale[0]), int(task.scale[1]) + 1))}
    scores, cited = wording.list_schema(score, DIMENSIONS), wording.list_schema(WORDS, DIMENSIONS)
    fields = {"evidence": cited, "scores": scores, "habit": {"enum": [*HABITS, "none"]}}
    schema = wording.object_schema({"reason": WORDS, "scores": scores} if listed else fields)
    return Prompt(words, TEMPERATURE, max_tokens=400, schema=schema)


def _rubric(task: Task, earlier: Earlier) -> Rubric:
    return earlier.get("rubric") or universal_rubric(task)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> list[Judgement]:
    """Five scores and their two means. A mean needs all five: with one unreadable score there is no mean."""
    listed = factors[RUBRIC] == "checklist"
    try:
        answer = reading.json_value(reply, dict)
        values = reading.member(answer, "scores", "scores")
        if not isinstance(values, list) or len(values) != DIMENSIONS:
            raise reading.Unreadable("unparsed", f"scores is not a list of {DIMENSIONS}")
        if not listed:
            reading.phrases(answer, "evidence", DIMENSIONS)
            if reading.member(answer, "habit", "habit") not in (*HABITS, "none"):
                raise reading.Unreadable("unparsed", "habit is none of those that were named")
    except reading.Unreadable as failure:
        return reading.all_failed(CRITERIA, failure)
    parts = [reading.score(value, name, task.scale) for value, name in zip(values, PARTS, strict=True)]
    if bad := next((part for part in parts if part.score is None), None):
        return [*(Judgement(name, status=bad.status, why=bad.why) for name in (OVERALL, PLAIN_MEAN)), *parts]
    scores = [part.score for part in parts if part.score is not None]
    weights = [1 / DIMENSIONS] * DIMENSIONS if listed else _rubric(task, earlier)["weights"]
    weighted = sum(weight * score for weight, score in zip(weights, scores, strict=True))
    return [Judgement(OVERALL, round(weighted, 6)), Judgement(PLAIN_MEAN, round(sum(scores) / DIMENSIONS, 6)), *parts]


def quotes(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """What the judge cites for each dimension: response = its words; nothing by the checklist, which asks for none."""
    try:
        cited = reading.phrases(reading.json_value(reply, dict), "evidence", DIMENSIONS)
    except reading.Unreadable:
        return []
    return [Judgement(name, response=words) for name, words in zip(PARTS, cited, strict=True)]


# --------------------------------------------------------------------------- the rubric


def read_rubric(answer: Mapping[str, Any], names: Sequence[str]) -> Rubric:
    """The rubric a judge wrote. `Unreadable` unless there are exactly five dimensions with a name and four anchors
    each, and five positive weights that sum to 1. `names` are those that were given, if any were. Two dimensions may
    have one name: that a judge repeats itself is its own rubric, and shows in how it agrees with others."""
    given = reading.member(answer, "dimensions", "dimensions")
    if not isinstance(given, list) or len(given) != DIMENSIONS:
        count = len(given) if isinstance(given, list) else "no"
        raise reading.Unreadable("unparsed", f"the rubric has {count} dimensions; exactly {DIMENSIONS} are wanted")
    named = [names[place] if names else reading.phrase(one, "name") for place, one in enumerate(given)]
    dimensions = [
        {"name": name, "anchors": reading.phrases(one, "anchors", ANCHORS)}
        for name, one in zip(named, given, strict=True)
    ]
    weights = reading.member(answer, "weights", "weights")
    numbers = [n for n in weights if type(n) in (int, float)] if isinstance(weights, list) else []
    if weights != numbers or len(numbers) != DIMENSIONS:
        raise reading.Unreadable("unparsed", f"weights is not a list of {DIMENSIONS} numbers")
    if min(numbers) <= 0 or abs(math.fsum(numbers) - 1) > TOLERANCE:
        shown = ", ".join(f"{n:g}" for n in numbers)
        raise reading.Unreadable("unparsed", f"the weights {shown} are not positive numbers that sum to 1")
    return {"dimensions": dimensions, "weights": list(map(float, numbers))}


def rubric_schema(task: Task, *, named: bool, tenths: bool = False) -> dict[str, Any]:
    """The reply's JSON schema. `named`: names are given, not asked. `tenths`: the weights are one of the 101 lists of
    tenths that sum to 1, none above 0.4, for servers that enforce a schema by grammar: a grammar cannot add."""
    name = {} if named else {"name": _text(task, "name")}
    weights = wording.list_schema({"type": "number"}, DIMENSIONS)
    if tenths:
        every = itertools.product(range(1, 5), repeat=DIMENSIONS)
        weights = {"enum": [[n / 10 for n in each] for each in every if sum(each) == 10]}
    dimension = wording.object_schema({**name, "anchors": wording.list_schema(_text(task, "anchor"), ANCHORS)})
    return wording.object_schema({"dimensions": wording.list_schema(dimension, DIMENSIONS), "weights": weights})


def universal_rubric(task: Task) -> Rubric:
    """The rubric that task.toml gives for all prompts: five tables [[universal]]. `RecuseError` for another one."""
    tables = task.data.get("universal", [])
    try:
        return read_rubric({"dimensions": tables, "weights": [table.get("weight") for table in tables]}, ())
    except reading.Unreadable as failure:
        raise RecuseError(f"{task.folder / 'task.toml'}: [[universal]]: {failure.why}") from None


def longest(task: Task, what: str) -> int:
    """How many characters a phrase, a name or an anchor may have."""
    return int(task.data.get("rubric", {}).get(f"longest_{what}", LONGEST[what]))


def _text(task: Task, what: str) -> dict[str, Any]:
    """JSON schema of a text; a server that enforces it ends it at its longest."""
    return {**WORDS, "maxLength": longest(task, what)}
