"""What a judge may not decide alone: `recuse check FILE --to-people to_people.csv --errors 0.05`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recuse.metrics.delegation import brier_score, confidence_of, delegable_share, safe_from
from recuse.ratings.answers import COMPARED, answers_against_truth, answers_of
from recuse.ratings.text_slices import are_chosen
from recuse.readers.file_ratings import FilePanel
from recuse.schema import Estimate, RecuseError
from recuse.schema.number_text import of_units, percent, rate
from recuse.schema.vocabulary import RIGHT_ANSWERS
from recuse.security.files import begins_with, write_table

HEAD = ("judge", "criterion", "item", "system", "confidence", "why")
is_people_list = begins_with(",".join(HEAD))


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
                    lines.append(
                        f"{who} alone from {threshold:.3g} on ({by}): {share}, with at most {errors}, which holds with "
                        "95 % confidence."
                    )
                else:
                    lines.append(f"{who} nothing alone at {errors}: {_why_not(estimate)}.")
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
    write_table(path, HEAD, rows, is_people_list)
    return [f"{of_units(len(rows), 'answers')} that nobody rated and people have to look at: {path}", *lines]


def _why_not(estimate: Estimate) -> str:
    groups, needed = estimate.detail.get("groups"), estimate.detail.get("labels_needed")
    if not groups or needed is None:
        return estimate.note.removeprefix("nothing: ").removeprefix("nothing yet: ")
    first = groups[0]
    return (
        f"of its surest {first['labels']} labelled texts {percent(first['errors'])} are errors, and {needed} labels of "
        "such texts would be needed"
    )
