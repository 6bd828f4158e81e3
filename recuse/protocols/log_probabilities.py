"""What log-probabilities say beside the words of a reply: rows of their own, never a substitute for the words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from recuse.schema import Judgement, Reply

Tokens = Sequence[tuple[str, float]]


def perplexity(criterion: str, tokens: Tokens) -> Judgement:
    """exp(-mean log-probability) of the tokens written, at least 1: how much the model's own words surprised it."""
    mean = math.fsum(logprob for _, logprob in tokens) / len(tokens)
    if mean < -700:  # exp would overflow: some token was as good as impossible
        return Judgement(criterion, status="unparsed", why="a written token has no probability to speak of")
    return Judgement(criterion, score=math.exp(-mean))


def weighted(criterion: str, answer: str, choices: Sequence[str], reply: Reply) -> list[Judgement]:
    """How the answer, one of `choices` (whole numbers as text), came about; no rows without log-probabilities.

    At the last token that is the answer, with p(c) the probability of choice c there, blanks around it ignored:

        <criterion>.mass        m = sum p(c), what all choices together had among the recorded likeliest tokens
        <criterion>.expected    sum c p(c) / m, undefined for m = 0 (G-Eval: Liu et al. 2023, arXiv:2303.16634)
    """
    places = [at for at, (token, _) in enumerate(reply.tokens or ()) if token.strip() == answer]
    if not places or not reply.tokens or not reply.logprobs:
        return []
    there = reply.logprobs[places[-1]]
    probabilities = {choice: _probability(choice, there) for choice in choices}
    mass = math.fsum(probabilities.values())
    return [_expected(f"{criterion}.expected", probabilities, mass), Judgement(f"{criterion}.mass", score=mass)]


def _expected(criterion: str, probabilities: Mapping[str, float], mass: float) -> Judgement:
    if not mass > 0:
        return Judgement(criterion, status="unparsed", why="no choice is among the recorded likeliest tokens")
    return Judgement(criterion, score=math.fsum(int(c) * p for c, p in probabilities.items()) / mass)


def _probability(choice: str, tokens: Mapping[str, float]) -> float:
    return math.fsum(math.exp(logprob) for token, logprob in tokens.items() if token.strip() == choice)
