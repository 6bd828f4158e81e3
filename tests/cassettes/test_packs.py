"""Many cells in one file: replayed, recorded into, checked and fetched as files of their own are."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from backports import zstd
from small_plans import answer_for, files, opened, plan, recorded

from fixtures.makers.recorded import stored_files
from recuse.cassettes import pack_file
from recuse.cassettes.__main__ import check_cassettes, main
from recuse.cassettes.cell_cassette import MissingInteractionError
from recuse.cassettes.cell_file import contents, stored_path
from recuse.cassettes.matching import call_headers
from recuse.cassettes.plain_file import CassetteError
from recuse.schema import Call, RawResponse, RecuseError

CALLS = plan("https://api.example/v1", items=("a", "b", "c"), repeats=3)
CELL = CALLS[0].cell


@pytest.fixture
def panel(root: Path) -> Path:
    """Three cells with files of their own; the last answer of cell a is lacking."""
    recorded(root, [CALLS[0], CALLS[1], *CALLS[3:]])
    return root / "small"


def plain(root: Path, cell: str = CELL) -> Path:
    return root / f"{cell}.jsonl"


def answers(root: Path, calls: list[Call]) -> list[RawResponse]:
    library = opened(root, calls)
    streamed = [response for _, response in library.replay(calls)]
    assert [library.response(call) for call in calls] == streamed
    return streamed


def record_the_rest(root: Path, mode: str = "missing") -> None:
    library = opened(root, CALLS, mode=mode)
    with library.use():
        for call in library.coverage().missing:
            request, response = call.request, RawResponse(200, {"content-type": "application/json"}, answer_for(call))
            library.store(request, call_headers(call), response)


def only_pack(root: Path) -> Path:
    (pack,) = (root / ".packs").glob("*.zip")
    return pack


def index_of(panel: Path) -> list[dict[str, object]]:
    packs: list[dict[str, object]] = json.loads((panel / "packs.json").read_text())["packs"]
    return packs


# --------------------------------------------------------------------------- the same answers


def test_replay_gives_the_same_answers_and_no_file_of_a_cell_is_left(panel: Path, root: Path) -> None:
    there = [CALLS[0], CALLS[1], *CALLS[3:]]
    before, bytes_before = answers(root, there), {cell: contents(path)[0] for cell, path in stored_files(root).items()}
    assert main(["pack", str(panel)]) == 0
    assert [path.name for path in panel.rglob("*") if path.is_file()] == ["packs.json"]
    assert answers(root, there) == before
    assert {cell: contents(path)[0] for cell, path in stored_files(root).items()} == bytes_before
    assert (index_of(panel)[0]["cells"], index_of(panel)[0]["answers"]) == (3, 8)


def test_the_same_cells_are_the_same_pack(panel: Path, root: Path, tmp_path: Path) -> None:
    recorded(tmp_path / "again", [CALLS[0], CALLS[1], *CALLS[3:]])
    os.utime(plain(root), (1, 1))
    for folder in (panel, tmp_path / "again" / "small"):
        assert main(["pack", str(folder)]) == 0
    assert index_of(panel) == index_of(tmp_path / "again" / "small")


def test_a_pack_is_read_by_zip_and_zstd_alone(panel: Path, root: Path) -> None:
    before = b"".join(contents(path)[0] for _, path in sorted(stored_files(root).items()))
    main(["pack", str(panel)])
    with zipfile.ZipFile(only_pack(root)) as archive:
        assert archive.namelist() == ["0.zst", "cells.json.zst"]
        assert zstd.decompress(archive.read("0.zst")) == before


@pytest.mark.parametrize("cells_a_block", [1, 2, 60])
def test_cells_of_any_number_of_blocks_are_what_they_were(
    root: Path, monkeypatch: pytest.MonkeyPatch, cells_a_block: int
) -> None:
    recorded(root, plan("https://api.example/v1", items=[f"item-{n}" for n in range(60)], repeats=2, distinct=True))
    before = {cell: contents(path)[0] for cell, path in stored_files(root).items()}
    longest = max(map(len, before.values()))
    monkeypatch.setattr(pack_file, "BLOCK", 1 if cells_a_block == 1 else cells_a_block * longest)
    assert main(["pack", str(root / "small")]) == 0
    with zipfile.ZipFile(only_pack(root)) as archive:
        assert len(archive.namelist()) == 60 / cells_a_block + 1
        assert max(len(zstd.decompress(archive.read(f"{n}.zst"))) for n in range(60 // cells_a_block)) <= max(
            pack_file.BLOCK, longest
        )
    there = stored_files(root)
    for cell in [*before, *reversed(before), *sorted(before, key=lambda cell: cell[::-1])]:
        assert contents(there[cell])[0] == before[cell]


# --------------------------------------------------------------------------- recording goes on


def test_a_packed_cell_that_lacks_an_answer_gets_a_file_again_and_the_others_stay(panel: Path, root: Path) -> None:
    main(["pack", str(panel)])
    with pytest.raises(MissingInteractionError, match=r"a\.jsonl\.zst \(2 answers\)"):
        opened(root, CALLS).response(CALLS[2])
    shutil.rmtree(panel / "task")  # git keeps no empty folders
    record_the_rest(root)
    assert list(panel.rglob("*.jsonl")) == [plain(root)]
    assert [json.loads(one.body)["run"] for one in answers(root, CALLS)] == [0, 1, 2] * 3
    main(["pack", str(panel)])
    assert [json.loads(one.body)["run"] for one in answers(root, CALLS)] == [0, 1, 2] * 3
    assert [(row["cells"], row["answers"]) for row in index_of(panel)] == [(3, 8), (1, 3)]
    assert not check_cassettes(root).faults


def test_what_is_recorded_anew_takes_the_place_of_what_a_pack_holds(panel: Path, root: Path) -> None:
    main(["pack", str(panel)])
    record_the_rest(root, mode="all")
    assert len(answers(root, CALLS)) == 9
    main(["pack", str(panel)])
    assert [row["answers"] for row in index_of(panel)] == [9]  # the first pack holds nothing that counts any more


@pytest.mark.slow("interrupted recordings")
@pytest.mark.parametrize("point", ["os.replace", "packs.json", "remove"])
def test_a_kill_while_packing_loses_nothing(panel: Path, root: Path, point: str) -> None:
    there = [CALLS[0], CALLS[1], *CALLS[3:]]
    before = answers(root, there)
    script = f"""
import os, recuse.cassettes.__main__ as main, recuse.cassettes.pack_file as pack_file
def die(*_): os._exit(9)
point = {point!r}
if point == "os.replace": pack_file.os.replace = die
elif point == "packs.json": pack_file.plain_file.replace_file = die
else: main.remove_file = die
main.main(["pack", {str(panel)!r}])
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    assert answers(root, there) == before
    assert main(["pack", str(panel)]) == 0
    assert answers(root, there) == before
    assert len(list(panel.rglob("*.jsonl"))) == 0


def test_a_damaged_cell_is_not_packed_nor_is_any_other(panel: Path, root: Path, capsys: pytest.CaptureFixture) -> None:
    path = plain(root)
    path.write_bytes(path.read_bytes()[:-5])
    before = files(root)
    assert main(["pack", str(panel)]) == 1
    assert "a.jsonl was not packed, nor was anything else: its last line is unfinished" in capsys.readouterr().err
    assert files(root) == before


# --------------------------------------------------------------------------- from elsewhere


def test_a_pack_is_fetched_once_and_replay_asks_for_it_and_reaches_no_network(
    panel: Path, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    there = [CALLS[0], CALLS[1], *CALLS[3:]]
    before = answers(root, there)
    assert main(["pack", str(panel), "--to", f"file://{tmp_path}/elsewhere"]) == 0
    only_pack(root).unlink()  # a fresh clone
    with pytest.raises(CassetteError, match=r"packs\.json names .*, which is not here; fetch it with `python"):
        answers(root, there)
    assert main(["fetch", str(root)]) == 0
    assert "8 answers" in capsys.readouterr().out
    assert answers(root, there) == before
    assert (root / ".packs" / ".gitignore").read_text() == f"{only_pack(root).name}\n"
    assert main(["fetch", str(root)]) == 0
    assert "all packs are here" in capsys.readouterr().out


@pytest.mark.parametrize("more", [b"x", b""], ids=["longer", "shorter"])
def test_what_is_fetched_is_what_packs_json_names_or_nothing(
    panel: Path, root: Path, tmp_path: Path, more: bytes, capsys: pytest.CaptureFixture
) -> None:
    main(["pack", str(panel), "--to", f"file://{tmp_path}/elsewhere"])
    (stored,) = (tmp_path / "elsewhere").iterdir()
    stored.write_bytes(stored.read_bytes() + more if more else stored.read_bytes()[:-1])
    only_pack(root).unlink()
    assert main(["fetch", str(root)]) == 1
    assert "nothing of it was kept" in capsys.readouterr().err
    assert not list((root / ".packs").glob("*.zip*"))


def test_several_processes_that_fetch_at_once_have_it_all(panel: Path, root: Path, tmp_path: Path) -> None:
    main(["pack", str(panel), "--to", f"file://{tmp_path}/elsewhere"])
    name = only_pack(root).name
    shutil.rmtree(root / ".packs")
    slow = (
        "import sys, time\n"
        "from recuse.cassettes import pack_file\n"
        "from recuse.cassettes.__main__ import main\n"
        "pieces = pack_file._pieces\n"
        "pack_file._PIECE = 64\n"
        "pack_file._pieces = lambda pack: (time.sleep(0.005) or piece for piece in pieces(pack))\n"
        "sys.exit(main(['fetch', sys.argv[1]]))\n"
    )
    at_once = [subprocess.Popen([sys.executable, "-c", slow, str(root)]) for _ in range(3)]
    assert [process.wait(60) for process in at_once] == [0, 0, 0]
    assert sorted(path.name for path in (root / ".packs").iterdir()) == [name]
    assert answers(root, CALLS[3:])


class OddStore(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        raise RuntimeError("no credentials are found")  # as botocore and aiohttp raise errors of their own


@pytest.mark.parametrize("command", ["pack", "fetch"])
def test_whatever_a_store_raises_is_told_in_words(
    panel: Path,
    root: Path,
    tmp_path: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    if command == "fetch":
        main(["pack", str(panel), "--to", f"file://{tmp_path}/elsewhere"])
        only_pack(root).unlink()
    monkeypatch.setattr("fsspec.open", lambda *_, **__: SimpleNamespace(open=OddStore))
    assert main(["pack", str(panel), "--to", "odd://x"] if command == "pack" else ["fetch", str(root)]) == 1
    assert "cannot be read there (RuntimeError: no credentials are found)" in capsys.readouterr().err
    assert (command == "pack") == plain(root).exists()


def test_why_a_pack_cannot_be_fetched_is_the_reason_below(panel, root, tmp_path, monkeypatch, capsys) -> None:
    """fsspec calls everything that HTTP says no to a file that is not found."""
    main(["pack", str(panel), "--to", f"file://{tmp_path}/elsewhere"])
    only_pack(root).unlink()

    def remote(address: str, mode: str, auto_mkdir: bool) -> None:
        try:
            raise OSError("certificate verify failed")
        except OSError as error:
            raise FileNotFoundError("https://store.example/x.zip") from error

    monkeypatch.setattr("fsspec.open", remote)
    assert main(["fetch", str(root)]) == 1
    assert "cannot be read there (OSError: certificate verify failed)" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["pack", "fetch"])
def test_a_disk_that_does_not_take_it_is_told_in_words(
    panel: Path,
    root: Path,
    tmp_path: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    if command == "fetch":
        main(["pack", str(panel), "--to", f"file://{tmp_path}/elsewhere"])
        only_pack(root).unlink()

    def full(file: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pack_file, "_written", full)
    assert main(["pack", str(panel)] if command == "pack" else ["fetch", str(root)]) == 1
    assert "could not be written (No space left on device); nothing was changed" in capsys.readouterr().err
    assert not list((root / ".packs").glob("*.tmp"))
    assert (command == "pack") == plain(root).exists()


@pytest.mark.parametrize(
    "address",
    [
        "ftp://bob:canary-9d2f@host/x",
        "https://canary-9d2f@host/x",
        "https://host/x?sig=canary-9d2f",
        "cache::sftp://b:canary-9d2f@h/x",
    ],
)
def test_an_address_with_a_password_is_neither_committed_nor_shown(
    panel: Path, root: Path, address: str, capsys: pytest.CaptureFixture
) -> None:
    before = files(root)
    assert main(["pack", str(panel), "--to", address]) == 1
    said = capsys.readouterr().err
    assert "holds a password or a key (not shown)" in said
    assert "canary" not in said
    assert files(root) == before


def test_what_cannot_be_stored_there_changes_nothing(panel: Path, root: Path) -> None:
    before = files(root)
    with pytest.raises(RecuseError, match=r"nowhere://x: [0-9a-f]{64}\.zip cannot be stored there"):
        pack_file.write_pack(panel, {plain(root): 2}, lambda path: contents(path)[0], "nowhere://x")
    assert {name: data for name, data in files(root).items() if ".packs" not in name} == before


def test_what_was_stored_there_is_read_back(panel: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lossy(io.BytesIO):
        def close(self) -> None:
            self.truncate(10)
            self.seek(0)

    stored = Lossy()
    monkeypatch.setattr(pack_file, "_remote", lambda pack, mode: stored)
    before = files(root)
    assert main(["pack", str(panel), "--to", "memory://x"]) == 1
    assert {name: data for name, data in files(root).items() if ".packs" not in name} == before


def test_a_cell_that_is_written_while_it_is_packed_stays(panel: Path, root: Path) -> None:
    changing = iter([b"as it was", b"as it is now"])
    with pytest.raises(CassetteError, match="the pack does not hold what the file does; nothing was changed"):
        pack_file.write_pack(panel, {plain(root): 2}, lambda path: next(changing))
    assert not (panel / "packs.json").exists()


# --------------------------------------------------------------------------- hostile files


def rewritten(root: Path, panel: Path, data: bytes) -> None:
    """Another pack in place of the one there is, and packs.json as if it had always been."""
    import hashlib

    only_pack(root).unlink()
    name = hashlib.sha256(data).hexdigest()
    (root / ".packs" / f"{name}.zip").write_bytes(data)
    row = index_of(panel)[0] | {"sha256": name, "bytes": len(data)}
    (panel / "packs.json").write_text(json.dumps({"packs": [row]}))


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_changed_pack_is_refused_and_deleting_it_advised_where_it_can_be_fetched(
    panel: Path, root: Path, tmp_path: Path, elsewhere: bool
) -> None:
    main(["pack", str(panel), *(["--to", f"file://{tmp_path}/elsewhere"] if elsewhere else [])])
    pack = only_pack(root)
    data = bytearray(pack.read_bytes())
    data[-600] ^= 1
    pack.write_bytes(data)
    mend = "delete it, then fetch it with" if elsewhere else "restore it from version control or a copy"
    with pytest.raises(CassetteError, match=f"not the pack of that sha256; {mend}"):
        answers(root, CALLS[3:])
    assert any("not the pack of that sha256" in fault for fault in check_cassettes(root).faults)


NO_PACK, CUT, OTHER = "cannot be read as a pack", "cut off, or unpacks", "a line of unknown kind"


def altered(root: Path, panel: Path, change: Callable[[dict[str, bytes]], object], form: int = 0) -> None:
    """The pack with other members; `change` gets them unpacked, and what it leaves as text is packed again."""
    with zipfile.ZipFile(only_pack(root)) as old:
        members = {name: zstd.decompress(old.read(name)) for name in old.namelist()}
    change(members)
    draft = io.BytesIO()
    with zipfile.ZipFile(draft, "w") as new:
        for name, data in members.items():
            packed = data if data[:4] == b"\x28\xb5\x2f\xfd" else zstd.compress(data)
            new.writestr(name, packed, zipfile.ZIP_DEFLATED if form else zipfile.ZIP_STORED)
    rewritten(root, panel, draft.getvalue())


def index_with(**fields: object) -> Callable[[dict[str, bytes]], object]:
    def change(members: dict[str, bytes]) -> None:
        index = json.loads(members[pack_file.CELLS])
        places = {cell: [fields.get("block", one[0]), one[1] + fields.get("by", 0), one[2]]  # type: ignore[operator]
                  for cell, one in index["cells"].items()}  # fmt: skip
        members[pack_file.CELLS] = json.dumps(index | {"cells": fields.get("cells", places)}).encode()

    return change


def block(change: Callable[[bytes], bytes]) -> Callable[[dict[str, bytes]], object]:
    return lambda members: members.update({"0.zst": change(members["0.zst"])})


def index(data: bytes) -> Callable[[dict[str, bytes]], object]:
    return lambda members: members.update({pack_file.CELLS: data})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(block(lambda data: bytes(pack_file.LARGEST + 1)), CUT, id="a bomb"),
        pytest.param(block(lambda data: zstd.compress(data)[:-4]), CUT, id="cut off"),
        pytest.param(block(lambda data: zstd.compress(data) + b"x"), CUT, id="longer"),
        pytest.param(block(lambda data: b'{"kind":"header"}\n' * 9999), OTHER, id="other lines"),
        pytest.param(block(lambda data: data.replace(b'"run":0', b'"run":x')), OTHER, id="no number of a repeat"),
        pytest.param(block(lambda data: data.replace(b'"key":"', b'"key":"\xff')), OTHER, id="no text"),
        pytest.param(block(lambda data: data.replace(b'"schema":1', b'"schema":[')), OTHER, id="no JSON"),
        pytest.param(block(lambda data: data.replace(b'{"sum":', b'["sum",')), OTHER, id="no object"),
        pytest.param(block(lambda data: data.replace(b'"sum":', b'"mus":')), OTHER, id="no checksum in the header"),
        pytest.param(lambda members: members.pop("0.zst"), NO_PACK, id="no block"),
        pytest.param(index_with(by=1), OTHER, id="a byte on"),
        pytest.param(index_with(block=7), NO_PACK, id="another block"),
        pytest.param(index_with(block=[]), NO_PACK, id="no number"),
        pytest.param(index_with(cells=5), NO_PACK, id="no table"),
        pytest.param(index_with(cells={"a": 5}), NO_PACK, id="no place"),
        pytest.param(index(b"[" * 10**6), NO_PACK, id="deep"),
        pytest.param(index(b"[5]"), NO_PACK, id="a list"),
    ],
)
def test_a_pack_that_lies_is_refused_in_words(
    panel: Path, root: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, bytes]], None], why: str
) -> None:
    monkeypatch.setattr(pack_file, "LARGEST", 2_000_000)
    main(["pack", str(panel)])
    altered(root, panel, change)
    with pytest.raises(CassetteError, match=why):
        answers(root, CALLS[3:])
    with pytest.raises(CassetteError, match=why):
        record_the_rest(root)


def test_a_pack_that_is_replaced_while_it_is_in_use_is_refused(panel: Path, root: Path) -> None:
    main(["pack", str(panel)])
    pack, cell = pack_file._held(plain(root).with_name(plain(root).name + pack_file.SUFFIX), pack_file._holding)
    pack_file._block.cache_clear()
    only_pack(root).write_bytes(b"another")
    with pytest.raises(CassetteError, match="changed by another program while it was in use"):
        pack.read(cell)


def test_what_is_no_pack_is_refused_in_words(panel: Path, root: Path) -> None:
    main(["pack", str(panel)])
    altered(root, panel, lambda members: None, form=zipfile.ZIP_DEFLATED)
    with pytest.raises(CassetteError, match=r"cannot be read as a pack \('0.zst' is no block\)"):
        answers(root, CALLS[3:])
    rewritten(root, panel, b"no archive at all")
    with pytest.raises(CassetteError, match=NO_PACK):
        answers(root, CALLS[3:])


@pytest.mark.parametrize(("written", "index"), [(1, b""), (1, b'{"cells": {}}'), (3, b'{"format": 3, "cells": {}}')])
def test_a_pack_of_another_version_is_refused_by_its_number(
    panel: Path, root: Path, written: int, index: bytes
) -> None:
    main(["pack", str(panel)])
    altered(
        root, panel, lambda members: members.update({pack_file.CELLS: index}) if index else members.pop(pack_file.CELLS)
    )
    with pytest.raises(
        CassetteError, match=f"a pack of format {written}; this version of Recuse reads format 2. Use the"
    ):
        answers(root, CALLS[3:])
    assert any("a pack of format" in fault for fault in check_cassettes(root).faults)


@pytest.mark.parametrize("row", [{"sha256": "../../x"}, {"bytes": -1}, {"cells": "3"}, {"more": 1}, {"url": 5}])
def test_an_index_that_is_not_ours_is_refused(panel: Path, root: Path, row: dict[str, object]) -> None:
    main(["pack", str(panel)])
    (panel / "packs.json").write_text(json.dumps({"packs": [index_of(panel)[0] | row]}))
    with pytest.raises(CassetteError, match=r"packs\.json: not what .* writes; restore it"):
        answers(root, CALLS[3:])


def test_a_pack_behind_a_link_is_refused(panel: Path, root: Path, tmp_path: Path) -> None:
    main(["pack", str(panel)])
    pack = only_pack(root)
    pack.rename(tmp_path / "elsewhere.zip")
    pack.symlink_to(tmp_path / "elsewhere.zip")
    with pytest.raises(CassetteError, match="a symbolic link"):
        answers(root, CALLS[3:])


def test_check_reads_packs_and_counts_what_travels_with_the_repository(panel: Path, root: Path) -> None:
    main(["pack", str(panel)])
    checked = check_cassettes(root)
    assert (checked.faults, checked.panels["small"]["files"], checked.panels["small"]["answers"]) == ([], 3, 8)
    assert checked.panels["small"]["bytes"] == only_pack(root).stat().st_size
    stray = root / ".packs" / "stray.zip"
    stray.write_bytes(b"x")
    assert [fault for fault in check_cassettes(root).faults if "stray" in fault] == [
        f"{stray}: no packs.json names it; delete it"
    ]


def test_a_cell_of_a_pack_in_another_place_is_refused(panel: Path, root: Path) -> None:
    main(["pack", str(panel)])
    moved = [replace(call, cell=call.cell.replace("~a", "~z")) for call in CALLS[:1]]
    assert stored_path(plain(root, moved[0].cell)) == plain(root, moved[0].cell)
    assert opened(root, moved).coverage().missing
