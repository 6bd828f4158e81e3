"""Perplexity of a text for a judge: how well the judge, asked to write headline and lead itself, would have predicted
the text it grades. The grammar leaves it nothing else to write, and the log-probabilities, which are those before the
grammar is applied, say how likely every token was.

Two rows, the end of the reply left out of both:

    perplexity            exp(-mean log-probability) of the tokens, at least 1 (thesis "Investigating Bias in LLM
                          Self-Evaluation", sec. 2.4.1, after Wataoka et al. 2024, arXiv:2410.21819)
    bits_per_character    -sum of log2 p over the tokens / characters of the text

Perplexity is per token of the judge's own tokenizer, so it compares texts within a judge; bits per character compare
judges, too. A reply that is not the text, or has no log-probabilities, has neither, as with every server that knows no
grammar.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from recuse.protocols import log_probabilities, reading, wording
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "likelihoods"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
WORDING = "headline_generation"
CRITERIA = ("perplexity", "bits_per_character")


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges."""
    return task.items


def headline(task: Task) -> tuple[str, ...]:
    """Bits per character, by which judges can be compared; perplexity stands beside it."""
    return CRITERIA[1:]


def scales(task: Task) -> dict[str, Scale]:
    """Perplexity from 1 and bits per character from 0, without an upper end; lower is better predicted."""
    known = {"perplexity": (1.0, ""), "bits_per_character": (0.0, "bits per character")}
    return {name: Numeric(known[name][0], math.inf, reversed=True, unit=known[name][1]) for name in CRITERIA}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The prompt of `headline_generation`, with a grammar that allows the text of the item alone."""
    words = wording.messages(task, WORDING, task=task.data, story=item.fields["story"])
    literal = json.dumps(_text(item), ensure_ascii=False)  # GBNF escapes quotes, backslashes and line ends as JSON does
    return Prompt(words, temperature=0.0, max_tokens=600, top_logprobs=1, grammar=f"root ::= {literal}")


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """Rows "perplexity" and "bits_per_character" by the formulas above; both fail where the reply is not the text or
    has no log-probabilities."""
    try:
        text = reading.answered(reply)
        if text != _text(item):
            raise reading.Unreadable("unparsed", "the reply is not the text whose perplexity is asked")
        written = [(token, logprob) for token, logprob in reply.tokens or () if token]  # the end of a reply is empty
        if not written:
            raise reading.Unreadable("unparsed", "the reply has no log-probabilities")
    except reading.Unreadable as failure:
        return reading.all_failed(CRITERIA, failure)
    per_token, per_character = CRITERIA
    perplexity = log_probabilities.perplexity(per_token, written)
    if perplexity.score is None:
        return [perplexity, replace(perplexity, criterion=per_character)]
    bits = math.log2(perplexity.score) * len(written)
    return [perplexity, Judgement(per_character, score=bits / len(text))]


def _text(item: Item) -> str:
    """The text as an author would have written it."""
    return f"Headline: {item.fields['headline']}\nLead: {item.fields['lead']}"
