"""What gates, check, upgrade and report pass on has names and types, and one function says the word on a judge."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from imports import ENGINE, ROOT

TYPED = ("gates", "check", "upgrade", "report")
PRINTING = ("check", "git", "plugin", "report", "run", "upgrade")
MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping"}
MOST = 30
"""Where a dict of anything may stand: at the edges, where JSON, TOML or options are read. Sixty was the aim."""


def test_what_is_passed_on_is_typed() -> None:
    places = [place for path in _modules(TYPED) for place in untyped(path.read_text("utf-8"), _called(path))]
    assert len(places) < MOST, "name the rows in recuse/schema/results.py:\n" + "\n".join(places)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("def f(a: dict[str, Any], b: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]: ...", 3),
        ("Json = dict[str, Any]\ndef f(a: Json) -> Json: ...", 3),
        ("Json: TypeAlias = dict[str, Any]\ndef f(a: list[Json]) -> None: ...", 2),
        ("from recuse.gates.rows import Json\ndef f(a: Json) -> None: ...", 0),
        ("def f(a: dict[str, object], b: VerdictRow) -> Mapping[str, float]: ...", 0),
        ('def f(a: "dict[str, Any]") -> None: ...', 1),
    ],
)
def test_what_is_untyped_is_counted_under_any_name(source: str, count: int) -> None:
    assert len(untyped(source, "somewhere.py")) == count


def test_an_alias_from_another_module_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "_aliases_of", lambda module: {"Json"} if module == "recuse.gates.rows" else set())
    source = "from recuse.gates.rows import Json as Row\ndef f(a: Row) -> None: ..."
    assert len(untyped(source, "somewhere.py")) == 1


def test_only_the_decision_says_whether_a_judge_is_cleared() -> None:
    """Whoever prints may look up a mark for a word, list words in an order and read a word; it makes none."""
    places = [place for path in _modules(PRINTING) for place in words_made(path.read_text("utf-8"), _called(path))]
    assert not places, "recuse/gates/decision.py says the word on a judge:\n" + "\n".join(places)


@pytest.mark.parametrize(
    "source",
    [
        'word = "cleared" if passes else "not cleared"',
        'def word(judge): return "not cleared"',
        'judge["word"] = "not cleared"',
        'Standing("cleared", [], "", False)',
        'row = {"judge": name, "word": "not cleared"}',
        'JudgeDecision("panel", "judge", "grade", word, "")',
        'word = f"{no}cleared" if x else max(words, default="cleared")',
    ],
)
def test_a_second_opinion_is_noticed(source: str) -> None:
    assert words_made(source, "somewhere.py")


@pytest.mark.parametrize(
    "source",
    [
        'MARKS = {"cleared": "pass", "not cleared": "fail"}',
        'for word in ("not cleared", "undecided", "cleared"): show(word)',
        'if one.word == "cleared": print(one.judge)',
        'def f() -> Literal["cleared", "not cleared"]: ...',
        'def f():\n    """not cleared"""',
    ],
)
def test_printing_a_word_is_no_opinion(source: str) -> None:
    assert not words_made(source, "somewhere.py")


# --------------------------------------------------------------------------- what stands in a source


def untyped(source: str, called: str) -> list[str]:
    """Every `dict[str, Any]` and `Mapping[str, Any]` of a module, and every use of a name that stands for one."""
    tree = ast.parse(source)
    names = _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            known = _aliases_of(node.module)
            names |= {alias.asname or alias.name for alias in node.names if alias.name in known}
    return [
        f"{called}:{node.lineno}: {ast.unparse(node)}"
        for node in _with_quoted(tree)
        if _is_untyped(node) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names)
    ]


def words_made(source: str, called: str) -> list[str]:
    """Every place where a word on a judge comes into being rather than being looked up, listed or read."""
    made = []
    tree = ast.parse(source)
    allowed = {id(word) for node in ast.walk(tree) for word in _words_read(node)}
    for node in ast.walk(tree):
        word = isinstance(node, ast.Constant) and node.value in ("cleared", "not cleared") and id(node) not in allowed
        if word or (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("JudgeDecision")):
            made.append(f"{called}:{node.lineno}: {ast.unparse(node)}")
    return made


def _words_read(node: ast.AST) -> list[ast.expr]:
    """Parts of a node that may be words: keys of a mapping, a sequence of words, one side of a comparison, a type, a
    docstring."""
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Tuple | ast.List):
        return node.iter.elts
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal" and isinstance(node.slice, ast.Tuple):
        return node.slice.elts
    return [node.value] if isinstance(node, ast.Expr) else []


def _is_untyped(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or ast.unparse(node.value).rpartition(".")[2] not in MAPPINGS:
        return False
    return isinstance(node.slice, ast.Tuple) and [ast.unparse(part) for part in node.slice.elts] == ["str", "Any"]


def _with_quoted(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Every node, and those of annotations in quotes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt):
            yield node
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            for inner in ast.walk(ast.parse(annotation.value, mode="eval")):
                if isinstance(inner, ast.expr):
                    yield inner


def _aliases(tree: ast.Module) -> set[str]:
    """Names that a module gives to a mapping to anything, alone or inside another type."""
    names: set[str] = set()
    for node in tree.body:
        value = getattr(node, "value", None)
        if value is None or isinstance(value, ast.Call) or not any(map(_is_untyped, ast.walk(value))):
            continue
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


@cache
def _aliases_of(module: str) -> set[str]:
    path = ROOT.joinpath(*module.split("."))
    files = [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]
    return _aliases(ast.parse(files[0].read_text("utf-8"))) if module.startswith("recuse") and files else set()


def _modules(names: tuple[str, ...]) -> Iterator[Path]:
    for name in names:
        path = ENGINE / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _called(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
