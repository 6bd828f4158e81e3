"""`python -m recuse.cassettes check [FOLDER]` verifies cassettes; `... compact [--gzip] FILE...` puts them in order."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from recuse.cassettes import cell_file
from recuse.cassettes.cell_file import CassetteError, cell_of, contents, is_packed, plain_path
from recuse.cassettes.index import index_of
from recuse.cassettes.integrity import DAMAGED, LARGEST_MB, canonical_bytes, check_cassettes, salvaged
from recuse.cassettes.writer import nothing_records, replace_file
from recuse.schema import RecuseError


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0: all is well; 1: something is not, and the output says what."""
    parser = argparse.ArgumentParser(prog="python -m recuse.cassettes", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="verify checksums, names, provenance, fingerprints, secrets and size")
    check.add_argument("folder", type=Path, nargs="?", default=Path("cassettes"))
    check.add_argument("--max-mb", type=float, default=LARGEST_MB, help="largest total size (default %(default)s MB)")
    again = commands.add_parser("compact", help="put lines in order, cut off an unfinished last line, undo CR LF")
    again.add_argument("files", type=Path, nargs="+")
    again.add_argument("--gzip", action="store_true", help="compress: FILE.jsonl becomes FILE.jsonl.gz, losslessly")
    again.add_argument("--drop-damaged", action="store_true", help="leave out damaged lines (kept in FILE.damaged)")
    options = parser.parse_args(arguments)
    try:
        if options.command == "check":
            checked = check_cassettes(options.folder, options.max_mb)
            print(checked.text())
            return 1 if checked.faults else 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in options.files:
                panel = path.resolve().parent.parent.parent  # <panel>/<task>/<protocol>/<cell>
                with nothing_records(panel):
                    print(compact(path, options.drop_damaged, options.gzip))
        return 0
    except RecuseError as error:
        print(error, file=sys.stderr)
        return 1


def compact(path: Path, drop_damaged: bool = False, gzip: bool = False) -> str:
    """Rewrite one cassette in order and without an unfinished last line; says what was done.

    Changed line endings are put back. A file with other damage is refused unless `drop_damaged`; it is then kept as
    FILE.damaged. The file keeps its form, plain or compressed; with `gzip` it is compressed."""
    if gzip and cell_of(path.name) is None:
        raise CassetteError(f"{path}: only cassettes are compressed, files that end in {cell_file.SUFFIX}")
    path = cell_file.stored_path(plain_path(path))
    if not path.exists():
        raise CassetteError(f"{path}: there is no such cassette")
    path = path if is_packed(path) else cell_file.make_plain(path)  # takes away what an interrupted change of form left
    size, cut = path.stat().st_size, list[str]()
    try:
        old = contents(path)[0]
    except cell_file.UnpackingError as error:
        if not drop_damaged:
            raise
        old, cut = cell_file.readable_part(path), [str(error)]
    data, dropped = salvaged(old, str(path))
    dropped = [*dropped, *cut]
    index = index_of(path, data)
    if (dropped or index.faults) and not drop_damaged:
        raise CassetteError("\n  ".join((f"{path} is damaged and was left alone", *(dropped or index.faults)[:5])))
    if index.faults:
        raise CassetteError(f"{path}: nothing usable is left: {index.faults[0]}")
    if dropped:
        replace_file(path.with_name(path.name + DAMAGED), cell_file.raw_bytes(path))
    new = canonical_bytes(index, data, None, ())
    if new != old or dropped or (is_packed(path) and cell_file.has_foreign_header(path)):
        cell_file.replace_contents(path, new)
    elif is_packed(path) or not gzip:
        return f"{path}: already in order, {len(index.answers)} answers"
    written = cell_file.make_packed(path) if gzip else path
    gone = f", {len(dropped)} damaged lines left out" if dropped else ""
    return f"{written}: {len(index.answers)} answers, {size:,} -> {written.stat().st_size:,} bytes{gone}"


if __name__ == "__main__":
    sys.exit(main())
