"""The command `recuse`: check a file of ratings, compare judges, start a repository, show what a run found."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NoReturn, TextIO, cast

from recuse import __version__
from recuse.experiments.arguments import add_simulations
from recuse.git.pull_request import add_comment
from recuse.git.trend import add_trend
from recuse.run.show import add_show

__all__ = ["main"]

OVERRIDES = (
    ("item", "COLUMN", "what was judged"),
    ("target", "COLUMN", "the system whose output it is (also --system)"),
    ("rater", "COLUMN", "who judged, where one column says so"),
    ("value", "COLUMN", "the rating; several with commas, each a criterion"),
    ("people", "A,B", "raters that are people"),
    ("judges", "A,B", "raters that are judges (also --judge)"),
    ("criterion", "COLUMN", "on which criterion"),
    ("cluster", "COLUMN", "what items share: a topic, a conversation"),
    ("count", "COLUMN", "how many items a row stands for"),
    ("text", "COLUMN", "the text that was judged"),
    ("repeat", "COLUMN", "which of the times the judge was asked"),
    ("gold", "COLUMN", "the right answer"),
    ("author", "COLUMN", "who wrote the text"),
    ("reason", "COLUMN", "the judge's own words"),
    ("first", "COLUMN", "of a pair, what was shown first"),
    ("second", "COLUMN", "of a pair, what was shown second"),
    ("factors", "A,B", "columns that say what was varied on purpose"),
    ("ignore", "A,B", "columns to leave alone"),
    ("positive", "OPTION", "the option that is the property looked for, such as toxic or fail"),
    ("scale", "SCALE", "1-5, 'fail<pass' (worst first), 'a,b,c' (no order), 'a|b|c' (sets)"),
    ("same", "A=B,C=D", "answers that say the same: A is read as B"),
    ("rates", "FILE", "ratings are levels of risk or the like: item and true value (.csv), or rates (.toml)"),
    ("sampled", "", "judges were asked about samples: a text without a row is no unanswered one"),
)
USE = "what the judges are used for: grade, decide, choose, rank, estimate, or none (only measured); several: A,B"
OTHER_NAMES = {"target": ["--system"], "judges": ["--judge"]}


def main(argv: Sequence[str] | None = None) -> int:
    """The console script; returns the exit code. Mistakes are told on stderr in one line, never as a traceback."""
    arguments = _parser().parse_args(argv)
    from recuse.schema import RecuseError

    try:
        with redirect_stdout(cast("TextIO", _Unheard(sys.stdout))):
            code: int = arguments.run(arguments)
            sys.stdout.flush()
    except RecuseError as error:
        print(f"recuse: {error}", file=sys.stderr)
        return 3
    except MemoryError as error:
        print(f"recuse: out of memory ({error}); give fewer rows, or fewer repeats of one text", file=sys.stderr)
        return 3
    except Exception:  # a fault of ours: Python's own exit code would be 1, which says that a judge is not cleared
        traceback.print_exc()
        return 3
    return code


class _Parser(argparse.ArgumentParser):
    """Arguments that cannot be read end as a file that cannot: 2 would say that a judge is undecided."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(3, f"{self.prog}: {message}\n")


class _Unheard:
    """Standard output whose reader may leave early (`| head`): the verdict, and so the exit code, stays what it is."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str) -> int:
        try:
            self._out.write(text)
        except BrokenPipeError:
            self._drop()
        return len(text)

    def flush(self) -> None:
        try:
            self._out.flush()
        except BrokenPipeError:
            self._drop()

    def _drop(self) -> None:
        """What is still buffered goes nowhere, now and when Python ends."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._out.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="recuse", description="May an LLM judge be trusted?")
    parser.add_argument("--version", action="version", version=f"recuse {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    check = commands.add_parser(
        "check", help="does a judge agree with people? From a file of ratings you already have",
        description="Reads ratings (CSV, TSV, JSON lines, JSON, Parquet, logs of other tools; packed or not) and says "
        "whether the judges in it may be trusted. Exit code: 0 cleared, 1 not cleared, 2 undecided, 3 could not read.",
    )  # fmt: skip
    check.add_argument(
        "files", type=Path, metavar="FILE", nargs="+", help="ratings; of several, each is a newer version of the judges"
    )
    check.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page of its own")
    check.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    check.add_argument("--disagreements", type=Path, metavar="FILE", help="write the cases worth reading as CSV")
    check.add_argument(
        "--next-labels", nargs=2, metavar=("N", "NEXT"),
        help="write the N texts to label next as CSV; filled in, it is read as recuse check FILE NEXT",
    )
    check.add_argument(
        "--to-people", type=Path, metavar="FILE", help="write the texts that a judge may not decide alone as CSV"
    )
    check.add_argument(
        "--errors", type=float, default=0.05, metavar="SHARE", help="errors that --to-people allows a judge (0.05)"
    )
    check.add_argument("--save", action="store_true", help="keep what was read as what in FILE.recuse.toml")
    check.add_argument("--use", default="", metavar="USE", help=USE)
    check.add_argument("--all", action="store_true", help="print every number, not only those that decide")
    check.add_argument("--reader", default="", help="name of the reader, or the dotted name of your own")
    check.add_argument("--raters", action="store_true", help="each FILE holds the ratings of one rater, named as it is")
    check.add_argument("--threshold", metavar="NUMBER", default="", help="from this score on a text counts as positive")
    _add_overrides(check)
    check.set_defaults(run=_check)
    _add_compare(commands)
    choose = commands.add_parser(
        "choose", help="which of several judges or prompts, and is a cheaper one good enough?",
        description="Of the judges of a file the best for a use, by their errors against people on the same texts, "
        "with its chance to be the best, and what a judgement costs (columns cost, or JUDGE_cost).",
    )  # fmt: skip
    choose.add_argument("file", type=Path, metavar="FILE|PANEL", help="ratings by judges and people, or a panel")
    choose.add_argument("--use", default="", metavar="USE", help="decide, grade, choose, rank or estimate")
    choose.add_argument("--threshold", metavar="NUMBER", default="", help="to decide: the score that passes")
    choose.add_argument("--tau", type=float, default=0.5, metavar="SHARE", help="to decide: by so many people (0.5)")
    choose.add_argument("--task", default="", metavar="TASK", help="of a panel with several: TASK or TASK/PROTOCOL")
    choose.add_argument("--budget", type=int, metavar="N", help="ratings that people can give: how many per text?")
    choose.add_argument("--reader", default="", help="name of the reader, or the dotted name of your own")
    _add_overrides(choose)
    choose.set_defaults(run=_choose)
    weeks = commands.add_parser(
        "weeks", help="other texts each week: has anything changed, and is it the judge or the system?",
        description="A control chart of a judge's share of one answer and of its agreement with people, week by week. "
        "Exit code: 1 the last week has changed, 2 too few weeks to tell, 0 neither.",
    )  # fmt: skip
    weeks.add_argument("file", type=Path, metavar="FILE", help="ratings of all weeks")
    weeks.add_argument("--week", required=True, metavar="COLUMN", help="the column that names the week, or any period")
    weeks.add_argument("--reader", default="", help="name of the reader, or the dotted name of your own")
    _add_overrides(weeks)
    weeks.set_defaults(run=_weeks)
    rank = commands.add_parser(
        "rank", help="systems ranked by pairs: by people, by each judge, and what a judge moves",
        description="Bradley-Terry strengths of systems from choices between two texts, with intervals.",
    )  # fmt: skip
    rank.add_argument("file", type=Path, metavar="FILE", help="pairs of systems, judged by people, judges or both")
    rank.add_argument("--reader", default="", help="name of the reader, or the dotted name of your own")
    _add_overrides(rank)
    rank.set_defaults(run=_rank)
    init = commands.add_parser("init", help="a repository with the shipped questions, for a file or an endpoint")
    init.add_argument("folder", type=Path, nargs="?", default=Path("."), metavar="FOLDER")
    init.add_argument("--ratings", type=Path, metavar="FILE", help="ratings that you already have")
    init.add_argument("--from", dest="log", type=Path, metavar="LOG", help="ask the judge about the texts of this log")
    init.add_argument("--use", default="", metavar="USE", help=USE)
    init.add_argument("--endpoint", default="", metavar="URL", help="address of a judge that speaks the OpenAI format")
    init.add_argument("--model", default="", help="the judge's model at the endpoint")
    init.add_argument("--protocol", default="", help="how it is asked, instead of rubric: merg")
    init.add_argument("--action", default="", metavar="ADDRESS", help="where the action is: OWNER/NAME/PATH@VERSION")
    init.add_argument("--adopt", action="store_true", help="add to an existing repository; nothing is overwritten")
    init.set_defaults(run=_init)
    add_simulations(commands)
    add_comment(commands)
    generate = commands.add_parser(
        "generate", help="a panel's models write, and judge what they wrote",
        description="Records what the models of a panel write, makes items-PANEL.jsonl of it, and records the judges "
        "of those items. Costs are said first; nothing beyond the panel's budget is asked without --yes.",
    )  # fmt: skip
    generate.add_argument("panel", metavar="PANEL", help="the panel file")
    generate.add_argument("--yes", action="store_true", help="go beyond the panel's budget")
    generate.set_defaults(run=_generate)
    add_show(commands)
    add_trend(commands)
    _add_experiments(commands)
    return parser


def _add_overrides(command: argparse.ArgumentParser) -> None:
    for name, metavar, words in OVERRIDES:
        kind: dict[str, Any] = {"metavar": metavar, "default": ""} if metavar else {"action": "store_true"}
        command.add_argument(f"--{name}", *OTHER_NAMES.get(name, ()), help=words, **kind)


def _add_compare(commands: Any) -> None:
    compare = commands.add_parser(
        "compare", help="may one judge replace another?",
        usage="recuse compare [options] FILE [FILE] [JUDGE_IN_USE CANDIDATE]",
        description="Two judges of a file of ratings, of two files, of a panel or of two panels, on the same texts: "
        "recuse compare FILE JUDGE_IN_USE CANDIDATE, or recuse compare BEFORE AFTER. Exit code: 0 may replace, 1 may "
        "not, 2 undecided, 3 could not compare.",
    )  # fmt: skip
    compare.add_argument("what", nargs="+", metavar="FILE", help="one file or two, then two judges where not clear")
    compare.add_argument("--gates", type=Path, metavar="FILE", help="limits; evals/gates.toml or the shipped ones")
    compare.add_argument(
        "--change", default="", metavar="A,B", help="what is changed on purpose: model, prompt, rubric, sampling"
    )
    compare.add_argument("--threshold", default="", metavar="A,B", help="scores from which on you decide otherwise")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page of its own")
    compare.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    compare.add_argument("--reader", default="", help="name of the reader, or the dotted name of your own")
    _add_overrides(compare)
    compare.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    from recuse.readers.file_ratings import score_of
    from recuse.upgrade.compare_command import run_compare

    return run_compare(
        arguments.what, _given(arguments), gates=arguments.gates, change=_listed(arguments.change),
        thresholds=[score_of(text) for text in _listed(arguments.threshold)],
        reader=arguments.reader, html=arguments.html, json=arguments.json,
    )  # fmt: skip


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _add_experiments(commands: Any) -> None:
    studies = commands.add_parser("experiment", help="simulations whose truth is known").add_subparsers(
        metavar="STUDY", required=True
    )
    selection = studies.add_parser(
        "selection", help="which judge each measure of agreement chooses without gold labels, and how good it is",
        description="Draws people and judges from a rating model and shows which judge each measure chooses.",
    )  # fmt: skip
    selection.add_argument("--trials", type=int, default=100, metavar="N", help="simulated trials per setting (100)")
    selection.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed gives the same numbers (1)")
    selection.add_argument(
        "--workers", type=int, default=None, metavar="N", help="processes (as many as cores, 2 at most)"
    )
    selection.add_argument("--html", type=Path, metavar="FILE", help="write the figures as a page")
    selection.set_defaults(run=_selection)


def _selection(arguments: argparse.Namespace) -> int:
    from recuse.papers.indeterminacy.selection_report import selection

    return selection(trials=arguments.trials, seed=arguments.seed, workers=arguments.workers, html=arguments.html)


def _check(arguments: argparse.Namespace) -> int:
    from recuse.check.check_command import run_check

    return run_check(
        arguments.files, _given(arguments, "use", "threshold"), reader=arguments.reader, html=arguments.html,
        json=arguments.json, disagreements=arguments.disagreements, next_list=arguments.next_labels,
        to_people=arguments.to_people, errors=arguments.errors, save=arguments.save,
        everything=arguments.all, raters=arguments.raters,
    )  # fmt: skip


def _choose(arguments: argparse.Namespace) -> int:
    from recuse.check.choose_command import run_choose

    return run_choose(
        arguments.file, _given(arguments, "reader", "threshold"), use=arguments.use, budget=arguments.budget,
        tau=arguments.tau, task=arguments.task,
    )  # fmt: skip


def _weeks(arguments: argparse.Namespace) -> int:
    from recuse.check.weeks_command import run_weeks

    return run_weeks(arguments.file, _given(arguments, "reader"), arguments.week)


def _rank(arguments: argparse.Namespace) -> int:
    from recuse.check.rank_command import run_rank

    return run_rank(arguments.file, _given(arguments, "reader"))


def _given(arguments: argparse.Namespace, *more: str) -> dict[str, Any]:
    """What was said of the columns, and these options."""
    return {name: getattr(arguments, name) for name in (*more, *(name for name, _, _ in OVERRIDES))}


def _generate(arguments: argparse.Namespace) -> int:
    from recuse.run.generate_command import generate

    return generate(arguments.panel, yes=arguments.yes)


def _init(arguments: argparse.Namespace) -> int:
    from recuse.starting.init_command import init

    return init(
        arguments.folder, ratings=arguments.ratings, log=arguments.log, endpoint=arguments.endpoint,
        model=arguments.model, protocol=arguments.protocol, action=arguments.action, adopt=arguments.adopt,
        use=arguments.use,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
