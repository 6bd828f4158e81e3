"""reports/replies/: what lies behind the numbers, as pages without scripts, beside the report.

    replies/index.html                            what there is, and how large
    replies/<panel>/~judges/<judge>.html          every number about a judge, the worst first, with links both ways
    replies/<panel>/<task>/<protocol>/<judge>.html    every reply of a judge, with an address of its own
    replies/<panel>/<task>/<protocol>/~prompts.html   what was asked, every prompt once

No judge's name begins with "~" (`recuse.configuration`). Who reads the cassettes, be it a worker, writes the replies,
the process that reports the rest. What judges write is hostile: Jinja escapes it, invisible characters are spelled out,
what looks like a credential is taken out, and replies, prompts and pages are bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from markupsafe import Markup, escape

from recuse.report.addresses import FOLDER, PROMPTS, STUDIES, ReplyPlaces, judge_page, page_name, place_anchor
from recuse.report.gated_number import plain_name, without_twins
from recuse.report.page import environment
from recuse.report.results_model import ResultsModel
from recuse.report.style import style_hash
from recuse.schema import Call, Exchange, Prompt, Transcript, prompt_id, reply_id
from recuse.schema.number_text import count
from recuse.schema.plain_values import grouped
from recuse.schema.results import RepliesRow
from recuse.schema.vocabulary import SHOWN
from recuse.security.files import delete_pages, write_files
from recuse.security.redaction import without_keys
from recuse.security.sanitize import shortened, visible

LONGEST_REPLY, LONGEST_PROMPT, LONGEST_WHY, LONGEST_NAME = 4_000, 20_000, 300, 200
REPLIES_PER_PAGE, PAGES_PER_JUDGE, PROMPTS_PER_PAGE = 1_000, 5, 250
SHORT_REPLY = 70
"""A reply of so many characters on one line stands beside what was read in it."""
LIKELIHOODS = {"expected": "expected by token probabilities", "mass": "probability of all grades"}
"""What a protocol that reads log-probabilities adds to a criterion (`recuse.protocols.grading`)."""
Entry = TypeVar("Entry")
_READ, _WROTE = attrgetter("criterion", "score", "response", "status", "why"), attrgetter("text", "reasoning")


def small_page(template: str, *, depth: int, **shown: Any) -> str:
    """The page; `depth`: folders between it and the report, whose address `up` is."""
    return environment().get_template(template).render(shown, up="../" * depth, **_sheet()).strip() + "\n"


@cache  # for the pages, which are hundreds
def _sheet() -> dict[str, str]:
    sheet = environment().get_template("replies/style.css.j2").render().strip()
    return {"style": Markup(sheet), "style_hash": style_hash(sheet)}


def write_overview(view: ResultsModel, written: Mapping[str, RepliesRow], reports: Path) -> list[Path]:
    """Write the index and a page per judge, and delete our pages that no cassette of this run stands behind. Nothing is
    written, and an old folder goes, where no replies were."""
    folder, places = reports / FOLDER, ReplyPlaces(written, "../../")
    pages, badness = dict[str, str](), list(SHOWN)
    for panel, judge in ((of, name) for of in view.panels for name in of.judge_names if places):
        own = without_twins(n for n in view.numbers if n.who == judge and n.subject.get("panel") == panel.name)
        pages[judge_page(panel.name, judge)] = small_page(
            "replies/judge.html.j2", depth=3, panel=panel, label=view.label(judge, panel),
            words=view.words_on(panel.name, judge), places=places, replies=places.said_by(panel.name, judge),
            gated=sorted((n for n in own if n.verdict), key=lambda n: (badness.index(n.state), *view.rank(n))),
            report=f"{STUDIES}/{panel.name}.html" if panel.name in view.studies else "index.html",
            others=sorted((n for n in own if not n.verdict), key=lambda n: (n.measure["rank"], n.metric, view.rank(n))),
        )  # fmt: skip
    accounts = {place: account for place, account in sorted(written.items()) if account}
    files = [name for account in accounts.values() for name in account["files"]]
    if places:
        size = sum(account["bytes"] for account in accounts.values()) + sum(map(len, pages.values()))
        pages["index.html"] = small_page(
            "replies/index.html.j2", depth=1, view=view, judge_page=judge_page, size=f"{size / 1e6:.1f}",
            places=[(*place.split("/", 1), place_anchor(place), account) for place, account in accounts.items()],
            files=len(pages) + len(files), replies=sum(account["replies"] for account in accounts.values()),
        )  # fmt: skip
    paths = write_files(reports, {f"{FOLDER}/{name}": text for name, text in pages.items()})
    delete_pages(reports, folder.rglob("*.html"), {*paths, *(folder / name for name in files)})
    return paths


def write_transcript(transcript: Transcript, folder: Path) -> RepliesRow:
    """Write the pages below `folder`; returns which they are."""
    place = "/".join([transcript.panel, transcript.task, transcript.protocol])
    texts, prompts = _prompt_pages(transcript)
    by_judge = grouped(transcript.exchanges, lambda exchange: exchange.call.judge)
    labels, most = transcript.labels, REPLIES_PER_PAGE * PAGES_PER_JUDGE
    pages: dict[str, list[str]] = {}
    further: dict[str, dict[str, int]] = {}
    for judge, made in by_judge.items():
        own = _farthest_first(transcript, made) if transcript.people else made
        parts = _parted(judge, own[:most], REPLIES_PER_PAGE)
        for name, some in parts.items():
            texts[name] = _page(
                "replies/transcript.html.j2", transcript, name, parts, place_anchor=place_anchor(place), judge=judge,
                others=[(other, labels.get(other, other), page_name(other)) for other in by_judge if other != judge],
                about=_about(transcript, some, prompts), label=labels.get(judge, judge),
                bad=[reply_id(e.call) for e in some if any(read.status != "ok" for read in e.judgements)],
                shown=len(some), total=len(own), left_out=max(0, len(own) - most),
                compared=bool(transcript.people) and any(_people_on(transcript, e.call) for e in some),
            )  # fmt: skip
        pages[judge] = [f"{place}/{name}" for name in parts]
        further[judge] = {reply_id(e.call): part for part, some in enumerate(parts.values()) if part for e in some}
    files = [f"{place}/{name}" for name in texts]
    write_files(folder.parent, {f"{folder.name}/{place}/{name}": text for name, text in texts.items()})
    return {
        "pages": pages, "further": further, "files": files, "prompts": files[0] if prompts else "",
        "replies": len(transcript.exchanges), "bytes": sum(len(text.encode()) for text in texts.values()),
    }  # fmt: skip


def _parted(stem: str, entries: Sequence[Entry], size: int) -> dict[str, Sequence[Entry]]:
    return {page_name(stem, at // size): entries[at : at + size] for at in range(0, len(entries), size)}


def _page(template: str, transcript: Transcript, name: str, parts: Iterable[str], **shown: object) -> str:
    names, place = list(parts), f"{plain_name(transcript.task)}, {plain_name(transcript.protocol)}"
    shown |= {"panel": transcript.panel, "provenance": transcript.provenance, "place": place}
    return small_page(template, depth=4, parts=names if names[1:] else [], part=names.index(name), **shown)


def _farthest_first(transcript: Transcript, exchanges: list[Exchange]) -> list[Exchange]:
    """By text, in the order of its distance from people (of means, or the share that differs); the unrated behind."""
    distances: dict[tuple[str, str], list[float]] = {}
    for exchange in exchanges:
        people = _people_on(transcript, exchange.call)
        numbers = [value for value in people if not isinstance(value, str)]
        for one in exchange.judgements:
            if people and one.status == "ok" and one.criterion in ("", *transcript.headline):
                apart = sum(value != one.response for value in people) / len(people)
                if numbers and one.score is not None:
                    apart = abs(one.score - sum(numbers) / len(numbers))
                distances.setdefault((exchange.call.item, exchange.call.target), []).append(apart)
    mean = {text: sum(values) / len(values) for text, values in distances.items()}
    return sorted(exchanges, key=lambda e: -mean.get((e.call.item, e.call.target), -1.0))


def _people_on(transcript: Transcript, call: Call) -> Sequence[float | str]:
    return transcript.people.get((call.item, call.target)) or transcript.people.get(("", call.target)) or ()


def _about(
    transcript: Transcript, exchanges: Iterable[Exchange], prompts: Mapping[int, Markup]
) -> Iterator[dict[str, str]]:
    """By text, then by what was asked of it, as planned; no template draws these thousands, so each part is escaped."""
    levels = {factors: escape(visible(level)) for factors, level in transcript.levels.items()}

    def head(exchange: Exchange) -> str:
        """Factor levels, or the stage, and the address of the prompt."""
        call = exchange.call
        level, prompt = levels[call.factors], prompts.get(id(call.prompt))
        if call.stage:
            level = escape(", ".join(word for word in (f"before judging: {call.stage}", level) if word))
        words = " · ".join(filter(None, (level, f'<a href="{prompt}">the prompt</a>' if prompt else "")))
        return f"<h3>{words}</h3>\n" if words else ""

    def reply(exchange: Exchange) -> str:
        """With its address: 12 hex digits and a number, so no text of anybody's."""
        name, body = reply_id(exchange.call), _body(tuple(map(_READ, exchange.judgements)), *_WROTE(exchange.reply))
        return f'<li id="{name}"><a href="#{name}">repeat {exchange.call.repeat + 1}</a>{body}</li>'

    for (item, target), own in grouped(exchanges, lambda e: (e.call.item, e.call.target)).items():
        lists = (f'{above}<ol class="replies">' + "\n".join(map(reply, alike)) + "</ol>"
                 for above, alike in grouped(own, head).items())  # fmt: skip
        name, shown = _clean(item, LONGEST_NAME)[0], transcript.labels.get(target, target)
        yield {"item": name, "target": shown, "drawn": Markup("\n".join(lists))}


@lru_cache(maxsize=4096)
def _body(read: tuple[tuple[Any, ...], ...], text: str, reasoning: str) -> str:
    """What a judge said, and what was read in it; of a thousand many say the same, and it is drawn once."""
    shown, cut = _clean(text, LONGEST_REPLY)
    bad = ' class="bad"' if any(status != "ok" for *_, status, _ in read) else ""
    words, thoughts = (escape(_clean(part, LONGEST_REPLY)[0]) for part in (_in_words(read), reasoning))
    tag = "code" if len(shown) <= SHORT_REPLY and "\n" not in shown else "pre"
    answer = f'<{tag} dir="auto">{escape(shown or "(nothing)")}</{tag}>'
    before = f'<details><summary>What it thought before</summary><pre dir="auto">{thoughts}</pre></details>'
    left_out = f"<small>{count(cut)} more characters in the cassette</small>" if cut else ""
    return "".join((f"<b{bad}>{words}</b>" if words else "", answer, left_out, before if thoughts else ""))


def _in_words(read: Iterable[tuple[Any, ...]]) -> str:
    level_words: dict[str, None] = {}
    for criterion, score, response, status, why in read:
        words = f"{plain_name(status)}: {shortened(why, LONGEST_WHY)[0]}" if why else plain_name(status)
        if status == "ok":
            name, _, part = plain_name(criterion).partition(".")
            about = f"{name} {LIKELIHOODS.get(part, part)}".strip()
            words = f"{about} {f'{score:.4g}' if response is None else response}".strip()
        level_words[words] = None
    return ", ".join(level_words)


def _clean(text: str, longest: int) -> tuple[str, int]:
    kept, cut = shortened(text, longest)
    return visible(without_keys(kept)), cut


def _prompt_pages(transcript: Transcript) -> tuple[dict[str, str], dict[int, Markup]]:
    """File name -> page; prompt (by its identity: thousands of calls share one) -> its address from a page beside."""
    ids: dict[int, str] = {}
    by_name: dict[str, tuple[Prompt, Call]] = {}
    for exchange in transcript.exchanges:
        if (prompt := exchange.call.prompt) and id(prompt) not in ids:
            ids[id(prompt)] = prompt_id(prompt)
            by_name.setdefault(ids[id(prompt)], (prompt, exchange.call))

    def drawn(name: str, prompt: Prompt, call: Call) -> str:
        target = transcript.labels.get(call.target, call.target)
        places = [_clean(call.item, LONGEST_NAME)[0], target, call.stage, transcript.levels[call.factors]]
        words = f'<h2><a href="#{name}">{escape(visible(", ".join(filter(None, places))))}</a></h2>\n'
        for role, (text, cut) in ((m.role, _clean(m.content, LONGEST_PROMPT)) for m in prompt.messages):
            left_out = f"<small>{count(cut)} more characters</small>" if cut else ""
            words += f'<h3>{escape(role)}</h3><pre dir="auto">{escape(text)}</pre>{left_out}'
        return f'<section id="{name}">{words}</section>\n'

    stem = "~".join(part for part in (PROMPTS, transcript.candidate) if part)
    parts = _parted(stem, list(by_name), PROMPTS_PER_PAGE)
    pages, where = dict[str, str](), dict[str, str]()
    for file, some in parts.items():
        prompts = "".join(drawn(name, *by_name[name]) for name in some)
        pages[file] = _page("replies/prompts.html.j2", transcript, file, parts, prompts=Markup(prompts))
        where |= {name: f"{file}#{name}" for name in some}
    return pages, {identity: escape(where[name]) for identity, name in ids.items()}
