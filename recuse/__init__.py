"""Recuse decides whether an LLM judge may be trusted. See README.md; the parts are listed in docs/architecture.md.

    ratings = recuse.read("ratings.csv")
    recuse.check(ratings)                                      # the decision: who may be used for what
    recuse.measures.human_ceiling(ratings).to_frame()

What `__all__` and `recuse.ext.__all__` name is public (docs/public.md); whatever else is imported may move. Names are
imported when they are asked for, so that `import recuse` takes no time.
"""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, whose import takes longer than all else here
if TYPE_CHECKING:
    from recuse import ext, measures
    from recuse.check.check_command import check
    from recuse.experiments.plan_command import Plan, plan
    from recuse.gates import Decision
    from recuse.gates.upgrade_verdict import UpgradeVerdict
    from recuse.ratings import Ratings, Scale
    from recuse.readers.file_panel import read
    from recuse.schema import Estimate, RecuseError, Verdict
    from recuse.upgrade.compare_command import compare

__version__ = "0.2.0"
__all__ = [
    "Decision", "Estimate", "Plan", "Ratings", "RecuseError", "Scale", "UpgradeVerdict", "Verdict", "check", "compare",
    "ext", "measures", "plan", "read",
]  # fmt: skip
HOMES = {
    "Decision": "gates", "Estimate": "schema", "Plan": "experiments.plan_command", "Ratings": "ratings",
    "RecuseError": "schema", "Scale": "ratings", "UpgradeVerdict": "gates.upgrade_verdict", "Verdict": "schema",
    "compare": "upgrade.compare_command", "plan": "experiments.plan_command", "read": "readers.file_panel",
}  # fmt: skip
"""Name -> the module that has it. The names of `__all__` that are not here are modules themselves."""


if not TYPE_CHECKING:  # a type checker sees the imports above, and no other name

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module 'recuse' has no attribute {name!r}")
        home = import_module(f"recuse.{HOMES.get(name, name)}")
        globals()[name] = getattr(home, name) if name in HOMES else home
        return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
