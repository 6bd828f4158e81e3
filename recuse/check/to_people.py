"""What a judge may decide alone, and the texts that go to people: `recuse check FILE --to-people PEOPLE.csv`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from recuse.metrics.confidence import brier_score
from recuse.metrics.delegation import confidence_of, delegable_share, safe_from
from recuse.ratings.answers import COMPARED, answers_of
from recuse.ratings.label_groups import are_chosen
from recuse.readers.file_panel import FilePanel
from recuse.schema import RecuseError
from recuse.schema.number_text import percent
from recuse.security.files import begins_with, write_output
from recuse.security.sanitize import safe_cell

HEAD = ("judge", "item", "system", "confidence", "why")
is_list = begins_with(",".join(HEAD))


def list_for_people(panel: FilePanel, path: Path, bound: float) -> Iterator[str]:
    """Write the texts that a judge may not decide alone at an error rate of `bound`, the least sure first, and say in
    words, judge by judge, from which confidence on it may. Texts that people have rated are not listed. Raises
    `RecuseError` where nobody rated anything, and where labels were chosen by group."""
    import pandas as pd

    ratings, rows = panel.ratings, []
    if not ratings.persons:
        raise RecuseError(f"{panel.path}: nobody rated anything, so no error is known; add labels of some texts")
    if are_chosen(ratings):
        raise RecuseError("what may be left to a judge is shown by labels in random order; leave the label lists out")
    for criterion in ratings.headline:
        about = ratings.with_criterion(criterion) if len(ratings.headline) > 1 else ratings
        shares, briers = delegable_share(about, bound=bound), brier_score(about)
        for names, part in about.each(*COMPARED):
            answers = answers_of(part, about)
            for k, judge in enumerate(answers.judges):
                estimate = shares[judge, *names]
                sure, by = confidence_of(answers, k)
                threshold = safe_from(answers, k, estimate)
                where = ", ".join((judge, *names))
                there = answers.requested[k]
                alone = np.isfinite(sure) & (sure >= threshold)
                if threshold < np.inf:
                    share = f"{100 * float(alone[there].mean()):.0f} % of the texts"
                    yield (
                        f"{where} may decide alone from {threshold:.3g} on ({by}): {share}, with at most "
                        f"{percent(bound)} errors, which holds with 95 % confidence."
                    )
                else:
                    yield f"{where} may decide nothing alone at {percent(bound)} errors: {estimate.note}."
                if (judge, *names) in briers and (brier := briers[judge, *names]).defined:
                    d = brier.detail
                    yield (
                        f"  says it is right in {100 * d['says']:.0f} % and is in {100 * d['right']:.0f} %; "
                        f"Brier {brier.value:.3f}, ECE {d['ece']:.3f} (of perfect confidence {d['ece_of_chance']:.3f})"
                    )
                    cells = [f"{b['from']:.1f}-{b['to']:.1f}: {b['right']:.2f} ({b['n']})" for b in d["reliability"]]
                    yield f"  right by its confidence: {', '.join(cells)}"
                sent = np.flatnonzero(there & ~alone & (answers.raters == 0))
                for u in sent[np.argsort(np.nan_to_num(sure[sent], nan=-np.inf), kind="stable")]:
                    answered = np.isfinite(answers.judged[k, u]).any()
                    why = "not sure enough" if answered else "no answer"
                    shown = f"{sure[u]:.4g}" if np.isfinite(sure[u]) else ""
                    rows.append((judge, answers.items[u], answers.targets[u], shown, why))
    table = pd.DataFrame(rows, columns=list(HEAD)).map(lambda cell: safe_cell(str(cell)))
    stream = io.StringIO()
    table.to_csv(stream, index=False, lineterminator="\r\n")
    write_output(path, stream.getvalue(), is_list, "utf-8-sig")
    yield f"{len(rows)} answers that people have to look at: {path}"
