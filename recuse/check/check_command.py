"""`recuse check` from arguments to exit code: reads, asks, prints, and writes what was asked for. The same decision
in Python: `check`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from math import inf
from pathlib import Path
from shlex import quote
from typing import Any, Unpack

from recuse.check import text_lists
from recuse.check.check_text import full_text, short_text
from recuse.check.disagreements import in_words, is_review, pass_rate_ranges, read_review, write_disagreements
from recuse.check.drawn_judges import chance_of_clearance
from recuse.gates import Decision, Gates
from recuse.gates.decision import EXIT
from recuse.ratings import Ratings
from recuse.ratings.needs import check_for_judges
from recuse.readers.column_names import as_typed
from recuse.readers.file_panel import ReadOptions, load_versions, panel_of, read
from recuse.readers.file_ratings import FilePanel
from recuse.readers.formats import FOLDED, RatingsSource
from recuse.readers.mapping import saved_path
from recuse.recording.progress import watched
from recuse.run.run import FileRun, ask_file
from recuse.run.show import check_outputs, write_results
from recuse.schema import RecuseError
from recuse.schema.number_text import fitting
from recuse.schema.vocabulary import UNDECIDED
from recuse.security.files import beginning_of, check_output, write_output
from recuse.security.sanitize import visible
from recuse.suite.question_runner import Question, read_evals, shipped_evals

PATIENCE = 2.0  # seconds after which somebody at a terminal wants to know how far it is
LARGE = 10_000_000  # bytes that take about as long to read
MOST_LINES = 16  # lines of the terminal about a list of texts, without --all
MOST_DRAWN = 2_000  # texts beyond which judges are not drawn: that many are seldom too few, and it would take seconds


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
    """The exit code: 0 cleared, 1 not cleared, 2 undecided. Several files are versions of one judge, the oldest first,
    or with `raters` each of one rater; a review is read back. `RecuseError` for what cannot be read."""
    labels = [path for path in files if text_lists.is_label_list(beginning_of(path))]
    files = [path for path in files if path not in labels]
    if not files:
        raise RecuseError(f"{labels[0]} holds labels; give their file as well: recuse check FILE {labels[0]}")
    if is_review(beginning_of(files[-1])):
        print("\n".join(read_review(files[-1])))
        print("Cases chosen for their disagreement say who errs, not how often: they clear nobody.")
        return EXIT[UNDECIDED]
    named = " ".join(quote(str(one)) for one in (*files, *labels))
    options = as_typed({"raters": raters, "reader": reader, **given})
    typed = named + options
    # per option that lists texts: its file, whether a text was written by it, and what writes it and returns lines
    lists: list[tuple[Path, Callable[[str], bool], Callable[[FileRun], Sequence[str]]]] = []
    if next_list:
        if not next_list[0].isdigit():
            raise RecuseError(f"--next-labels takes how many texts and a file, as 60 next.csv; got {next_list[0]!r}")
        count, path = int(next_list[0]), Path(next_list[1])
        both = f"{named} {quote(str(path))}{options}"
        lists.append((path, text_lists.is_blank_list, lambda run: text_lists.write_next_labels(run, count, both, path)))
    if to_people:
        lists.append(
            (
                to_people,
                text_lists.is_people_list,
                lambda run: text_lists.write_people_list(run.panel, to_people, errors),
            )
        )
    if disagreements:
        lists.append((disagreements, is_review, lambda run: write_disagreements(run.panel, disagreements)))
    check_outputs(json, html)
    for listed, is_ours, _ in lists:
        check_output(listed, is_ours)
    panel = _read(files, labels, raters=raters, reader=reader, lists=bool(lists), **given)
    mapping, saved = panel.mapping.toml(), saved_path(files[-1])
    if save:
        for line in saved.read_text(encoding="utf-8").splitlines() if saved.is_file() else ():
            if line.strip() and line not in mapping.splitlines():  # it may have been changed by hand
                gone = f"--save would take out of {saved}: {line}"
                raise RecuseError(f"{gone}\nChange that file by hand, or delete it first")
        if not panel.judges:  # is refused below, and is what `recuse init --from` needs of people's labels
            write_output(saved, mapping, bool)
            print(f"Saved what was read as what: {saved}")
    whole = everything or html is not None or json is not None
    answers, gates, questions = _decide(panel, patience=PATIENCE, deciding=not whole)
    chances = _chances(answers, gates, questions, everything=everything)
    ranges = [*pass_rate_ranges(panel.ratings)] if whole and panel.kind == "scores" else []
    compared = panel.ratings.persons and not (disagreements or _is_counted(panel))
    differing = in_words(panel.ratings) if compared else ""
    if everything:
        print(full_text(answers, chances, ranges, file=typed, disagreements=differing))
    else:
        print(short_text(answers, chances, file=typed, disagreements=differing, listed=bool(lists)))
    for *_, write in lists:
        lines = write(answers)
        shown = lines if everything else fitting(lines, MOST_LINES, "more lines; --all prints them")
        print("\n" + "\n".join(map(visible, shown)))
    if save:
        write_output(saved, mapping, bool)
        print(f"\nSaved what was read as what: {saved}")
    write_results({**answers.results, "underspecified": ranges}, json, html)
    return answers.decision.exit_code


def _is_counted(panel: FilePanel) -> bool:
    """Whether items are counted by their answers, and so have no names."""
    return panel.ratings.times is not None or panel.raw.made_by == FOLDED


def _read(files: Sequence[Path], labels: Sequence[Path], *, lists: bool, **given: Any) -> FilePanel:
    if sys.stderr.isatty() and (size := sum(path.stat().st_size for path in files if path.is_file())) > LARGE:
        print(f"reading {size / 1e6:,.0f} MB", file=sys.stderr)
    panel = load_versions(files, **given)
    if _is_counted(panel) and (lists or labels):
        counted = f"the items of {files[-1]} are counted by their answers and have no names"
        listing = "--disagreements, --next-labels and --to-people list texts"
        raise RecuseError(f"{counted}: {listing}. Give them a file with a row for each")
    return text_lists.with_labels(panel, labels) if labels else panel


def _decide(
    panel: FilePanel, limits: Path | str | None = None, *, patience: float = inf, deciding: bool = True
) -> tuple[FileRun, Gates, tuple[Question, ...]]:
    """The shipped questions, asked of the panel and held against the limits of a gates file; `deciding`: only those
    that the decision rests on. Who waits at a terminal for longer than `patience` seconds sees how many are asked."""
    check_for_judges(panel.ratings, panel.path)
    gates, questions = read_evals(shipped_evals(), date.today())
    if limits is not None:
        gates = Gates.load(Path(limits), today=date.today())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a degenerate table is told in words, not by numpy
        shown = watched(questions, len(questions), "questions asked:", patience)
        return ask_file(panel, gates, shown, deciding=deciding), gates, questions


def _chances(answers: FileRun, gates: Gates, questions: Sequence[Question], *, everything: bool) -> dict[str, float]:
    """How often one more person would be cleared, where too few texts may be why a judge is undecided; {}: unknown."""
    undecided = any(one.stated and one.word == UNDECIDED for one in answers.decision.judges)
    ratings = answers.panel.ratings
    if not (undecided or everything) or ratings.times or ratings.table["item"].nunique() > MOST_DRAWN:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return chance_of_clearance(answers.panel, gates, questions)
