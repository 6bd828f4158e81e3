"""`python -m recuse.cassettes check [FOLDER]` verifies cassettes; `... compact FILE...` rewrites them in order."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from recuse.cassettes.integrity import LARGEST_MB, check_cassettes, compact
from recuse.schema import RecuseError


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0: all is well; 1: something is not, and the output says what."""
    options = _parser().parse_args(arguments)
    try:
        return _check(options) if options.command == "check" else _compact(options)
    except RecuseError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m recuse.cassettes", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="verify checksums, names, provenance, fingerprints, secrets and size")
    check.add_argument("folder", type=Path, nargs="?", default=Path("cassettes"))
    check.add_argument("--max-mb", type=float, default=LARGEST_MB, help="largest total size (default %(default)s MB)")
    again = commands.add_parser("compact", help="put lines in order, cut off an unfinished last line, undo CR LF")
    again.add_argument("files", type=Path, nargs="+")
    again.add_argument("--drop-damaged", action="store_true", help="leave out damaged lines (kept in FILE.damaged)")
    return parser


def _check(options: argparse.Namespace) -> int:
    checked = check_cassettes(options.folder, options.max_mb)
    print(checked.text())
    return 1 if checked.faults else 0


def _compact(options: argparse.Namespace) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in options.files:
            print(compact(path, drop_damaged=options.drop_damaged))
    return 0


if __name__ == "__main__":
    sys.exit(main())
