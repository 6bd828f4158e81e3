"""What a measure is called, its unit, how to read it and which direction is bad: said where it is computed, once.

    @measure("repeat_difference", "difference between repeats", above="is unsteady|are unsteady", reading="...")
    def repeat_difference(ratings: Ratings) -> Estimates: ...

Every output (terminal, Markdown, HTML, JSON) renders from this description. A measure of a team's own repository is
described the same way; one that is not described is called by its own name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from recuse.ratings import Ratings
from recuse.schema import RecuseError

__all__ = ["MEASURES", "Bad", "Measure", "describe", "described", "measure"]

P = ParamSpec("P")
R = TypeVar("R")
Bad = Literal["above", "below", "both", "none"]

MEASURES: dict[str, Measure] = {}
"""Every described measure that has been imported, by the name its estimates carry."""

SHARES: Mapping[tuple[str, bool], tuple[float, float]] = {("share", False): (0.0, 1.0), ("share", True): (-1.0, 1.0)}
"""Ends by unit and sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The description of one measure.

    `above` and `below` say what a judge does whose value lies above or below its limit, singular and plural: "promotes
    itself|promote themselves". `bad` is the direction that speaks against a judge. `rank` orders
    measures wherever several are told: the lowest comes first. `ends`: the least and the greatest value it can have,
    where it has such; of shares and differences of shares they are known.
    """

    name: str
    title: str
    reading: str = ""
    unit: str = ""
    signed: bool = False
    bad: Bad = "none"
    above: str = ""
    below: str = ""
    rank: int = 1000
    ends: tuple[float, float] | None = None

    def record(self) -> Mapping[str, Any]:
        """The description as builtins, for results.json."""
        ends = self.ends or SHARES.get((self.unit, self.signed))
        return {name: getattr(self, name) for name in self.__slots__} | {"ends": list(ends) if ends else None}


def measure(
    name: str, title: str, *, above: str = "", below: str = "", bad: Bad | None = None, **more: Any
) -> Callable[[Callable[Concatenate[Ratings, P], R]], Callable[Concatenate[Ratings, P], R]]:
    """Describe the function below it, and compute it once per ratings and arguments, however many tests ask for it.

    `bad` follows from `above` and `below` unless given. Raises `RecuseError` where another function has the name.
    """
    describe(name, title, above=above, below=below, bad=bad, **more)

    def decorate(function: Callable[Concatenate[Ratings, P], R]) -> Callable[Concatenate[Ratings, P], R]:
        signature = inspect.signature(function)

        @wraps(function)
        def computed(ratings: Ratings, *args: P.args, **kwargs: P.kwargs) -> R:
            given = signature.bind(ratings, *args, **kwargs)
            given.apply_defaults()
            key = tuple((k, id(v) if isinstance(v, Ratings) else v) for k, v in list(given.arguments.items())[1:])
            try:
                hash(key)
            except TypeError:  # an argument that cannot be a key: compute anew
                return function(ratings, *args, **kwargs)
            return ratings.remember((function, key), lambda: function(ratings, *args, **kwargs))

        return cast("Callable[Concatenate[Ratings, P], R]", computed)

    return decorate


def describe(name: str, title: str, *, above: str = "", below: str = "", bad: Bad | None = None, **more: Any) -> None:
    """Describe a measure whose function takes more than one `Ratings`; otherwise as `measure`."""
    direction = bad or ("both" if above and below else "above" if above else "below" if below else "none")
    about = Measure(name=name, title=title, above=above, below=below, bad=direction, **more)
    if MEASURES.get(name, about) != about:
        raise RecuseError(f"measure {name!r} is already described, as {MEASURES[name].title!r}; choose another name")
    MEASURES[name] = about


def described(name: str) -> Measure:
    """The description of a measure; one that has none is called by its name in plain words."""
    return MEASURES.get(name) or Measure(name=name, title=name.replace("_", " "))
