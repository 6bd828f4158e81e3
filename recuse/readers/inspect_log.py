"""Logs of Inspect, packed (`.eval`) or as JSON: every scorer is a rater, the evaluated model the target.

    {"eval": {"model": ...}, "samples": [{"id": 1, "epoch": 1, "scores": {"model_graded_qa": {"value": "C", ...}}}]}

Epochs are repeats. The letters C, P, I mean correct, partially correct, incorrect; N, no answer, is a refusal. A scorer
that gives several values rates by several criteria. A packed log is a zip archive with a header and one file per
sample, compressed with Zstandard."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from recuse.readers.json_records import ToolLog, parsed
from recuse.readers.opening import Opened, within_bounds
from recuse.readers.raw_table import Fault, shown
from recuse.schema import RecuseError

LETTERS = {"C": "correct", "P": "partially correct", "I": "incorrect", "N": "refused"}


def inspect_records(log: Any) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per sample, epoch, scorer and criterion: item, target, rater, criterion, repeat, value, reason, ..."""
    model = str((log.get("eval") or {}).get("model") or "")
    rows, unscored, ungraded = [], [], []
    for number, sample in enumerate(log["samples"], start=1):
        given, choices = sample.get("input"), (sample.get("output") or {}).get("choices") or [{}]
        messages = given if isinstance(given, list) else ()
        users = [one for one in messages if isinstance(one, Mapping) and one.get("role") == "user"]
        question = _content_text(users[-1].get("content")) if users else given if isinstance(given, str) else ""
        base = {
            "item": str(sample.get("id", number)), "target": model, "repeat": sample.get("epoch", 1), "kind": "judge",
            "text": _content_text((choices[0].get("message") or {}).get("content")), "question": question,
        }  # fmt: skip
        scores = sample.get("scores") or {}
        if not scores:
            message = (sample.get("error") or {}).get("message")
            unscored.append(f"sample {number}" + (f": {shown(str(message))}" if message else ""))
        for scorer, score in scores.items():
            value = score.get("value")
            if value is None or value != value:  # Inspect writes NaN where a grader's reply held no grade
                ungraded.append(f"sample {number}, {scorer}: {shown(str(score.get('explanation') or 'no value'))}")
            for criterion, one in _values(value):
                rows.append({
                    **base, "rater": str(scorer), "criterion": criterion, "value": one,
                    "reason": score.get("explanation") or "",
                })  # fmt: skip
    left_out = Fault.where("samples have no score", unscored, "they are left out")
    return rows, left_out + Fault.where("scores that no grader could give", ungraded, "they count as unusable")


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for criterion, one in value.items():
            yield str(criterion), LETTERS.get(one, one) if isinstance(one, str) else one
    elif isinstance(value, list):
        for number, one in enumerate(value, start=1):
            yield f"value {number}", one
    elif value is None or value != value:
        yield "rating", "unparsed"
    else:
        yield "rating", LETTERS.get(value, value) if isinstance(value, str) else value


def _content_text(content: Any) -> str:
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return str(content or "")


ENDING = ".eval"
ZSTANDARD, ENCRYPTED = 93, 1
CONVERT = "write it as JSON: inspect log convert FILE --to json --output-dir OUT"


def unpacked_log(opened: Opened) -> dict[str, Any]:
    """The log as Inspect's JSON format has it: `eval` and `samples`. `RecuseError` for an archive that is damaged, too
    large, or compressed in a way that cannot be undone here."""
    try:
        with zipfile.ZipFile(io.BytesIO(opened.data)) as archive:
            members = {m.filename: m for m in archive.infolist()}
            names = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
            header = next((name for name in ("header.json", "_journal/start.json") if name in members), "")
            read = [header, *names] if header else names
            within_bounds(sum(members[name].file_size for name in read), len(opened.data))
            head = parsed(_content(members[header], opened)) if header else {}
            samples = [parsed(_content(members[name], opened)) for name in sorted(names)]
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, struct.error) as error:
        raise RecuseError(f"the packed Inspect log is damaged ({error}); {CONVERT}") from error
    return {"eval": head.get("eval") if isinstance(head, dict) else None, "samples": samples}


def _content(member: zipfile.ZipInfo, opened: Opened) -> bytes:
    """What a member of the archive holds, checked by its size and checksum; no more than one byte beyond that size is
    unpacked. Taken from the bytes at hand: `zipfile` makes several objects for each member, and a log has hundreds of
    thousands."""
    at = member.header_offset  # of its own header: 30 bytes, then name and further fields, whose lengths it says
    kind, flags, name, more = struct.unpack("<4s2xH18xHH", opened.data[at : at + 30])
    if kind != b"PK\x03\x04" or flags & ENCRYPTED:
        raise ValueError(f"{shown(member.filename)} is encrypted or not where the archive says")
    start = at + 30 + name + more
    plain = opened.data[start : start + member.compress_size]
    if member.compress_type == zipfile.ZIP_DEFLATED:
        plain = zlib.decompressobj(-zlib.MAX_WBITS).decompress(plain, member.file_size + 1)
    elif member.compress_type == ZSTANDARD:
        try:
            from backports.zstd import ZstdDecompressor, ZstdError
        except ImportError:
            raise RecuseError(
                f"a packed Inspect log, compressed with Zstandard; pip install backports.zstd, or {CONVERT}"
            ) from None
        try:
            plain = bytes(ZstdDecompressor().decompress(plain, member.file_size + 1))
        except ZstdError as error:
            raise ValueError(str(error)) from error
    elif member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"compression method {member.compress_type}")
    if len(plain) != member.file_size or zlib.crc32(plain) != member.CRC:
        raise ValueError(f"{shown(member.filename)} is not what was packed")
    return plain


INSPECT = ToolLog(
    "log of Inspect",
    lambda log: isinstance(log, Mapping) and "eval" in log and isinstance(log.get("samples"), list), inspect_records,
)  # fmt: skip
