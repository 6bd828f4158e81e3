"""`recuse check` from arguments to exit code: reads, asks, prints, and writes what was asked for. The same decision
in Python: `check`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import inf
from pathlib import Path
from shlex import quote
from typing import Any, Unpack

import numpy as np

from recuse.check.check_text import full_text, short_text
from recuse.check.disagreements import (
    count_disagreements,
    is_review,
    is_review_text,
    kinds_of_disagreement,
    read_review,
    write_disagreements,
)  # fmt: skip
from recuse.check.drawn_judges import chance_of_clearance
from recuse.check.next_labels import is_blank_list, is_label_list, next_labels, with_labels
from recuse.check.underspecified import pass_rate_ranges
from recuse.gates import Decision, Gates
from recuse.gates.decision import EXIT
from recuse.metrics.delegation import brier_score, confidence_of, delegable_share, safe_from
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, answers_of
from recuse.ratings.text_slices import are_chosen
from recuse.readers.file_panel import FilePanel, ReadOptions, load_versions, panel_of, read
from recuse.readers.formats import FOLDED, RatingsSource
from recuse.readers.mapping import saved_path
from recuse.recording.progress import watched
from recuse.run.run import FileRun, ask_file
from recuse.run.show import check_outputs, write_results
from recuse.schema import Estimate, RecuseError
from recuse.schema.number_text import fitting, percent, rate
from recuse.schema.vocabulary import UNDECIDED
from recuse.security.files import begins_with, check_output, write_output, write_table
from recuse.security.sanitize import visible
from recuse.suite.question_runner import Question, read_evals, shipped_evals


def check(
    ratings: Ratings | RatingsSource, *, gates: Path | str | None = None, **options: Unpack[ReadOptions]
) -> Decision:
    """Whether the judges of these ratings may be used, and for what: what `recuse check` decides of the same file.

    `gates`: a file of limits, the shipped one unless given. `options` as of `recuse.read`; of ratings that were read
    already, only `use`. Raises `RecuseError` for what cannot be read, and where there is no judge."""
    use = options.pop("use", ())
    if isinstance(ratings, Ratings) and options:
        raise RecuseError(f"{', '.join(options)}: give it to recuse.read, which made these ratings")
    ratings = ratings if isinstance(ratings, Ratings) else read(ratings, **options)
    return _decide(panel_of(ratings, use), gates)[0].decision


def run_check(
    files: Sequence[Path], given: Mapping[str, Any], *, reader: str = "", html: Path | None = None,
    json: Path | None = None, disagreements: Path | None = None, next_list: Sequence[str] | None = None,
    to_people: Path | None = None, errors: float = 0.05,
    save: bool = False, everything: bool = False, raters: bool = False,
) -> int:  # fmt: skip
    """The exit code: 0 cleared, 1 not cleared, 2 undecided. Several files are versions of one judge, the oldest first;
    the verdict is on the newest. With `raters`, each file holds the ratings of one rater. A file that `disagreements`
    wrote is read back: whom your verdicts side with. Raises `RecuseError` for what cannot be read."""
    lists, files = [path for path in files if is_label_list(path)], [path for path in files if not is_label_list(path)]
    if not files:
        raise RecuseError(f"{lists[0]} holds labels; give their file as well: recuse check FILE {lists[0]}")
    file = files[-1]
    if is_review(file):
        print("\n".join(review.sentence() for review in read_review(file)))
        print("Cases chosen for their disagreement say who errs, not how often: they clear nobody.")
        return EXIT[UNDECIDED]
    if next_list and not next_list[0].isdigit():
        raise RecuseError(f"--next-labels takes how many texts and a file, as 60 next.csv; got {next_list[0]!r}")
    check_outputs(json, html)
    check_output(disagreements, is_review_text)
    check_output(to_people, is_list)
    check_output(Path(next_list[1]) if next_list else None, is_blank_list)
    if sys.stderr.isatty() and (size := sum(path.stat().st_size for path in files if path.is_file())) > LARGE:
        print(f"reading {size / 1e6:,.0f} MB", file=sys.stderr)
    panel = load_versions(files, raters=raters, reader=reader, **given)
    counted = panel.ratings.times is not None or panel.read.raw.made_by == FOLDED
    if counted and (disagreements or next_list or to_people or lists):
        raise RecuseError(
            f"the items of {file} are counted by their answers and have no names: --disagreements, --next-labels "
            "and --to-people list texts. Give them a file with a row for each"
        )
    panel = with_labels(panel, lists) if lists else panel
    mapping = panel.read.mapping.toml()
    if save:
        _refuse_to_drop(saved_path(file), mapping)
    whole = everything or html is not None or json is not None
    answers, gates, questions = _decide(panel, patience=PATIENCE, deciding=not whole)
    chances = _chances(panel, answers, gates, questions, everything=everything)
    ranges = pass_rate_ranges(panel.ratings) if whole and panel.read.kind == "scores" else []
    compared = panel.read.ratings.persons and panel.read.kind == "scores" and not (disagreements or counted)
    count = count_disagreements(panel.read.ratings) if compared else None
    typed = " ".join(quote(str(one)) for one in (*files, *lists))
    print(
        full_text(answers, chances, ranges, file=typed, disagreements=count)
        if everything
        else short_text(
            answers, chances, file=typed, disagreements=count, listed=bool(next_list or to_people or disagreements)
        )
    )
    if next_list:
        to = Path(next_list[1])
        chosen = next_labels(answers, int(next_list[0]), typed, to)
        chosen.write(to)
        print("\n" + "\n".join(map(visible, chosen.lines)))
    if to_people:
        lines = list(list_for_people(panel, to_people, errors))
        shown = lines if everything else [*fitting(lines[:-1], 16, "more lines; --all prints them"), lines[-1]]
        print("\n" + "\n".join(map(visible, shown)))
    if save:
        write_output(saved_path(file), mapping, bool)
        print(f"\nSaved what was read as what: {saved_path(file)}")
    if disagreements:
        print(
            f"\n{write_disagreements(panel.read, disagreements)} disagreements: {disagreements}; fill in your_verdict"
        )
        print("\n".join(map(visible, kinds_of_disagreement(panel.read))))
    write_results({**answers.results, "underspecified": ranges}, json, html)
    return answers.decision.exit_code


def _refuse_to_drop(saved: Path, mapping: str) -> None:
    """Raises `RecuseError` where a line that stands in `saved` would go: it may have been changed by hand."""
    for line in saved.read_text(encoding="utf-8").splitlines() if saved.is_file() else ():
        if line.strip() and line not in mapping.splitlines():
            raise RecuseError(f"--save would take out of {saved}: {line}\nChange that file by hand, or delete it first")


def _decide(
    panel: FilePanel, limits: Path | str | None = None, *, patience: float = inf, deciding: bool = True
) -> tuple[FileRun, Gates, tuple[Question, ...]]:
    """The shipped questions, asked of the panel and held against the limits of a gates file; `deciding`: only those
    that the decision rests on. Who waits at a terminal for longer than `patience` seconds sees how many are asked."""
    if not panel.judges:
        people = f"only people ({', '.join(panel.ratings.persons) or 'none'})"
        raise RecuseError(f"{panel.path}: no judge was found in it, {people}; say who is one: --judge A,B")
    gates, questions = read_evals(shipped_evals(), date.today())
    if limits is not None:
        gates = Gates.load(Path(limits), today=date.today())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a degenerate table is told in words, not by numpy
        shown = watched(questions, len(questions), "questions asked:", patience)
        return ask_file(panel, gates, shown, deciding=deciding), gates, questions


def _chances(
    panel: FilePanel, answers: FileRun, gates: Gates, questions: Sequence[Question], *, everything: bool
) -> dict[str, float]:
    """How often one more person would be cleared, where `everything` is wanted or a judge is undecided, and so few
    texts are there that they may be why; {} where nobody knows."""
    undecided = any(one.stated and one.word == UNDECIDED for one in answers.decision.judges)
    ratings = panel.ratings
    if not (undecided or everything) or ratings.times or ratings.table["item"].nunique() > MOST_DRAWN:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return chance_of_clearance(panel, gates, questions)


PATIENCE = 2.0
"""Seconds after which somebody at a terminal wants to know how far it is."""
LARGE = 10_000_000
"""Bytes that take about as long to read."""
MOST_DRAWN = 2_000
"""Texts beyond which judges are not drawn: that many are seldom too few, and it would take seconds."""


# --------------------------------------------------------------------------- what a judge may decide alone

HEAD = ("judge", "item", "system", "confidence", "why")
is_list = begins_with(",".join(HEAD))


def list_for_people(panel: FilePanel, path: Path, bound: float) -> Iterator[str]:
    """Write the texts that a judge may not decide alone at an error rate of `bound`, the least sure first, and say in
    words, judge by judge, from which confidence on it may. Texts that people have rated are not listed. Raises
    `RecuseError` where nobody rated anything, and where labels were chosen by group."""
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
                answered = np.isfinite(answers.judged[k]).any(axis=1)
                alone = np.isfinite(sure) & (sure >= threshold) & answered
                if threshold < np.inf:
                    share = f"{rate(float(alone[there].mean()))} of the texts"
                    yield (
                        f"{where} may decide alone from {threshold:.3g} on ({by}): {share}, with at most "
                        f"{percent(bound)} errors, which holds with 95 % confidence."
                    )
                else:
                    yield f"{where} may decide nothing alone at {percent(bound)} errors: {_why_not(estimate)}."
                if (judge, *names) in briers and (brier := briers[judge, *names]).defined:
                    d = brier.detail
                    yield (
                        f"  says it is right in {rate(d['says'])} and is in {rate(d['right'])}; "
                        f"Brier {brier.value:.3f}, ECE {d['ece']:.3f} (of perfect confidence {d['ece_of_chance']:.3f})"
                    )
                    cells = [f"{b['from']:.1f}-{b['to']:.1f}: {b['right']:.2f} ({b['n']})" for b in d["reliability"]]
                    yield f"  right by its confidence: {', '.join(cells)}"
                sent = np.flatnonzero(there & ~alone & (answers.raters == 0))
                for u in sent[np.argsort(np.nan_to_num(sure[sent], nan=-np.inf), kind="stable")]:
                    why = "not sure enough" if answered[u] else "no answer"
                    shown = f"{sure[u]:.4g}" if np.isfinite(sure[u]) else ""
                    rows.append((judge, answers.items[u], answers.targets[u], shown, why))
    write_table(path, HEAD, rows, is_list)
    yield f"{len(rows)} answers that people have to look at: {path}"


def _why_not(estimate: Estimate) -> str:
    """Why no confidence is safe, in words."""
    groups, needed = estimate.detail.get("groups"), estimate.detail.get("labels_needed")
    if not groups or needed is None:
        return estimate.note.removeprefix("nothing: ").removeprefix("nothing yet: ")
    first = groups[0]
    return (
        f"of its surest {first['labels']} labelled texts {percent(first['errors'])} are errors, and {needed} labels of "
        "such texts would be needed"
    )
