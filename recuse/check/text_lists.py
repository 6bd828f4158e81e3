"""Lists of texts for people: which to label next, `recuse check FILE --next-labels N next.csv`, read back filled in;
and what a judge may not decide alone, `recuse check FILE --to-people to_people.csv --errors 0.05`.

Texts are grouped by what is known of all of them, the judges' answers: what the judge in question says, and how many
other judges say otherwise (of numbers: low, middle or high, and how far the others lie from it). Where judges agree,
people mostly agree too, and a label says little. So half of the labels go to groups by their size and half by size
times the spread of what is measured (Neyman's allocation; Cochran 1977, Sampling Techniques, sec. 5.5), and a label
then counts for all texts that it stands for (`recuse.ratings.chosen_labels`). Within a group texts are drawn by lot:
labels picked by how interesting they look would move every number.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.check.disagreements import write_disagreements
from recuse.gates.causes import rounded
from recuse.gates.decision import for_use
from recuse.metrics.delegation import brier_score, confidence_of, delegable_share, safe_from
from recuse.ratings.answers import COMPARED, Answers, answers_against_truth, answers_of, answers_of_one_way
from recuse.ratings.chosen_labels import DONE, HEAD, WEIGHED, are_chosen, text_groups
from recuse.readers.file_ratings import FilePanel
from recuse.readers.filled_lists import is_review
from recuse.run.run import FileRun
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, Mask
from recuse.schema.number_text import of_units, percent, rate
from recuse.schema.verdict_rows import VerdictRow
from recuse.schema.vocabulary import RIGHT_ANSWERS, UNDECIDED
from recuse.security.files import begins_with, write_table

Codes = NDArray[np.intp]
PRIOR = 4.0  # texts that the judges' own disagreement counts as, beside the labels
EASIEST = 0.05
TO_PEOPLE = ("judge", "criterion", "item", "system", "confidence", "why")
is_people_list = begins_with(",".join(TO_PEOPLE))


class TextList(NamedTuple):
    """`is_ours`: whether a text is from the same option; `write` writes the list and returns what to say of it."""

    path: Path
    is_ours: Callable[[str], bool]
    write: Callable[[FileRun], Sequence[str]]


def lists_to_write(
    next_list: Sequence[str] | None, to_people: Path | None, disagreements: Path | None, errors: float, named: str,
    options: str,
) -> list[TextList]:  # fmt: skip
    """The lists that options ask for. `named` and `options`: the files and what else was typed, quoted."""
    lists = []
    if next_list:
        if not next_list[0].isdigit():
            raise RecuseError(f"--next-labels takes how many texts and a file, as 60 next.csv; got {next_list[0]!r}")
        count, to_label = int(next_list[0]), Path(next_list[1])
        file = f"{named} {quote(str(to_label))}{options}"
        lists.append(TextList(to_label, is_blank_list, lambda run: write_next_labels(run, count, file, to_label)))
    if to_people:
        lists.append(TextList(to_people, is_people_list, lambda run: write_people_list(run.panel, to_people, errors)))
    if disagreements:
        lists.append(TextList(disagreements, is_review, lambda run: write_disagreements(run.panel, disagreements)))
    return lists


def is_blank_list(text: str) -> bool:
    """Whether a file's text is a list of next labels in which nothing is filled in yet."""
    head, *rows = csv.reader(io.StringIO(text.lstrip("\ufeff"))) if text else [[]]
    answers = [k for k, name in enumerate(head) if name not in (*HEAD, "text")]
    return tuple(head[: len(HEAD)]) == HEAD and all(row[k] in ("", DONE) for row in rows for k in answers)


def write_next_labels(answers: FileRun, count: int, file: str, path: Path) -> list[str]:
    """Write the `count` texts whose labels bring the first undecided judge nearest to a word, and say which they are.
    `file`: what `recuse check` then reads, as typed. Raises `RecuseError` where there is nothing to choose from."""
    if count < 1:
        raise RecuseError(f"--next-labels takes how many texts and a file, as 60 next.csv; got {count}")
    panel = answers.panel
    undecided = [one for one in answers.decision.judges if one.stated and one.word == UNDECIDED]
    judge = undecided[0].judge if undecided else panel.judges[0]
    given = answers_of_one_way(panel.ratings, "next labels are chosen", people=False)
    place = given.judges.index(judge)
    people, truth = _people(given), given.people_and_truth[1]
    labelled = given.raters >= min(2, len(people))
    if truth is not None:  # a person's label tells how near people come to it, and nothing without it
        labelled &= truth.raters > 0
    behind = (v for v in answers.results["verdicts"] if undecided and v["gate"] in undecided[0].gates)
    open_gates = [v for v in behind if v["subject"].get("judge") == judge and v["outcome"] == UNDECIDED]
    by_group = all(v["gate"] in WEIGHED for v in open_gates)
    names = text_groups(given, place) if by_group else np.full(len(given.items), "", dtype=object)
    judged = given.requested[place]
    if not (judged & ~labelled).any():
        raise RecuseError(f"{panel.path}: every text that {judge} judged has its labels; add texts without a label")
    groups, code = np.unique(names.astype(str), return_inverse=True)
    spread = label_spread(truth or given, place, code, labelled & judged)
    rng = np.random.default_rng(len(given.items))
    # the lot is the same whatever the order of rows; 9 comes before 10
    order = np.lexsort((given.targets, given.items, [*map(len, given.items)]))
    chosen, share = chosen_texts(code[order], spread, judged[order], labelled[order], count, rng)
    chosen = order[chosen]
    parts = (code[judged], code[labelled & judged], code[chosen])
    whole, have, taken = (np.bincount(part, minlength=len(groups)) for part in parts)
    as_yet = f", undecided{for_use(undecided[0].use)}" if undecided else ""
    what = f"{len(chosen)} texts to label: {path}, for {judge}{as_yet}"
    lines = [f"{what}; fill in {', '.join(people)}, then: recuse check {file}"]
    if by_group:
        each = zip(groups, taken, whole, have, strict=True)
        lines += [f"  {name}: {n} of {of} judged texts, {before} labelled before" for name, n, of, before in each]
    else:
        gate = next(v["label"] or v["gate"] for v in open_gates if v["gate"] not in WEIGHED)
        lines.append(f"  by lot among all texts: {gate} counts every text alike, so no group may have more labels")
    lines += _settles(open_gates, whole, spread, share if by_group else whole / whole.sum(), int(have.sum()))
    rows = _rows(panel, given, chosen, names, judge, people, by_group)
    # no cell begins a formula, whoever opens it, and nothing that somebody filled in is written over
    write_table(path, rows.columns, rows.itertuples(index=False, name=None), is_blank_list)
    return lines


def _people(given: Answers) -> list[str]:
    """Whose labels are wanted: the two with the most, the one, or you; right answers where known, and a person's."""
    labels = np.isfinite(given.rated).any(axis=2).sum(axis=1) if len(given.people) else np.zeros(0)
    if (truth := given.people_and_truth[1]) is not None:
        labels[given.people.index(truth.people[0])] = len(given.items) + 1
    return [given.people[k] for k in sorted(np.argsort(-labels, kind="stable")[:2])] or ["you"]


def label_spread(given: Answers, judge: int, code: Codes, labelled: Mask) -> Floats:
    """What a label of each group adds to the variance, (H,): the root of the mean squared difference between judge and
    person, as a share of the largest there is. From the labels, and from how the judges differ among themselves."""
    if given.options:
        judges, people = np.nan_to_num(given.judge_shares), np.nan_to_num(given.people_shares)
        squares = 1 - (judges[judge] * people).sum(axis=1)
        prior = 1 - (judges[judge] * judges).sum(axis=2).mean(axis=0)
    else:
        span = given.scale.span if np.isfinite(given.scale.span) else float(np.nanmax(given.judged) or 1.0)
        squares = np.nan_to_num((given.judge_means[judge] - given.people_mean) / span) ** 2
        prior = (np.nan_to_num((given.judge_means - given.judge_means[judge]) / span) ** 2).mean(axis=0)
    count = int(code.max()) + 1
    have = np.bincount(code[labelled], minlength=count)
    differ = np.bincount(code[labelled], weights=squares[labelled], minlength=count)
    expected = np.bincount(code, weights=prior) / np.maximum(np.bincount(code, minlength=count), 1)
    typical = squares[labelled].mean() if labelled.any() else float(expected.mean())
    lowest = EASIEST * (1.0 if given.options else max(float(typical), 1e-4))
    guess: Floats = (differ + PRIOR * np.maximum(expected, lowest)) / (have + PRIOR)
    return np.sqrt(guess)


def chosen_texts(
    code: Codes, spread: Floats, judged: Mask, labelled: Mask, count: int, rng: np.random.Generator
) -> tuple[Codes, Floats]:
    """Places of `count` judged texts without a label, in an order by lot, and each group's share of all labels: half by
    size, half by size times `spread` (H,). Groups take turns so that old and new labels come nearest to the shares."""
    free = judged & ~labelled
    whole, have, left = (np.bincount(code[texts], minlength=len(spread)) for texts in (judged, labelled & judged, free))
    wide = whole * spread
    share: Floats = 0.5 * whole / whole.sum() + 0.5 * wide / wide.sum()
    taken = np.zeros(len(share), dtype=np.intp)
    for _ in range(min(count, int(free.sum()))):
        taken[int(np.argmax(np.where(taken < left, share / (have + taken + 0.5), -1.0)))] += 1
    drawn = [rng.permutation(np.flatnonzero(free & (code == k)))[:n] for k, n in enumerate(taken)]
    return rng.permutation(np.concatenate(drawn)).astype(np.intp), share


def _settles(open_gates: Sequence[VerdictRow], whole: Codes, spread: Floats, share: Floats, have: int) -> list[str]:
    size, squares = whole / whole.sum(), spread**2
    within = squares * (1 - squares)  # the mean of a group's differences is no error of a mean over groups
    lines = []
    for verdict in open_gates:
        gate, label, remedy = verdict["gate"], verdict["label"] or verdict["gate"], verdict["remedy"]
        if not (remedy and remedy["needed"] and remedy["observed"]):
            lines.append(f"  {label}: more labels alone would not settle it, its value lies at the limit")
            continue
        more = remedy["needed"] - remedy["observed"]
        each = within if gate in ("human_offset", "share_bias") else squares
        ratio = min(1.0, float((size**2 * each / share).sum() / (size * squares).sum()))
        chosen = max(0.0, (have + more) * ratio - have) if gate in WEIGHED else more
        by_lot = f", in random order about {rounded(more)}" if ratio < 1 and gate in WEIGHED else ""
        lines.append(f"  {label}: about {rounded(max(chosen, 1))} more labels would settle it{by_lot}")
    return lines


def _rows(
    panel: FilePanel, given: Answers, chosen: Codes, names: NDArray[np.object_], judge: str, people: Sequence[str],
    by_group: bool,
) -> pd.DataFrame:  # fmt: skip
    items, targets = np.array(given.items, dtype=object)[chosen], np.array(given.targets, dtype=object)[chosen]
    number = {name: f"group {k}" for k, name in enumerate(sorted(set(names.tolist())), 1)}  # who labels is not told
    groups = [number[name] for name in names[chosen]] if by_group else ""
    rows = pd.DataFrame(dict(zip(HEAD, (items, targets, groups, judge), strict=True)))
    if (column := panel.mapping.text) and column in panel.raw.frame:
        rows["text"] = panel.cells_of(column, pd.MultiIndex.from_arrays([items, targets]))
    for name in people:
        rated = np.isfinite(given.rated[given.people.index(name)]).any(axis=1) if name in given.people else None
        rows[name] = "" if rated is None else np.where(rated[chosen], DONE, "")
    return rows


def write_people_list(panel: FilePanel, path: Path, bound: float) -> list[str]:
    """Write the texts that a judge may not decide alone at an error rate of `bound`, the least sure first, but for
    those that people rated, and from which confidence on it may. `RecuseError` without people, and for label lists."""
    ratings, rows, lines = panel.ratings, [], []
    if not ratings.persons:
        raise RecuseError(f"{panel.path}: nobody rated anything, so no error is known; add labels of some texts")
    if are_chosen(ratings):
        raise RecuseError("what may be left to a judge is shown by labels in random order; leave the label lists out")
    for criterion in ratings.headline:
        several = (criterion,) if len(ratings.headline) > 1 else ()
        about = ratings.with_criterion(criterion) if several else ratings
        shares, briers = delegable_share(about, bound=bound), brier_score(about)
        for names, part in about.each(*COMPARED):
            answers, rated = answers_against_truth(part, about), answers_of(part, about).raters > 0
            for k, judge in enumerate(answers.judges):
                estimate, brier = shares[judge, *names], briers.get((judge, *names))
                sure, by = confidence_of(answers, k)
                threshold = safe_from(answers, k, estimate)
                there, answered = answers.requested[k], np.isfinite(answers.judged[k]).any(axis=1)
                alone = np.isfinite(sure) & (sure >= threshold) & answered
                who = f"{', '.join((judge, *several, *names))} may decide"
                errors = f"{percent(bound)} errors" + (f" by {RIGHT_ANSWERS}" if answers.right else "")
                if threshold < np.inf:
                    share = f"{rate(float(alone[there].mean()))} of the texts"
                    sure_of = f"with at most {errors}, which holds with 95 % confidence"
                    lines.append(f"{who} alone from {threshold:.3g} on ({by}): {share}, {sure_of}.")
                else:
                    why = estimate.note.removeprefix("nothing: ").removeprefix("nothing yet: ")
                    groups, needed = estimate.detail.get("groups"), estimate.detail.get("labels_needed")
                    if groups and needed is not None:
                        labels, errors_there = groups[0]["labels"], percent(groups[0]["errors"])
                        why = f"of its surest {labels} labelled texts {errors_there} are errors, and {needed} labels of"
                        why += " such texts would be needed"
                    lines.append(f"{who} nothing alone at {errors}: {why}.")
                if brier is not None and brier.defined:  # how sure it says it is, beside how often it is right
                    d = brier.detail
                    cells = [f"{b['from']:.1f}-{b['to']:.1f}: {b['right']:.2f} ({b['n']})" for b in d["reliability"]]
                    lines += [
                        f"  says it is right in {rate(d['says'])} and is in {rate(d['right'])}; Brier {brier.value:.3f}"
                        f", ECE {d['ece']:.3f} (of perfect confidence {d['ece_of_chance']:.3f})",
                        f"  right by its confidence: {', '.join(cells)}",
                    ]
                sent = np.flatnonzero(there & ~alone)
                sent = sent[~rated[sent]]  # what a judge was asked about comes first in both
                for u in sent[np.argsort(np.nan_to_num(sure[sent], nan=-np.inf), kind="stable")]:
                    why = "not sure enough" if answered[u] else "no answer"
                    shown = f"{sure[u]:.4g}" if np.isfinite(sure[u]) else ""
                    rows.append((judge, criterion, answers.items[u], answers.targets[u], shown, why))
    write_table(path, TO_PEOPLE, rows, is_people_list)
    return [f"{of_units(len(rows), 'answers')} that nobody rated and people have to look at: {path}", *lines]
