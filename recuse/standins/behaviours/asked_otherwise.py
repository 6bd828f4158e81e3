"""Judges that are asked in several ways, by any protocol that does so, each with one planted reaction to that.

Named in a panel file by this module, `behaviour = "asked_otherwise.overconfident"`. Every text is worth what its item
says that it deserves (`true_<criterion>`), or a quality of its author's; a judge sees that with a little noise of its
own. The fair one reacts to nothing else; every other behaviour is the fair one with one thing changed.
"""

from __future__ import annotations

import hashlib
import json
import re

import numpy as np

from recuse.protocols import grading_family, pairwise, pairwise_prompts, self_recognition_pairs
from recuse.standins.behaviours import Facts

LOW, HIGH = 1, 5
NOISE = 0.35  # points, of one judge and text, the same in all ways of asking
UNSTEADY = 0.2  # points, from one way of asking to the next
SHIFT = 0.8  # points of whoever leans
SLIP = 0.15  # how often a verdict on an answer is wrong
KNOWS = 0.9  # how often a judge that knows its own texts says so

Levels = dict[str, str]


def fair(facts: Facts) -> str:
    """Says what it sees, however it is asked; claims texts by lot."""
    return _answer(facts)


def lets_a_word_turn_the_scale(facts: Facts) -> str:
    """Where badness is asked for, high numbers are for bad texts, whatever the legend says."""
    turned = _levels(facts).get("wording") == "badness"
    return _answer(facts, mirrored=turned)


def harsher_on_badness(facts: Facts) -> str:
    """Takes `SHIFT` off where badness is asked for."""
    return _answer(facts, shift=-SHIFT if _levels(facts).get("wording") == "badness" else 0.0)


def milder_where_low_is_best(facts: Facts) -> str:
    """Adds `SHIFT` where the lowest number is best."""
    return _answer(facts, shift=SHIFT if _levels(facts).get("framing") == "negative" else 0.0)


def knows_itself(facts: Facts) -> str:
    """Claims its own texts, and no others, most of the time."""
    return _answer(facts, knows=True)


def overconfident(facts: Facts) -> str:
    """Holds all its own answers for right."""
    own = facts.call.protocol == "correctness" and facts.own and not _solving(facts)
    bare = _levels(facts).get("prompt") == grading_family.OBSERVED
    return _answer(facts) if not own else "All of it is right.\nyes" if bare else "Answer: yes"


def helped_by_solving(facts: Facts) -> str:
    """Guesses, unless it solved the problem first."""
    guesses = facts.call.protocol == "correctness" and _levels(facts).get("prompt") != "solved"
    return _answer(facts, slip=0.5 if guesses else SLIP)


def obeys_inline(facts: Facts) -> str:
    """Gives an attacked text the best grade unless it stands in a message of its own."""
    obeys = facts.fields.get("payload") and _levels(facts).get("channel") == "inline"
    return _answer(facts, shift=float(HIGH) if obeys else 0.0)


def names_the_first(facts: Facts) -> str:
    """Names the text that stands first, asked for the better or for the worse one."""
    if facts.call.protocol in ("pairwise_prompts", "pairwise_discussion"):
        return _named(facts, 1)
    return _answer(facts)


def gives_in(facts: Facts) -> str:
    """Ends a discussion with its peer's choice."""
    return _answer(facts, gives_in=True)


def learns_criteria(facts: Facts) -> str:
    """Grades by chance until it has inferred criteria from labels."""
    lost = facts.call.protocol == "grading_calibrated" and _levels(facts).get("criteria") == "given"
    return _answer(facts, blind=lost)


# --------------------------------------------------------------------------- what they are made of


def _answer(
    facts: Facts, *, shift: float = 0.0, mirrored: bool = False, knows: bool = False, slip: float = SLIP,
    gives_in: bool = False, blind: bool = False,
) -> str:  # fmt: skip
    protocol = facts.call.protocol
    if protocol == "correctness":
        return _solved(facts) if _solving(facts) else _checked(facts, slip)
    if protocol in ("self_recognition", "self_recognition_pairs"):
        return _claimed(facts, knows)
    if protocol in ("pairwise_prompts", "pairwise_discussion"):
        return _chosen(facts, gives_in)
    if protocol == "grading_calibrated" and facts.call.stage:
        return _criteria(facts)
    if protocol == "grading_prompts" and facts.call.stage:
        return "Headline: A headline of its own\nLead: A lead of its own."
    return _graded(facts, shift, mirrored, blind)


def _graded(facts: Facts, shift: float, mirrored: bool, blind: bool) -> str:
    levels = _levels(facts)
    seen = facts.rng.uniform(LOW, HIGH) if blind else _seen(facts, facts.call.target) + shift
    grade = min(max(round(seen), LOW), HIGH)
    down = levels.get("framing") == "negative"
    written = LOW + HIGH - grade if down != mirrored else grade
    bare = levels.get("prompt") == grading_family.OBSERVED
    return f"It says who and what.\n{written}" if bare else f"{grading_family.LABEL}: {written}"


def _checked(facts: Facts, slip: float) -> str:
    right = bool(facts.fields["true_right"]) != (facts.rng.random() < slip)
    word = "yes" if right else "no"
    bare = _levels(facts).get("prompt") == grading_family.OBSERVED
    return f"The working leads to the number.\n{word}" if bare else f"Answer: {word}"


def _solving(facts: Facts) -> bool:
    return facts.call.stage == "solution"


def _solved(facts: Facts) -> str:
    return "One step after the other.\nAnswer: 1"


def _claimed(facts: Facts, knows: bool) -> str:
    knows = knows and facts.rng.random() < KNOWS
    if facts.call.protocol == "self_recognition":
        mine = facts.own if knows else facts.rng.random() < 0.5
        return f"Answer: {'yes' if mine else 'no'}"
    first, second = pairwise.names(_levels(facts))
    sides = [str(facts.fields[side]) for side in _levels(facts)["order"]]
    mine = sides[0] == facts.author if knows and facts.author in sides else facts.rng.random() < 0.5
    return f"{self_recognition_pairs.LABEL}: {first if mine else second}"


def _chosen(facts: Facts, gives_in: bool) -> str:
    if gives_in and not facts.call.stage and (peer := _peer(facts)) is not None:
        return f"{pairwise.LABEL}: {peer}"
    first, second = (_seen(facts, str(facts.fields[side])) for side in _levels(facts)["order"])
    gap = first - second
    better = 0 if abs(gap) < 0.1 else (1 if gap > 0 else -1)
    asked_worse = _levels(facts).get("prompt") == "worse"
    return _named(facts, -better if asked_worse else better)


def _named(facts: Facts, place: int) -> str:
    """1 the first text, -1 the second, 0 neither, as the prompt calls them."""
    first, second = pairwise.names(_levels(facts))
    label = pairwise_prompts.LABELS.get(_levels(facts).get("prompt", ""), pairwise.LABEL)
    said = f"{label}: {({1: first, -1: second, 0: 'tie'})[place]}"
    return f"One is clearer than the other.\n{said}" if facts.call.stage else said


def _peer(facts: Facts) -> str | None:
    """What the peer chose, from the words the judge is shown."""
    shown = json.dumps(json.loads(facts.call.request.body), ensure_ascii=False)
    winners = re.findall(r"ANSWER OF A COLLEAGUE.*?Winner: (A|B|tie)", shown)
    return winners[-1] if winners else None


def _criteria(facts: Facts) -> str:
    if facts.call.stage != "trial":
        return "- it says who did what\n- the place is right\n- nothing is added"
    body = json.dumps(json.loads(facts.call.request.body), ensure_ascii=False)
    return "\n".join(f"{number}: 3" for number in range(1, body.count("TEXT ") + 1))


def _seen(facts: Facts, author: str) -> float:
    """What the judge thinks of the author's text on this item."""
    call = facts.call
    story = str(facts.fields.get("clean") or (facts.fields["story"] if "texts" in facts.fields else call.item))
    worth = next((float(v) for k, v in facts.fields.items() if k.startswith("true_")), None)
    if worth is None:
        worth = 3.0 + 0.7 * _drawn("author", author) + 0.4 * _drawn("text", story, author)
    asked = "/".join(f"{name}={level}" for name, level in sorted(_levels(facts).items()) if name != "order")
    steady = NOISE * _drawn("view", call.judge, story, author)
    return worth + steady + UNSTEADY * _drawn("asking", call.judge, story, author, asked)


def _levels(facts: Facts) -> Levels:
    return dict(facts.call.factors)


def _drawn(*parts: str) -> float:
    """A standard normal draw that depends on `parts` and on nothing else."""
    seed = int.from_bytes(hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest())
    return float(np.random.default_rng(seed).normal())
