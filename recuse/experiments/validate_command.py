"""`recuse validate`: how often a good judge is cleared for each use, and each planted fault, by asking drawn files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from recuse.experiments.clearance import Case, Simulated, Word, error_of, share_cleared, uses_in, words_for
from recuse.experiments.simulated_files import FAULTS, PERSON_LIKE, Setting
from recuse.schema import RecuseError
from recuse.security.files import check_output, is_json_with, write_output

SIZES = (30, 60, 200, 1000)
NAMED_AT = 200
"""Texts at which the first cause is compared with what was planted."""
MOST = 0.05
"""How often a judge at twice any margin may be cleared."""

GOOD: Mapping[str, tuple[Setting, tuple[str, ...]]] = {
    "0-10, ICC .70, 3 people": (Setting("0-10", 0.7), ("grade", "rank", "estimate")),
    "1-5, ICC .70, 3 people": (Setting("1-5", 0.7), ("grade",)),
    "pass or fail, kappa .60, 50 % pass, 3 people": (Setting("pass/fail", 0.6, systems=1), ("decide",)),
    "pass or fail, kappa .60, 80 % pass, 3 people": (Setting("pass/fail", 0.6, positive=0.8, systems=1), ("decide",)),
    "pass or fail, kappa .80, 50 % pass, one expert": (Setting("pass/fail", 0.8, people=1, systems=1), ("decide",)),
    "pairs in both orders, kappa .60, 3 people": (Setting("pairs", 0.6), ("choose",)),
}
"""Settings in which good judges are simulated, and the uses that are shown."""

is_shares = is_json_with("runs", "seed", "good", "faults")


def run_validate(
    *, evals: Path | None = None, runs: int = 100, seed: int = 1, processes: int = 2, to_json: Path | None = None,
    sizes: Sequence[int] = SIZES, today: date | None = None,
) -> int:  # fmt: skip
    """The command. Exit code 1 where a judge at twice a margin is cleared more often than `MOST`, beyond what the
    simulation's own error explains, at any size."""
    if runs < 2 or processes < 1:
        raise RecuseError(f"--runs is a whole number from 2 and --processes one from 1; got {runs} and {processes}")
    check_output(to_json, is_shares)
    cases = {(name, judge, n): Case(Simulated(setting), n, judge, runs)
             for name, (setting, _) in GOOD.items() for judge in PERSON_LIKE for n in sizes}  # fmt: skip
    cases |= {("", fault.name, n): Case(Simulated(fault.setting), n, fault.name, runs)
              for fault in FAULTS for n in sizes}  # fmt: skip
    words = dict(zip(cases, words_for(list(cases.values()), evals_folder(evals), seed=seed, processes=processes,
                                  today=today or date.today()), strict=True))  # fmt: skip
    record = {"runs": runs, "seed": seed, "good": list(_good(words, sizes)), "faults": list(_faults(words, sizes))}
    print("\n".join(_table(record, sizes)))
    if to_json is not None:
        write_output(to_json, json.dumps(record, indent=1, sort_keys=True) + "\n", is_shares)
    return int(bool(too_often(record)))


def evals_folder(given: Path | None) -> Path:
    """The folder with the evals and gates to try: the one named, that of the repository one stands in, the shipped."""
    if given is not None:
        folder = given if given.is_dir() else given.parent
        if not (folder / "gates.toml").is_file():
            raise RecuseError(f"--evals {given}: there is no gates.toml in {folder}")
        return folder
    if (Path("evals") / "gates.toml").is_file():
        return Path("evals").resolve()
    from recuse.suite.shipped import shipped_evals

    return shipped_evals()


def too_often(record: Mapping[str, Any]) -> list[str]:
    """Faults that are cleared more often than `MOST` and three Monte-Carlo errors."""
    most = MOST + 3 * error_of(MOST, record["runs"])
    return [row["fault"] for row in record["faults"] if any((share or 0.0) > most for share in row["cleared"])]


Words = Mapping[tuple[str, str, int], Sequence[Word]]


def _good(words: Words, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    for name, (_, shown) in GOOD.items():
        for judge in PERSON_LIKE:
            drawn = [words[name, judge, n] for n in sizes]
            for use in (use for use in shown if use in uses_in(drawn[-1])):
                held = [_held_by(part, use) for part in drawn]
                yield {"setting": name, "judge": judge, "use": use, "held by": held,
                       "cleared": [_share(part, use) for part in drawn]}  # fmt: skip


def _faults(words: Words, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    for fault in FAULTS:
        drawn = {n: words["", fault.name, n] for n in sizes}
        causes = [one.cause for one in drawn.get(NAMED_AT, ()) if one.use == fault.use and one.word == "not cleared"]
        named = sum(bool(re.search(fault.said, cause)) for cause in causes)
        yield {
            "fault": fault.name, "use": fault.use, "cleared": [_share(part, fault.use) for part in drawn.values()],
            "refused": len(causes), "named": named,
            "instead": next((c for c, _ in Counter(causes).most_common() if not re.search(fault.said, c)), ""),
        }  # fmt: skip


def _share(words: Sequence[Word], use: str) -> float | None:
    share = share_cleared(words, use)
    return None if share is None else round(share, 4)


def _held_by(words: Sequence[Word], use: str) -> str:
    """The gate that keeps most judges from being cleared, "" where all are."""
    gates = Counter(gate for one in words if one.use == use and one.word != "cleared" for gate in one.gates)
    return gates.most_common(1)[0][0] if gates else ""


def _table(record: Mapping[str, Any], sizes: Sequence[int]) -> Iterator[str]:
    runs = record["runs"]
    heads = "".join(f"{n:>8,}" for n in sizes)
    yield f"{runs} drawn files per number, seed {record['seed']}; Monte-Carlo error of a share at most " + (
        f"{100 * error_of(0.5, runs):.1f} points, of 5 % {100 * error_of(0.05, runs):.1f}."
    )
    yield ""
    yield f"A good judge is cleared (%){'':<26}texts{heads}   most often held by"
    for name in GOOD:
        yield name
        for row in (row for row in record["good"] if row["setting"] == name):
            held = next((gate for gate in reversed(row["held by"]) if gate), "")
            yield f"  {row['judge']:<30}to {row['use']:<24}{_cells(row['cleared'])}   {held}".rstrip()
    yield ""
    yield f"A judge at twice a margin is cleared (%){'':<13}texts{heads}   named first at {NAMED_AT}"
    for row in record["faults"]:
        named = f"{row['named']} of {row['refused']} refused" if row["refused"] else "none refused"
        instead = f"; else: {row['instead']}" if row["instead"] else ""
        yield f"  {row['fault']:<30}to {row['use']:<24}{_cells(row['cleared'])}   {named}{instead}"
    if wrong := too_often(record):
        yield ""
        yield f"Cleared in more than {100 * MOST:.0f} % beyond the error: {', '.join(wrong)}."


def _cells(shares: Sequence[float | None]) -> str:
    return "".join(f"{'':>8}" if share is None else f"{100 * share:>8.0f}" for share in shares)
