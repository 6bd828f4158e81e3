"""Pages of the site that are made, not written: parts of README.md, every question of evals/, every measure, the API.

A hook of mkdocs. What stands in the README stands here in the same words; questions and measures are their docstrings
and descriptions. A link to a file that is not on the site becomes its text: the project has no public address yet.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REPORT = ROOT / "reports" / "index.html"  # of the last run of evals/, if there was one: the picture of every question
START = ("A file of ratings", "Three doors, one decision", "Cleared for what", "In a pull request", "How sure it is")
API = ("schema", "ratings", "metrics.measure", "gates", "protocols", "judges", "readers", "report", "cassettes")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made."""
    from mkdocs.structure.files import File

    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    kinds = ("tables/*.csv", "studies/*.html", "replies/**/*.html")
    beside = [path for kind in kinds for path in REPORT.parent.glob(kind)]
    for path in (REPORT, *sorted(beside)) if REPORT.is_file() else ():
        name = f"report/{path.relative_to(REPORT.parent).as_posix()}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    for place, picture in pictures(REPORT).items():
        files.append(File.generated(config, f"report/pictures/{place}.html", content=picture))
    return files


def on_config(config: Any) -> Any:
    """Pages of docs/ that the menu does not name stand under "In depth", before the reference."""
    named = set(names_in(config["nav"]))
    more = [path for path in sorted(DOCS.glob("*.md")) if path.name not in named]
    config["nav"].insert(-1, {"In depth": [{title_of(path): path.name} for path in more]})
    return config


def names_in(menu: Any) -> Iterator[str]:
    """Every page that a menu names, at any depth."""
    if isinstance(menu, str):
        yield menu
    else:
        for entry in menu.values() if isinstance(menu, dict) else menu:
            yield from names_in(entry)


def title_of(path: Path) -> str:
    """A page's first heading as far as its colon."""
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").partition(":")[0]


def pages() -> dict[str, str]:
    """Name -> Markdown of every page that is made."""
    intro, sections = readme()
    found = {"index.md": "\n".join([intro, *(f"## {name}\n\n{sections[name]}" for name in START)])}
    found = {page: site_links(text, ROOT) for page, text in found.items()}
    return found | {"questions.md": questions(), "measures.md": measures(), "api/index.md": reference()}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Pages that were written link to the repository; on the site such a link is its text."""
    written = page.file.abs_src_path and Path(page.file.abs_src_path).is_relative_to(DOCS)
    return site_links(markdown, Path(page.file.abs_src_path).parent) if written else markdown


def site_links(text: str, folder: Path) -> str:
    """`text` of a document in `folder` with links to pages of the site, from its top, and no others."""

    def link(match: re.Match[str]) -> str:
        shown, target, anchor = match.groups()
        if "://" in target or not target:
            return match[0]
        path = (folder / target).resolve()
        if path.is_relative_to(DOCS) and path.exists():
            return f"[{shown}]({path.relative_to(DOCS).as_posix()}{anchor or ''})"
        return shown

    return re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)]*)?\)", link, text)


def readme() -> tuple[str, dict[str, str]]:
    """What stands above the first heading, and heading -> text."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    intro, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return intro, {part.partition("\n")[0].strip(): part.partition("\n")[2].strip() + "\n" for part in parts}


# --------------------------------------------------------------------------- questions


def questions() -> str:
    """Every shipped question: its words, a picture of the last run, what is computed, from which papers, its tests."""
    described, drawn = functions(), pictures(REPORT)
    told = "Each is a file in `evals/`, asked of every panel, task and protocol that offers what it needs."
    parts = ["# Questions", told]
    for path in sorted((ROOT / "evals").glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        title, _, note = (ast.get_docstring(tree) or "").partition("\n")
        parts += [f"## {title}", f"`evals/{path.name}`", note.strip()]
        taken = measured_in(tree)
        used = sorted(key for key in described if key[1] in taken)
        place = f"q-{path.stem.removeprefix('test_')}"
        parts += [shown(place, title) if place in drawn else "", computed(note, used, described), *tests_of(tree)]
    return "\n\n".join(part for part in parts if part) + "\n"


def shown(place: str, title: str) -> str:
    """The picture of a question, and the way to it on the report."""
    frame = f'<iframe class="picture" src="report/pictures/{place}.html" title="{title}" loading="lazy"></iframe>'
    return f"{frame}\n\n[As this repository's own report draws it](report/{page_of(place)}#{place})."


def pictures(report: Path) -> dict[str, str]:
    """Anchor of every question on a report, or on the first of its studies that has it -> a page with what is drawn
    there and nothing else; {} without a report. Its links lead to the whole report."""
    found: dict[str, str] = {}
    for path in (report, *sorted(report.parent.glob("studies/*.html"))) if report.is_file() else ():
        text, page = path.read_text(encoding="utf-8"), path.relative_to(report.parent).as_posix()
        for part in re.finditer(r"<section id=(q-[^\s>]+).*?</section>", text, re.DOTALL):  # the page leaves quotes out
            head, defs = text.partition("</head>")[0], re.search(r"<svg class=defs.*?</svg>", text)
            body = part[0].replace("<details class=question>", "<details class=question open>")
            body = re.sub(r'(<a (?:class=(?:"[^"]*"|\S+) )?href=)(?=#)', rf"\1../{page}", body)
            body = re.sub(r'(<a (?:class=(?:"[^"]*"|\S+) )?href=)(?:\.\./)?(?=replies/)', r"\1../", body)
            body = body.replace("<a ", '<a target="_top" ')
            whole = f"{head}</head><body><main>{defs[0] if defs else ''}{body}</main></body></html>\n"
            found.setdefault(part[1], whole)
    return found


def page_of(place: str) -> str:
    """The page of the report on which a question is drawn first."""
    pages = (REPORT, *sorted(REPORT.parent.glob("studies/*.html")))
    first = next(path for path in pages if f"<section id={place} " in path.read_text(encoding="utf-8"))
    return first.relative_to(REPORT.parent).as_posix()


def computed(question: str, used: list[tuple[str, str]], described: Mapping[tuple[str, str], Any]) -> str:
    """What a question looks at: each measure with its definition, the first paragraph of its docstring, and the papers
    that the question, the measure and its module name. A question without measures compares those of all others."""
    if not used:
        return "Compares the measures of the other questions; see [Measures](measures.md)."
    lines = [
        f"- [{described[one][0]['title']}](measures.md#{anchor(*one)}): {in_line(definition(described[one][1]))}"
        for one in used
    ]
    docs = [question, *(doc for one in used for doc in (described[one][1], module_doc(one[0])))]
    papers = papers_in(docs)
    sources = f"From: {'; '.join(map(in_line, papers))}." if papers else ""
    return "\n\n".join(part for part in ("**What is computed**", "\n".join(lines), sources) if part)


def definition(doc: str) -> str:
    """The first paragraph of a docstring: formula and subject."""
    return " ".join(doc.partition("\n\n")[0].split())


PAPER = re.compile(
    r"[A-Z][\w'’-]+(?:(?:,| and| &) [A-Z][\w'’-]+)*(?: et al\.?)?,? \(?(?:19|20)\d\d[a-z]?\)?"
    r"(?:[,:]? (?:arXiv:\d{4}\.\d{4,5}|\d+\(\d+\)))?|arXiv:\d{4}\.\d{4,5}"
    r"|(?:[Mm]erchant-risk paper|[Pp]aper 00\d|[Tt]he thesis|thesis on bias in LLM self-evaluation)"
    r"(?:, (?:sec\.|Appendix|App\.|Fig\.) [A-Z\d.]*[A-Z\d])?"
    r'|"[A-Z][^"]{10,80}",? \(?20\d\d(?:, sections? [\d.]*\d(?: and \d)?)?'
)
"""How docstrings name what they come from: by authors and year, by a number, or by what the studies are called here."""


def papers_in(docs: Iterable[str]) -> list[str]:
    """Papers that docstrings name, in their own words, each once and as closely as one of them says."""
    found = {re.sub(r"[()]", "", paper) for doc in docs for paper in PAPER.findall(" ".join(doc.split()))}
    told = {re.sub(r"^(?=merchant|thesis|the |paper)[a-z]", lambda m: m[0].upper(), paper) for paper in found}
    return sorted(paper for paper in told if not any(other != paper and other.startswith(paper) for other in told))


def module_doc(module: str) -> str:
    return importlib.import_module(f"recuse.{module}").__doc__ or ""


def in_line(text: str) -> str:
    """Text of a docstring as Markdown that shows it as it stands."""
    return re.sub(r"`[^`]+`|[\\*_<>|\[\]]", lambda m: m[0] if m[0][0] == "`" else f"\\{m[0]}", text)


MEASURED = ("recuse.metrics", "recuse.papers")
"""Where measures stand: those of any judge, and those of the papers' studies."""


def tests_of(tree: ast.Module) -> Iterator[str]:
    """A table of a file's tests: name, what it needs, what it says."""
    yield "| test | what it asks |\n|---|---|\n" + "\n".join(
        f"| `{node.name}` | {' '.join((ast.get_docstring(node) or '').split()).replace('|', chr(92) + '|')} |"
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def measured_in(tree: ast.Module) -> set[str]:
    """The functions that a file takes from recuse, by name or from a module: measures are among them."""
    origin = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recuse")
        for alias in node.names
    }
    of_modules = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in origin
    }
    return {*origin.values(), *of_modules}


# --------------------------------------------------------------------------- measures


def measures() -> str:
    """Every described measure: title, unit, reading and direction, and the docstring with formula and source."""
    told = "What a measure is called, its unit and how to read it stand beside its formula, as in the code."
    parts = ["# Measures", told]
    for (module, name), (about, doc) in functions().items():
        parts += [f"## {about['title']} {{ #{anchor(module, name)} }}", f"`recuse.{module}.{name}`"]
        bad = {"above": "high values", "below": "low values", "both": "values far from the middle"}.get(about["bad"])
        facts = [f"Unit: {about['unit']}." if about["unit"] else "", f"Against a judge speak {bad}." if bad else ""]
        parts += [about["reading"], " ".join(fact for fact in facts if fact), fenced(doc)]
    return "\n\n".join(part for part in parts if part) + "\n"


def functions() -> dict[tuple[str, str], tuple[Mapping[str, Any], str]]:
    """(module, name) -> (its description, its docstring), of every function below `@measure` and every coefficient."""
    from recuse.metrics.agreement import COEFFICIENTS
    from recuse.metrics.measure import described

    rows = {name: (described(name), row.definition) for name, row in COEFFICIENTS.items()}
    found = {("metrics.agreement", name): row for name, row in rows.items()}
    roots = [importlib.import_module(name) for name in MEASURED]
    for info in (info for root in roots for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")):
        module = importlib.import_module(info.name)
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for node in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            if metric := metric_of(node):
                key = info.name.removeprefix("recuse."), node.name
                found[key] = described(metric), ast.get_docstring(node) or ""
    return dict(sorted(found.items(), key=lambda one: one[1][0]["title"].lower()))


def metric_of(node: ast.FunctionDef) -> str:
    calls = (d for d in node.decorator_list if isinstance(d, ast.Call) and ast.unparse(d.func) == "measure")
    return next((str(c.args[0].value) for c in calls if c.args and isinstance(c.args[0], ast.Constant)), "")


def anchor(module: str, name: str) -> str:
    return f"{module}-{name}".replace(".", "-").replace("_", "-")


def fenced(doc: str) -> str:
    """A docstring as it stands: its formulas are lined up by hand."""
    return f"```text\n{doc}\n```" if doc else ""


# --------------------------------------------------------------------------- reference


def reference() -> str:
    """The public names of the engine's packages, from their docstrings."""
    return "# Reference\n\n" + "\n\n".join(f"::: recuse.{name}" for name in API) + "\n"
