"""`python -m recuse.cassettes check [FOLDER]` verifies cassettes; `... compact [--gzip] FILE...` puts them in order;
`... pack PANEL [--to URL]` makes one file of a panel's, and `... fetch [FOLDER]` fetches such files."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from recuse.cassettes import cell_file, pack_file
from recuse.cassettes.cell_file import cell_of, contents, is_packed, plain_path
from recuse.cassettes.integrity import DAMAGED, LARGEST_MB, canonical_bytes, check_cassettes, salvaged
from recuse.cassettes.plain_file import CassetteError, locked, read_plain, remove_file, replace_file
from recuse.cassettes.record_format import index_of, read_index
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
    pack = commands.add_parser("pack", help="put all cells of a panel into one file, which may lie outside git")
    pack.add_argument("panel", type=Path, help="the folder of a panel, cassettes/PANEL")
    pack.add_argument("--to", default="", metavar="URL", help="store it there: file://, s3://, gs://, ... (fsspec)")
    fetch = commands.add_parser("fetch", help="fetch the packs that are not here yet")
    fetch.add_argument("folder", type=Path, nargs="?", default=Path("cassettes"))
    options = parser.parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if options.command == "check":
                checked = check_cassettes(options.folder, options.max_mb)
                print(checked.text())
                return 1 if checked.faults else 0
            if options.command == "fetch":
                print("\n".join(pack_file.fetch_packs(options.folder)) or "all packs are here")
            elif options.command == "pack":
                with locked(options.panel):
                    print(pack_panel(options.panel, options.to))
            else:
                for path in options.files:
                    with locked(path.resolve().parent.parent.parent):  # <panel>/<task>/<protocol>/<cell>
                        print(compact(path, options.drop_damaged, options.gzip))
    except RecuseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def compact(path: Path, drop_damaged: bool = False, gzip: bool = False) -> str:
    """Rewrite one cassette in order, without an unfinished last line or changed line endings, compressed with `gzip`;
    says what was done. One with other damage is refused, or, with `drop_damaged`, kept as FILE.damaged."""
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
        replace_file(path.with_name(path.name + DAMAGED), read_plain(path)[0])
    new = canonical_bytes(index, data, None, ())
    if new != old or dropped or (is_packed(path) and cell_file.has_foreign_header(path)):
        cell_file.replace_contents(path, new)
    elif is_packed(path) or not gzip:
        return f"{path}: already in order, {len(index.answers)} answers"
    written = cell_file.make_packed(path) if gzip else path
    gone = f", {len(dropped)} damaged lines left out" if dropped else ""
    return f"{written}: {len(index.answers)} answers, {size:,} -> {written.stat().st_size:,} bytes{gone}"


def pack_panel(folder: Path, url: str = "") -> str:
    """Move every cell of a panel that has a file of its own into a new pack; says what was done. A damaged cell, or one
    whose last line is unfinished, is refused: record again, or compact it first."""
    files = {path: cell_file.plain_path(path) for path in sorted(folder.rglob("*")) if cell_of(path.name)}
    answers = {}
    for plain in set(files.values()):
        index = read_index(plain)
        if index.faults or index.torn or not index.answers:
            why = (index.faults or ["its last line is unfinished" if index.torn else "it holds no answer"])[0]
            raise CassetteError(f"{plain} was not packed, nor was anything else: {why}")
        answers[plain] = len(index.answers)
    if not files:
        raise CassetteError(f"{folder}: no cell with a file of its own; name the folder of a panel, cassettes/PANEL")
    size = sum(path.stat().st_size for path in files)
    written = pack_file.write_pack(folder, answers, lambda plain: contents(cell_file.stored_path(plain))[0], url)
    for path in files:
        remove_file(path)
    counts = f"{written.answers:,} answers, {size:,} -> {written.bytes:,} bytes"
    where = folder.parent / pack_file.STORE / written.name
    return f"{where}: {counts}, {written.bytes / written.answers:.0f} a call"


if __name__ == "__main__":
    sys.exit(main())
