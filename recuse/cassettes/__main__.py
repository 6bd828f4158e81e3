"""`python -m recuse.cassettes check [FOLDER]` verifies cassettes; `... compact [--gzip] FILE...` puts them in order;
`... pack PANEL [--to URL]` makes one file of a panel's, and `... fetch [FOLDER]` fetches such files."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from recuse.cassettes import cell_file, pack_file
from recuse.cassettes.cell_cassette import SUPERSEDED, UNDER_WAY, check_distinct, checked_cell
from recuse.cassettes.cell_file import cell_of, contents, is_in_pack, is_packed, plain_path
from recuse.cassettes.matching import reason_to_drop, request_key
from recuse.cassettes.plain_file import CassetteError, locked, read_plain, remove_file, replace_file
from recuse.cassettes.record_format import CellIndex, index_of, read_answer, read_index, read_requests
from recuse.cassettes.storage import DAMAGED, canonical_bytes, salvaged
from recuse.judges import other_models
from recuse.schema import PROVENANCES, RecuseError, Request
from recuse.security.redaction import key_shapes_in
from recuse.security.sanitize import visible

LARGEST_MB = 60.0


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
    if new != old or dropped or (is_packed(path) and not read_plain(path)[0].startswith(cell_file.HEADER)):
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
    return f"{folder.parent / pack_file.STORE / written.name}: {counts}, {written.bytes / written.answers:.0f} a call"


@dataclass
class Checked:
    """What a check found. `faults` name file and line; `panels` count files, packed, answers and bytes stored."""

    faults: list[str] = field(default_factory=list)
    panels: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def total(self) -> Counter[str]:
        """The counts of all panels."""
        return sum(self.panels.values(), Counter())

    def text(self) -> str:
        """A line of counts per panel and one for all, then the faults."""
        rows = []
        for name, n in (*sorted(one for one in self.panels.items() if one[1]["files"]), ("all", self.total)):
            compressed = f" ({n['packed']} compressed)" if n["packed"] else ""
            counts = f"{n['files']} cassettes{compressed}, {n['answers']} answers"
            rows.append(f"{name}: {counts}, {n['bytes'] / 1e6:.2f} MB")
        head = f"{len(self.faults)} fault{'s'[: len(self.faults) > 1]}:" if self.faults else "no faults"
        return visible("\n".join([*rows, head, *(f"  {fault}" for fault in self.faults)]))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Whatever is raised inside is a fault."""
        try:
            yield
        except RecuseError as error:
            self.faults.append(str(error))


def check_cassettes(root: Path, largest_mb: float = LARGEST_MB) -> Checked:
    """Check every file below `root`. All faults are collected; none stops the check."""
    checked = Checked()
    if not root.is_dir():
        raise RecuseError(f"{root}: there is no such folder; name the folder that holds the cassettes")
    cells: list[str] = []
    for path in sorted(p for p in root.rglob("*") if p.is_symlink() or not p.is_dir()):
        inside = path.relative_to(root)
        if inside.parts[0] == pack_file.STORE:
            if path.name not in {*(pack.name for _, pack in pack_file.named_packs(root)), ".gitignore"}:
                checked.faults.append(f"{path}: no {pack_file.INDEX} names it; delete it")
            continue
        if inside.parts[0] in (SUPERSEDED, UNDER_WAY) or inside.as_posix() == ".gitkeep":
            continue
        if inside.parts[1:] == (pack_file.INDEX,):
            cells += _check_packs(checked, path.parent)
        elif (cell := cell_of(inside.as_posix())) is not None:
            cells.append(cell)
            _check_file(checked, path, cell)
        else:
            why = "only cassettes belong here"
            if path.name.endswith((".new", ".tmp", ".damaged", ".ballast")):
                why = "left over from an interrupted or repaired recording; finish it with --record, or delete the file"
            checked.faults.append(f"{path}: not a cassette ({why})")
    with checked.collecting():
        check_distinct(cells)
    if (megabytes := checked.total["bytes"] / 1e6) > largest_mb:
        checked.faults.append(f"{root}: {megabytes:.1f} MB of cassettes; at most {largest_mb:g} MB are allowed")
    return checked


def _check_packs(checked: Checked, folder: Path) -> Iterator[str]:
    """The cells that are in packs of a panel only. Bytes count where a pack travels with the repository."""
    with checked.collecting():
        counts = checked.panels[folder.name]
        counts["bytes"] += sum(pack.bytes for pack in pack_file.packs_of(folder) if not pack.url)
        for plain in pack_file.packed_cells(folder.parent):
            if plain.is_relative_to(folder) and is_in_pack(path := cell_file.stored_path(plain)):
                cell = plain.relative_to(folder.parent).as_posix().removesuffix(cell_file.SUFFIX)
                counts.update(files=1, packed=1)
                _check_cell(checked, path, cell)
                yield cell


def _check_file(checked: Checked, path: Path, cell: str) -> None:
    if path.is_symlink():
        checked.faults.append(f"{path}: a symbolic link; a cassette must be a file of its own")
        return
    checked.panels[cell.split("/")[0]].update(files=1, packed=is_packed(path), bytes=path.stat().st_size)
    if is_packed(path) and os.path.lexists(plain := plain_path(path)):
        with checked.collecting():
            cell_file.stored_path(plain)
            left = f"left over from an interrupted change of form; {plain.name} holds all of it: delete this one"
            checked.faults.append(f"{path}: {left}")
    if is_packed(path) and not read_plain(path)[0].startswith(cell_file.HEADER):
        foreign = "packed by another program, which may have put a name or a time into it; compact it with --gzip"
        checked.faults.append(f"{path}: {foreign}")
    _check_cell(checked, path, cell)


def _check_cell(checked: Checked, path: Path, cell: str) -> None:
    with checked.collecting():
        checked_cell(cell)
    with checked.collecting():
        data = contents(path)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a torn last line is reported as a fault below
            index = index_of(path, data)
        checked.panels[cell.split("/")[0]]["answers"] += len(index.answers)
        checked.faults += index.faults
        if index.torn:
            torn = "the last line is unfinished; record again with --record=missing, or compact it"
            checked.faults.append(f"{path}: {torn}")
        checked.faults += [f"{path}: contains what looks like {kind}" for kind in key_shapes_in(data)]
        checked.faults += _content_faults(path, cell, index, data)


def _content_faults(path: Path, cell: str, index: CellIndex, data: bytes) -> Iterator[str]:
    header = index.header or {}
    provenance, fingerprint = header.get("provenance"), header.get("fingerprint")
    described = fingerprint if isinstance(fingerprint, dict) else {}
    if index.header is not None:
        wrong = {
            f"recorded as cell {header.get('cell')}; the file was moved or copied": header.get("cell") != cell,
            f"provenance is {provenance!r}, not one of {', '.join(PROVENANCES)}": provenance not in PROVENANCES,
            "the fingerprint does not say which model answered": not described.get("model"),
            "the header does not say which engine recorded it": not header.get("engine"),
        }
        yield from (f"{path}:1: {fault}" for fault, there in wrong.items() if there)
    answered = {key for key, _ in index.answers}
    for key, (method, url, body) in read_requests(index, data).items():
        if request_key(Request(url, body, method)) != key:
            yield f"{path}: request {key} has a key that its content does not hash to"
        if key not in answered:
            yield f"{path}: request {key} has no answer"
        host = urlsplit(url).hostname or ""
        if provenance in PROVENANCES and host.endswith(".invalid") == (provenance == "recorded"):
            yield f"{path}: provenance is {provenance}, but the server was {host} (only stand-ins end in .invalid)"
    models: Counter[str] = Counter()
    for (key, repeat), (at, length) in index.answers.items():
        response = read_answer(data, at, length)
        if reason := reason_to_drop(response.status, response.body):
            yield f"{path}: request {key}, repeat {repeat} is not an answer: {reason}"
        elif b'"model' in response.body:
            answer = json.loads(response.body)
            models[str(answer.get("model") or answer.get("modelVersion") or "")] += 1
    wire, requested = str(described.get("wire")), str(described.get("model"))
    for other in other_models(wire, requested, models) if provenance == "recorded" and described else ():
        yield f"{path}: {models[other]} answers are by {other}, and the model that was asked is {requested}"


if __name__ == "__main__":
    sys.exit(main())
