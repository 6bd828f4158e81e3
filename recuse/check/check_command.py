"""`recuse check` from arguments to exit code: reads, asks, prints, and writes what was asked for. The same decision
in Python: `check`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Unpack

from recuse.check import text_lists
from recuse.check.check_text import AGREEMENT, full_text, short_text
from recuse.check.disagreements import counts_in_words
from recuse.experiments.drawn_judges import chances_of
from recuse.gates import Decision
from recuse.gates.decision import EXIT
from recuse.ratings import Ratings
from recuse.ratings.needs import check_for_judges
from recuse.ratings.pass_rate_ranges import pass_rate_ranges
from recuse.readers.column_names import as_typed
from recuse.readers.file_panel import ReadOptions, load_versions, panel_of, read
from recuse.readers.filled_lists import beginning_of, check_named, is_review, read_review
from recuse.readers.formats import RatingsSource
from recuse.readers.mapping import save_mapping
from recuse.report import readings
from recuse.run.run import ask_shipped
from recuse.run.show import check_outputs, write_results
from recuse.schema import RecuseError
from recuse.schema.number_text import fitting
from recuse.schema.vocabulary import UNDECIDED
from recuse.security.files import check_output
from recuse.security.sanitize import visible

PATIENCE = 2.0  # seconds after which somebody at a terminal wants to know how far it is
LARGE = 10_000_000  # bytes that take about as long to read
MOST_LINES = 16  # lines of the terminal about a list of texts, without --all


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
    panel = panel_of(ratings, use)
    check_for_judges(panel.ratings, panel.path)
    return ask_shipped(panel, gates)[0].decision


def run_check(
    files: Sequence[Path], given: Mapping[str, Any], *, reader: str = "", html: Path | None = None,
    json: Path | None = None, disagreements: Path | None = None, next_list: Sequence[str] | None = None,
    to_people: Path | None = None, errors: float = 0.05,
    save: bool = False, everything: bool = False, raters: bool = False,
) -> int:  # fmt: skip
    """The exit code: 0 cleared, 1 not cleared, 2 undecided. Several files are versions of one judge, the oldest first,
    or with `raters` each of one rater; a review is read back. `RecuseError` for what cannot be read."""
    if is_review(beginning_of(files[-1])):
        print("\n".join(read_review(files[-1])))
        print("Cases chosen for their disagreement say who errs, not how often: they clear nobody.")
        return EXIT[UNDECIDED]
    named = " ".join(quote(str(one)) for one in files)
    typed = as_typed({"raters": raters, "reader": reader, **given})
    lists = text_lists.lists_to_write(next_list, to_people, disagreements, errors, named, typed)
    check_outputs(json, html)
    for listed in lists:
        check_output(listed.path, listed.is_ours)
    if sys.stderr.isatty() and (size := sum(path.stat().st_size for path in files if path.is_file())) > LARGE:
        print(f"reading {size / 1e6:,.0f} MB", file=sys.stderr)
    panel = load_versions(files, raters=raters, reader=reader, **given)
    if lists:
        check_named(panel)
    saved = save_mapping(panel.mapping, panel.path) if save else ""
    if saved and not panel.judges:  # is refused below, and is what `recuse init --from` needs of people's labels
        print(saved)
    check_for_judges(panel.ratings, panel.path)
    whole = everything or html is not None or json is not None
    ranges = [*pass_rate_ranges(panel.ratings)] if whole and panel.kind == "scores" else []
    answers, gates, questions = ask_shipped(panel, patience=PATIENCE, deciding=not whole)
    chances = chances_of(answers, gates, questions, always=everything)
    in_words = [*readings(answers.results, AGREEMENT)] if everything else []
    compared = panel.ratings.persons and not (disagreements or panel.is_counted)
    differing = counts_in_words(panel.ratings) if compared else ""
    if everything:
        print(full_text(answers, chances, ranges, in_words, file=named + typed, disagreements=differing))
    else:
        print(short_text(answers, chances, file=named + typed, disagreements=differing, listed=bool(lists)))
    for listed in lists:
        lines = listed.write(answers)
        shown = lines if everything else fitting(lines, MOST_LINES, "more lines; --all prints them")
        print("\n" + "\n".join(map(visible, shown)))
    if saved:
        print(f"\n{saved}")
    write_results({**answers.results, "underspecified": ranges}, json, html)
    return answers.decision.exit_code
