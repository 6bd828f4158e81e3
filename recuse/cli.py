"""The command `recuse`: its subcommands, their options, and the function that each of them calls."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NoReturn, TextIO, cast

from recuse import __version__

__all__ = ["main"]
OVERRIDES = (
    ("item", "COLUMN", "what was judged"),
    ("target", "COLUMN", "the system whose output it is (also --system)"),
    ("rater", "COLUMN", "who judged, where one column says so"),
    ("value", "COLUMN", "the rating; several with commas, each a criterion"),
    ("people", "A,B", "raters that are people; a name with a comma in double quotes: '\"Berg, A\",B'"),
    ("judges", "A,B", "raters that are judges (also --judge); likewise"),
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
    ("encoding", "NAME", "in which the file's letters are written, such as shift_jis or windows-1251"),
    ("sampled", "", "judges were asked about samples: a text without a row is no unanswered one"),
)
OTHER_NAMES = {"target": ["--system"], "judges": ["--judge"]}

Option = tuple[tuple[str, ...], dict[str, Any]]
"""What `argparse` adds as an argument."""


def _option(*flags: str, **how: Any) -> Option:
    return flags, {"default": "", **how} if flags[0].startswith("--") and "action" not in how else how


def _file(*flags: str, **how: Any) -> Option:
    return flags, {"type": Path, "metavar": "FILE", **how}


def _number(flag: str, default: int, words: str) -> Option:
    return (flag,), {"type": int, "default": default, "metavar": "N", "help": f"{words} ({default})"}


COLUMNS = tuple(
    _option(f"--{name}", *OTHER_NAMES.get(name, ()), help=words,
            **({"metavar": metavar} if metavar else {"action": "store_true"}))
    for name, metavar, words in OVERRIDES
)  # fmt: skip
USE = _option("--use", metavar="USE", help="what the judges are used for: grade, decide, choose, rank, estimate, or "
              "none (only measured); several: A,B")  # fmt: skip
READER = _option("--reader", help="name of the reader, or the dotted name of your own")
PAGE = _file("--html", help="write the report as a page of its own")
JSON = _file("--json", help="write the results as JSON")
TABLES = (_file("--json", dest="to_json", help="write what is printed as JSON"),
          _file("--csv", dest="to_csv", help="write its rows as CSV"))  # fmt: skip
SIMULATION = (
    _file("--evals", metavar="FOLDER", help="evals and gates.toml (default: evals/)"),
    _number("--seed", 1, "seed of the simulation"), _number("--processes", 2, "processes"),
)  # fmt: skip


class Command:
    """`calls`: "module:function" below recuse/, imported when the command is given. `options` are that function's
    arguments, under the same names; those of `given` are handed to it together, as one mapping. `words`: of help."""

    def __init__(
        self, name: str, calls: str, help: str, description: str, *options: Option, given: Sequence[Option] = (),
        usage: str | None = None,
    ) -> None:  # fmt: skip
        self.name, self.calls, self.options, self.given = name, calls, options, given
        self.words: dict[str, Any] = {"help": help, "description": description or None, "usage": usage}


COMMANDS = (
    Command(
        "check", "check.check_command:run_check",
        "does a judge agree with people? From a file of ratings you already have",
        "Reads ratings (CSV, TSV, JSON lines, JSON, Parquet, logs of other tools; packed or not) and says "
        "whether the judges in it may be trusted. Exit code: 0 cleared, 1 not cleared, 2 undecided, 3 could not read.",
        _file("files", nargs="+", help="ratings; of several, each is a newer version of the judges"), PAGE, JSON,
        _file("--disagreements", help="write the cases worth reading as CSV"),
        _option("--next-labels", dest="next_list", nargs=2, metavar=("N", "NEXT"), default=None,
                help="write the N texts to label next as CSV; filled in, it is read as recuse check FILE NEXT"),
        _file("--to-people", help="write the texts that a judge may not decide alone as CSV"),
        _option("--errors", type=float, default=0.05, metavar="SHARE",
                help="errors that --to-people allows a judge (0.05)"),
        _option("--save", action="store_true", help="keep what was read as what in FILE.recuse.toml"),
        _option("--all", dest="everything", action="store_true", help="print every number, not only those that decide"),
        READER,
        _option("--raters", action="store_true",
                help="each FILE holds other raters' answers; one is named as it is"),
        given=(USE, _option("--threshold", metavar="NUMBER", help="from this score on a text counts as positive"),
               *COLUMNS),
    ),
    Command(
        "compare", "upgrade.compare_command:run_compare", "may one judge replace another?",
        "Two judges of a file of ratings, of two files, of a panel or of two panels, on the same texts: "
        "recuse compare FILE JUDGE_IN_USE CANDIDATE, or recuse compare BEFORE AFTER. Exit code: 0 may replace, 1 may "
        "not, 2 undecided, 3 could not compare.",
        _option("what", nargs="+", metavar="FILE", help="one file or two, then two judges where not clear"),
        _file("--gates", help="limits; those of the repository, or the shipped ones"),
        _option("--change", metavar="A,B", help="what is changed on purpose: model, prompt, rubric, sampling"),
        _option("--threshold", dest="thresholds", metavar="A,B", help="scores from which on you decide otherwise"),
        PAGE, JSON, READER,
        given=COLUMNS, usage="recuse compare [options] FILE [FILE] [JUDGE_IN_USE CANDIDATE]",
    ),
    Command(
        "choose", "check.choose_command:run_choose",
        "which of several judges or prompts, and is a cheaper one good enough?",
        "Of the judges of a file the best for a use, by their errors against people on the same texts, "
        "with its chance to be the best, and what a judgement costs (columns cost, or JUDGE_cost).",
        _file("file", metavar="FILE|PANEL", help="ratings by judges and people, or a panel"),
        _option("--use", metavar="USE", help="decide, grade, choose, rank or estimate"),
        _option("--tau", type=float, default=0.5, metavar="SHARE", help="to decide: by so many people (0.5)"),
        _option("--task", metavar="TASK", help="of a panel with several: TASK or TASK/PROTOCOL"),
        _option("--budget", type=int, default=None, metavar="N",
                help="ratings that people can give: how many per text?"),
        *TABLES,
        given=(READER, _option("--threshold", metavar="NUMBER", help="to decide: the score that passes"), *COLUMNS),
    ),
    Command(
        "weeks", "check.weeks_command:run_weeks",
        "other texts each week: has anything changed, and is it the judge or the system?",
        "A control chart of a judge's share of one answer and of its agreement with people, week by week. "
        "Exit code: 1 the last week has changed, 2 too few weeks to tell, 0 neither.",
        _file("files", nargs="+", help="ratings of all weeks, or a file for each"),
        _option("--week", metavar="COLUMN", help="the column that names the week, or any period"), *TABLES,
        given=(READER, *COLUMNS),
    ),
    Command(
        "rank", "check.rank_command:run_rank",
        "systems ranked by pairs: by people, by each judge, and what a judge moves",
        "Bradley-Terry strengths of systems from choices between two texts, with intervals.",
        _file("file", help="pairs of systems, judged by people, judges or both"), *TABLES, given=(READER, *COLUMNS),
    ),
    Command(
        "init", "starting.init_command:init", "a repository with the shipped questions, for a file or an endpoint",
        "",
        _file("folder", nargs="?", default=Path("."), metavar="FOLDER"),
        _file("--ratings", help="ratings that you already have"),
        _file("--from", dest="log", metavar="LOG", help="ask the judge about the texts of this log"), USE,
        _option("--endpoint", metavar="URL", help="address of a judge that speaks the OpenAI format"),
        _option("--model", help="the judge's model at the endpoint"),
        _option("--protocol", help="how it is asked, instead of rubric: merg"),
        _option("--action", metavar="ADDRESS", help="where the action is: OWNER/NAME/PATH@VERSION"),
        _option("--adopt", action="store_true", help="add to an existing repository; nothing is overwritten"),
    ),
    Command(
        "validate", "experiments.validate_command:run_validate",
        "how often are good judges cleared, and faults? By simulation",
        "Draws files of ratings with good judges and with planted faults at twice their margin, asks what "
        "recuse check asks, and prints how often each is cleared. Exit code: 1 where a fault is cleared in more than 5 "
        "percent, beyond the simulation's error.",
        _number("--runs", 60, "files per number"), _file("--json", dest="to_json", help="write the shares as JSON"),
        *SIMULATION,
    ),
    Command(
        "plan", "experiments.plan_command:run_plan",
        "how many texts until a fair judge is cleared? Before they are rated",
        "From a file of ratings of a first try, a panel, or options alone: the chance that a judge which "
        "is one more person is cleared for each use at growing sizes, the size for 80 percent, and a panel's costs. "
        "Which column holds right answers, say first: recuse check FILE --gold COLUMN --save.",
        _file("source", nargs="?", metavar="FILE|PANEL", help="ratings of a first try, or a panel"),
        _number("--runs", 60, "judges per number"), *SIMULATION,
        given=(
            _option("--scale", default=None, metavar="SCALE", help="LOW-HIGH as 0-10, pass/fail, labels or pairs"),
            _option("--agreement", type=float, default=None, metavar="SHARE", help="how well people agree (a judge "
                    "with right answers, where a file has these alone): ICC of scores, kappa of options"),
            _option("--people", type=int, default=None, metavar="N", help="people who rate every text"),
            _option("--positive", type=float, default=None, metavar="SHARE", help="share of passes, of pass/fail"),
            _option("--systems", type=int, default=None, metavar="N", help="systems whose texts are rated"),
            _option("--repeats", type=int, default=None, metavar="N", help="times a judge is asked about a text"),
            _option("--losses", type=float, default=None, metavar="SHARE", help="share of replies that cannot be read"),
        ),
    ),
    Command(
        "sql", "readers.engine_tables:sql", "the query that folds ratings in a warehouse into patterns with a count",
        "Prints a query for a table with a row for each rating. Its result as CSV is what recuse check reads.",
        _option("raters", metavar="A,B|FILE", help="who rated: names, or a file with some of the ratings"),
        _option("--dialect", default="duckdb", help="duckdb, snowflake, bigquery or spark"),
        _option("--table", default="ratings", help="the table"),
        _option("--item", default="", metavar="COLUMN", help="what was rated: the file's column, or item"),
        _option("--rater", default="", metavar="COLUMN", help="who rated: the file's column, or rater"),
        _option("--value", default="", metavar="COLUMN", help="the answer: the file's column, or label"),
    ),
    Command(
        "comment", "git.pull_request:comment", "post or update the summary on the pull request of this workflow",
        "Posts summary.md as a comment on the pull request, or updates the one posted before. Reads "
        "GITHUB_TOKEN, GITHUB_REPOSITORY and GITHUB_EVENT_PATH, as a workflow has them.",
        _file("summary", nargs="?", default=Path("reports/summary.md")),
        _option("--name", default="evals", help="several reports on one pull request need several names"),
        _option("--author", default="github-actions[bot]", help="whose comment is updated"),
    ),
    Command(
        "generate", "run.generate_command:generate", "a panel's models write, and judge what they wrote",
        "Records what the models of a panel write, makes items-PANEL.jsonl of it, and records the judges "
        "of those items. Costs are said first; nothing beyond the panel's budget is asked without --yes.",
        _option("name", metavar="PANEL", help="the panel file"),
        _option("--yes", action="store_true", help="go beyond the panel's budget"),
    ),
    Command(
        "show", "run.show:show", "an earlier results.json as text or page, or two side by side",
        "Draws a results.json that was kept: its text here, its page with --html. Of two, what differs.",
        _file("results", metavar="RESULTS", help="a results.json, or the folder that holds one"),
        _file("other", nargs="?", metavar="OTHER", help="a later one, to compare"), PAGE,
    ),
    Command(
        "trend", "git.trend:trend", "the values of a gate over the baselines in git",
        "Reads every committed version of the baseline and prints each judge's values, the oldest first. "
        "Without a name, lists the gates and measures that there are.",
        _option("gate", nargs="?", default="", metavar="GATE", help="a gate, or a measure that is not gated"),
        _option("--judge", help="only rows that are about this judge"),
        _number("--last", 20, "baselines, newest first"),
        _file("--baseline", default=Path("reports/baseline.json")),
        _file("--csv", help="write all values as CSV"),
    ),
    Command(
        "experiment selection", "papers.indeterminacy.selection_study:selection",
        "which judge each measure of agreement chooses without gold labels, and how good it is",
        "Draws people and judges from a rating model and prints which judge each measure chooses.",
        _number("--trials", 100, "simulated trials per setting"),
        _number("--seed", 1, "the same seed gives the same numbers"),
        _option("--workers", type=int, default=None, metavar="N", help="processes (as many as cores, 2 at most)"),
    ),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """The console script; returns the exit code. Mistakes are told on stderr in one line, never as a traceback."""
    arguments = vars(_parser().parse_args(argv))
    command, together = arguments.pop("command"), arguments.pop("together")
    if together:
        arguments["given"] = {name: arguments.pop(name) for name in together}
    from recuse.schema import RecuseError

    try:
        with redirect_stdout(cast("TextIO", _Unheard(sys.stdout))):
            code: int = resolve_name(f"recuse.{command.calls}")(**arguments)
            sys.stdout.flush()
        return code
    except RecuseError as error:
        print(f"recuse: {error}", file=sys.stderr)
    except MemoryError as error:
        print(f"recuse: out of memory ({error}); give fewer rows, or fewer repeats of one text", file=sys.stderr)
    except Exception:  # a fault of ours: Python's own exit code would be 1, which says that a judge is not cleared
        traceback.print_exc()
    return 3


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="recuse", description="May an LLM judge be trusted?")
    parser.add_argument("--version", action="version", version=f"recuse {__version__}")
    groups = {"": parser.add_subparsers(metavar="COMMAND", required=True)}
    for command in COMMANDS:
        group, _, name = command.name.rpartition(" ")
        if group not in groups:
            studies = groups[""].add_parser(group, help="simulations whose truth is known")
            groups[group] = studies.add_subparsers(metavar="STUDY", required=True)
        one = groups[group].add_parser(name, **command.words)
        for flags, how in command.options:
            one.add_argument(*flags, **how)
        together = [one.add_argument(*flags, **how).dest for flags, how in command.given]
        one.set_defaults(command=command, together=together)
    return parser


class _Parser(argparse.ArgumentParser):
    """Arguments that cannot be read end as a file that cannot: 2 would say that a judge is undecided."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(3, f"{self.prog}: {message}\n")


class _Unheard:
    """Standard output whose reader may leave early (`| head`): the verdict, and so the exit code, stays what it is."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._out, name)

        def heard_or_not(*arguments: object) -> object:
            try:
                return own(*arguments)
            except BrokenPipeError:  # what is still buffered goes nowhere, now and when Python ends
                with open(os.devnull, "wb") as nowhere:
                    return os.dup2(nowhere.fileno(), self._out.fileno())

        return heard_or_not if name in ("write", "flush") else own


if __name__ == "__main__":
    sys.exit(main())
