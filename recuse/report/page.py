"""What Jinja templates draw of results.json: index.html, one file, no script, no request; a page per study; and
summary.md, the report as a comment on a pull request. Local templates (reports/templates/) are looked up first, so a
team can change any part by a file of the same name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined, TemplateError
from jinja2.utils import pass_context
from markupsafe import Markup

from recuse.report import addresses, first_line, style
from recuse.report.addresses import FOLDER, STUDIES, ReplyPlaces
from recuse.report.figures.forest_plot import footnotes
from recuse.report.gated_number import plain_name
from recuse.report.questions import Drawings
from recuse.report.questions.generic import plain
from recuse.report.results_model import LOUD, OUTCOMES, Question, ResultsModel
from recuse.report.sections.about_the_run import digests, facts, in_one_line, not_asked, parts_after, parts_before
from recuse.report.sections.attention import TITLE, baseline_part, changed, needs_attention, run_faults
from recuse.report.verdict_tables import column_readings, upgrade_tables, verdict_table, verdict_tables
from recuse.schema import RecuseError, vocabulary
from recuse.schema.number_text import count
from recuse.schema.results import Known, Results
from recuse.schema.vocabulary import SHOWN, counted, tally, worst
from recuse.security.sanitize import shortened, visible

MOST_CHANGES = 12
"""Changes with a row of their own at the head of the page."""
MOST_OPEN, MOST_GATES = 12, 3
"""Judges of a question that is shown open where it is red; gates that are named beside what they came to."""
SIZE_LIMIT = 60_000
"""Characters of summary.md; GitHub refuses comments beyond 65,536."""
LONGEST_TEXT, LONGEST_NAME = 600, 100
PARTED = "\f"
"""What its template puts between sections; in a text it is spelled out."""
TEMPLATE_FAULTS = (TemplateError, ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError)
"""What a template that somebody wrote may raise."""


def pages(
    results: Results, template_folders: Sequence[Path | str] = (), drawings: Sequence[str] = (),
    known: Known | None = None, *, studies: Collection[str] | None = None,
) -> dict[str, str]:  # fmt: skip
    """The page for normalised `results`, and one per study ("studies/published.html"): all panels without a use, or
    those of `studies`; the others are among its questions. `known`: what stands beside the results (`recuse.git`).
    Raises `RecuseError` naming the template that does not render."""
    own = [str(folder) for folder in template_folders if Path(folder).is_dir()]
    env, drawn, view, known = environment(*own), Drawings(drawings), ResultsModel(results), known or {}
    questions = sorted(view.questions, key=lambda q: drawn.order(q.id))
    apart = [p for p in view.panels if p.name in (view.studies if studies is None else studies)]
    written = known.get("replies") or {}
    try:

        def rendered(template: str, panels: Collection[str], base: str, **shown: object) -> str:
            sections = [_section(env, view, question, drawn, panels) for question in questions]
            shown |= {"sections": [one for one in sections if one], "replies": ReplyPlaces(written, base)}
            return styled(env, template, **shown)

        used_ones = {p.name for p in view.panels} - {p.name for p in apart}
        about = parts(view, questions, known) | {"headline": first_line.headline(results), "studies": apart}
        first = rendered("index.html.j2", used_ones, f"{FOLDER}/", **about)
        return {"index.html": first} | {
            f"{STUDIES}/{p.name}.html": rendered("study.html.j2", {p.name}, f"../{FOLDER}/", panel=p) for p in apart
        }
    except TEMPLATE_FAULTS as error:
        known_places = (getattr(error, "name", None), getattr(error, "lineno", None))
        place = ", line ".join(str(part) for part in known_places if part is not None)
        raise RecuseError(
            f"the report's template does not render: {f'{place}: ' if place else ''}{error}; mend it or delete it from "
            "reports/templates/"
        ) from error


def parts(view: ResultsModel, questions: list[Question], known: Known) -> dict[str, object]:
    """What page and comment show besides the questions' figures."""
    through = [n.state for n in view.numbers if n.is_let_through]
    counts = Counter(n.state for n in view.numbers if n.verdict) - Counter(through)
    tables = verdict_tables(view, [group for q in questions if q.id != "upgrade" for group in view.groups(q)])
    of_results = first_line.heading, first_line.opening, first_line.next_step, first_line.expiring
    of_view = first_line.used, first_line.upgrade_lines, changed, run_faults
    named = {part.__name__: part(view.results) for part in of_results} | {part.__name__: part(view) for part in of_view}
    return named | {
        "view": view, "decision": view.results.get("decision"), "baseline": view.results.get("baseline"),
        "meanings": {use: row.get("question") for use, row in (view.results.get("uses") or {}).items()},
        "changed_title": TITLE, "most_changes": MOST_CHANGES, "attention": needs_attention(view),
        "tally": [(o, *counted(o, counts[o]).split(" ", 1)) for o in reversed(SHOWN) if counts[o]],
        "let_through": tally(through), "cassettes": view.results.get("cassettes") or {},
        "upgrades": upgrade_tables(view), "tables": tables, "readings": column_readings(tables),
        "words": {(j["panel"], j["judge"]): view.words_on(j["panel"], j["judge"]) for j in view.judges},
        "parts_before": parts_before(view, questions), "csv": known.get("tables") or (),
        "parts_after": [baseline_part(view), *parts_after(view, known)],
        "facts": " · ".join(f"{name} {value}" for name, value in facts(view, known)),
    }  # fmt: skip


@cache
def environment(*folders: str) -> Environment:
    """Templates with autoescaping, those of `folders` first; they print invisible characters spelled out."""
    env = Environment(
        loader=ChoiceLoader([FileSystemLoader(folders), PackageLoader("recuse.report")]), autoescape=True,
        auto_reload=False, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined,
        finalize=lambda value: visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )  # fmt: skip
    # With the context as argument, or a word in a template would be folded in when the template is compiled.
    env.filters |= {"prose": style.prose, "printed": pass_context(lambda _, word: vocabulary.printed(word))}
    env.filters |= {"plain": plain_name, "number": count, "slug": lambda name: name.replace(" ", "-")}
    env.filters |= {"tally": tally, "worst": worst, "pc": lambda place: f"{place:g}%"}  # a place in a drawing
    env.filters |= {"anchor": addresses.verdict_anchor, "fault_anchor": addresses.fault_anchor}
    env.filters |= {"question": lambda name: addresses.named_anchor("q", name)}
    env.filters |= {"red": lambda n: addresses.named_anchor("red", n.question, n.gate)}

    def draw(figure: Any) -> Markup:
        """The figure by the template of its name: `HeatMaps`, figures/heat_maps.html.j2."""
        if not figure:
            return Markup()
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(figure).__name__).lower()
        return Markup(env.get_template(f"figures/{name}.html.j2").render(it=figure))

    env.globals |= {"draw": draw, "word_outcomes": OUTCOMES, "outcome_names": SHOWN, "loud": LOUD}
    env.globals |= {name.lower(): getattr(style, name) for name in ("PALETTE", "ON_SHADE", "RAMPS", "STRONGEST")}
    env.globals |= {"word_meanings": vocabulary.WORD_MEANINGS, "provenance_meanings": vocabulary.PROVENANCE_MEANINGS}
    return env


def styled(env: Environment, template: str, **shown: object) -> str:
    """A page with the style sheet, whose digest it states."""
    shown |= {"style": Markup(style.STYLE), "style_hash": style.STYLE_HASH}
    sheet = env.get_template("style.css.j2").render().strip()
    return style.with_style(env.get_template(template).render(shown), sheet).strip() + "\n"


def _section(
    env: Environment, view: ResultsModel, question: Question, drawings: Drawings, panels: Collection[str]
) -> dict[str, object] | None:
    """What the question found about these panels, as questions.html.j2 shows it; None where it is about others only."""
    groups = [group for group in view.groups(question) if group.panel.name in panels]
    if view.groups(question) and not groups:
        return None
    gated = [n for group in groups for n in group.numbers if n.verdict]
    drawn, above, template = [], set[str](), f"questions/{question.id}.html.j2"
    for group in groups:
        drawing, fault = drawings.of(question.id), drawings.faults.get(question.id, "")
        try:
            reading, figures = drawing.reading(group), drawing.draw(group)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:  # drawn plainly instead
            reading, figures, fault = "", plain.draw(group), f"{type(error).__name__}: {error}"
        own = template if not fault and template in env.list_templates() else ""  # a team's own instead of the figures
        notes = footnotes(group, above)
        drawn.append({"group": group, "reading": reading, "template": own, "figures": figures, "footnotes": notes,
                      "fault": fault})  # fmt: skip
        above.update(notes)
    # what is red stands above already, as does an upgrade's table
    long = question.id == "upgrade" or len({n.who for n in gated}) > MOST_OPEN
    folded = long or all(n.is_tolerated for n in gated)
    gates = [*dict.fromkeys(n.gate_title for n in gated)]
    # "1 pass" is said of what was asked: of "does it agree with people" perhaps that it answered alone
    of = f": {'; '.join(gates)}" if len(gates) <= MOST_GATES else ""
    return {"question": question, "outcomes": [n.state for n in gated], "of": of, "folded": folded, "groups": drawn}


def summary(
    results: Results, size_limit: int = SIZE_LIMIT, drawings: Sequence[str] = (), known: Known | None = None
) -> str:
    """Markdown for normalised `results`, failures first, without judges' words; whole sections are left out from the
    end where it would grow too long. Whatever others wrote passes a filter (`escaped` and those after it)."""
    view, order = ResultsModel(results), Drawings(drawings).order
    questions = sorted(view.questions, key=lambda q: order(q.id))
    of_gates = [(q, [group for group in view.groups(q) if group.gates]) for q in questions]
    text = _environment().get_template("summary.md.j2").render(
        **parts(view, questions, known or {}), lines=first_line.decision_lines(view), digests=digests(view),
        questions=[
            (q, [(group, verdict_table([group])) for group in groups],
             [n.state for group in groups for measured in group.gates.values() for n in measured])
            for q, groups in of_gates if groups
        ],
        unasked=not_asked(view), unasked_in_short=in_one_line(view),
    )  # fmt: skip
    sections = [re.sub("\n{3,}", "\n\n", section.strip()) for section in text.split(PARTED)]
    note = "\n\n_Shortened: the rest is in the report (index.html)._\n"
    kept: list[str] = []
    for section in filter(None, sections):
        if len("\n\n".join([*kept, section, note])) > size_limit:
            return "\n\n".join(kept)[: size_limit - len(note)] + note
        kept.append(section)
    return "\n\n".join(kept) + "\n"


@cache
def _environment() -> Environment:
    env = environment().overlay(autoescape=False, finalize=None)
    env.filters = env.filters | {"md": escaped, "html": escaped_html, "code": code_span, "fenced": fenced}
    return env


def escaped(text: str) -> str:
    """Plain text as Markdown: nothing in it formats, links, breaks a table, mentions a person or closes a comment."""
    return re.sub(r"([\\`*_\[\]|~$])", r"\\\1", escaped_html(text))


def escaped_html(text: str) -> str:
    """For text inside an HTML tag: Markdown is not read there, HTML is."""
    clean = " ".join(visible(shortened(text, LONGEST_TEXT)[0]).split())
    inert = clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # neither @someone nor #12 nor a bare address calls anyone or becomes a link
    silent = re.sub(r"([@#])(?=\w)", "\\1\u2060", inert)
    return silent.replace("://", ":\u2060//").replace("www.", "www\u2060.")


def code_span(text: str) -> str:
    """A name in a code span, where nothing is Markdown."""
    clean = " ".join(visible(shortened(text, LONGEST_NAME)[0]).split())
    return "`" + clean.replace("`", "'").replace("|", "/") + "`"


def fenced(code: str) -> str:
    """A block of code that nothing in it can end."""
    clean = "\n".join(visible(line) for line in shortened(code, LONGEST_TEXT)[0].splitlines())
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", clean)), default=0))
    return f"{fence}toml\n{clean}\n{fence}"
