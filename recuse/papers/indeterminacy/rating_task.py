"""A rating task: the options a rater may choose, and the sets of options that a rater may hold admissible at once.

Guerdan et al. (2025), Validating LLM-as-a-judge systems in the absence of gold labels, sec. 2. K options O, V sets Q.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = ["RatingTask"]


@dataclass(frozen=True)
class RatingTask:
    """`options` in order (the first is the property of interest unless a caller says otherwise); `sets` of them, each
    not empty and none twice.

    >>> RatingTask.of(["yes", "no"]).sets == (frozenset({"yes"}), frozenset({"no"}), frozenset({"yes", "no"}))
    True
    """

    options: tuple[str, ...]
    sets: tuple[frozenset[str], ...]

    def __post_init__(self) -> None:
        if len(self.options) < 2 or len(set(self.options)) < len(self.options):
            raise RecuseError(
                f"a rating task has two options or more, each once; got {', '.join(self.options) or 'none'}"
            )
        if not self.sets or len(set(self.sets)) < len(self.sets):
            raise RecuseError("a rating task has one admissible response set or more, each once")
        for members in self.sets:
            if not members:
                raise RecuseError("a response set holds one option or more; got an empty set")
            if strange := sorted(members - set(self.options)):
                raise RecuseError(
                    f"a response set holds options of the task, {', '.join(self.options)}; got {', '.join(strange)}"
                )

    @classmethod
    def of(cls, options: Sequence[str], sets: Iterable[Iterable[str]] | None = None) -> RatingTask:
        """The task with these sets; without any, every set that is not empty is admissible, the smallest first."""
        names = tuple(options)
        if sets is None:
            sets = (chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size))
        return cls(names, tuple(frozenset(members) for members in sets))

    @classmethod
    def specified(cls, options: Sequence[str]) -> RatingTask:
        """The fully specified task: one option is right at a time."""
        return cls.of(options, ([name] for name in options))

    @property
    def underspecified(self) -> bool:
        """Definition 2.1, read strictly: |O| < |Q|. With the printed <= every task would be underspecified and Theorem
        3.4 would say nothing."""
        return len(self.options) < len(self.sets)

    @cached_property
    def membership(self) -> Floats:
        """Lambda (K, V): 1 where set v holds option k."""
        return np.array([[float(name in members) for members in self.sets] for name in self.options])

    @cached_property
    def sizes(self) -> Floats:
        """How many options each set holds, (V,)."""
        sizes: Floats = self.membership.sum(axis=0)
        return sizes

    def place(self, option: str) -> int:
        """The index of an option; `RecuseError` for one that is none."""
        if option not in self.options:
            raise RecuseError(f"an option is one of {', '.join(self.options)}; got {option!r}")
        return self.options.index(option)

    def set_place(self, members: Iterable[str]) -> int:
        """The index of a response set; `RecuseError` for one that is not admissible."""
        wanted = frozenset(members)
        if wanted not in self.sets:
            named = "|".join(name for name in self.options if name in wanted) or "the empty set"
            strange = sorted(wanted - set(self.options))
            raise RecuseError(
                f"a response set holds options of {', '.join(self.options)}; got {', '.join(strange)}"
                if strange
                else f"{named} is not among the {len(self.sets)} admissible response sets of this task"
            )
        return self.sets.index(wanted)

    def set_name(self, place: int) -> str:
        """A set as it stands in a table: "a|b"."""
        return "|".join(name for name in self.options if name in self.sets[place])
