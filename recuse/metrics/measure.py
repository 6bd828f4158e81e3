"""What a measure is called, its unit, how to read it and which direction is bad: said where it is computed, once.

    @measure("repeat_difference", "difference between repeats", above="is unsteady", reading="...")
    def repeat_difference(ratings: Ratings) -> Estimates: ...

Every output (terminal, Markdown, HTML, JSON) renders from this description. A measure of a team's own repository is
described the same way; one that is not described is called by its own name.

The examples in docstrings write small ratings in a line, with `example`, `table`, `rated` and
`accepted` (tests/packaging/written_ratings.py)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from recuse.measures import NAMED, homes
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.schema.results import UNDESCRIBED, MeasureRow

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")
Named = tuple[str | tuple[str, ...], Estimate]
"""The name of a subject, or its names, such as a judge and a target, and the estimate."""
View = Callable[[Ratings, Ratings], V | None]
"""From the ratings of one criterion and combination of factor levels, and the ratings they are part of, to the form
that a measure computes on; None where it is not asked."""
Bad = Literal["above", "below", "both", "none"]
MEASURES: dict[str, MeasureRow] = {}
"""Every described measure that has been imported, by the name its estimates carry."""
PLACES: dict[str, str] = {}
"""Where each of them that is one function stands."""
ENDS: Mapping[tuple[str, bool], tuple[float, float]] = {("share", False): (0.0, 1.0), ("share", True): (-1.0, 1.0)}
"""Ends by unit and sign."""


def measure(
    name: str, title: str, *, above: str = "", below: str = "", bad: Bad | None = None, counts: bool = False,
    **more: Any,
) -> Callable[[Callable[Concatenate[Ratings, P], R]], Callable[Concatenate[Ratings, P], R]]:  # fmt: skip
    """Describe the function below it, and compute it once per ratings and arguments, however many tests ask for it.

    `counts`: it counts an item that stands for others as so many (`Ratings.times`), and so is given many items as
    patterns; a measure that does not is given single items (`recuse.ratings.folding`).

    `above` and `below` say what a judge does whose value lies above or below its limit: "promotes itself". `bad` is the
    direction that speaks against a judge; it follows from these unless given. `rank` orders measures wherever several
    are told: the lowest comes first. `ends`: the least and the greatest value it can have, where it has such; of shares
    and differences of shares they are known. Raises `RecuseError` where another function has the name, one that is
    shipped also before it is imported."""

    def decorate(function: Callable[Concatenate[Ratings, P], R]) -> Callable[Concatenate[Ratings, P], R]:
        place = f"{function.__module__}.{function.__name__}"
        if not place.startswith("recuse.") and (home := homes(NAMED).get(name)):
            raise RecuseError(f"measure {name!r} of {place} has the name of one in {home}; choose another name")
        describe(name, title, above=above, below=below, bad=bad, place=place, **more)
        signature = inspect.signature(function)

        @wraps(function)
        def computed(ratings: Ratings, *args: P.args, **kwargs: P.kwargs) -> R:
            if not isinstance(ratings, Ratings):
                kind = type(ratings).__name__
                raise RecuseError(f"{name} measures ratings, as recuse.read and Ratings.of make them; it got a {kind}")
            given = signature.bind(ratings, *args, **kwargs)
            given.apply_defaults()
            ratings = ratings.folded() if counts else ratings.single()
            key = tuple((k, id(v) if isinstance(v, Ratings) else v) for k, v in list(given.arguments.items())[1:])
            try:
                hash(key)
            except TypeError:  # an argument that cannot be a key: compute anew
                return function(ratings, *args, **kwargs)
            return ratings.remember((function, key), lambda: function(ratings, *args, **kwargs))

        return cast("Callable[Concatenate[Ratings, P], R]", computed)

    return decorate


def describe(
    name: str, title: str, *, above: str = "", below: str = "", bad: Bad | None = None, reading: str = "",
    unit: str = "", signed: bool = False, rank: int = 1000, ends: tuple[float, float] | None = None, place: str = "",
) -> None:  # fmt: skip
    """Describe a measure whose function takes more than one `Ratings`; otherwise as `measure`."""
    ends = ends or ENDS.get((unit, signed))
    about: MeasureRow = {
        "name": name, "title": title, "above": above, "below": below, "reading": reading, "unit": unit,
        "signed": signed, "rank": rank, "ends": list(ends) if ends else None,
        "bad": bad or ("both" if above and below else "above" if above else "below" if below else "none"),
    }  # fmt: skip
    if MEASURES.get(name, about) != about:
        raise RecuseError(f"measure {name!r} of {place} has the name of {PLACES.get(name)}; choose another name")
    MEASURES[name] = about
    PLACES.setdefault(name, place)


def per_judge(
    view: View[V], *pooled: str
) -> Callable[[Callable[Concatenate[V, int, P], Estimate | None]], Callable[Concatenate[Ratings, P], Estimates]]:
    """From a measure of the k-th judge of `view` to one of all judges, within every criterion and every combination of
    levels of the factors that are not `pooled`; None where it is not asked."""

    def decorate(
        function: Callable[Concatenate[V, int, P], Estimate | None],
    ) -> Callable[Concatenate[Ratings, P], Estimates]:
        @wraps(function)
        def each(seen: Any, /, *args: P.args, **kwargs: P.kwargs) -> Iterable[Named]:
            made = ((judge, function(seen, k, *args, **kwargs)) for k, judge in enumerate(seen.judges))
            return ((judge, estimate) for judge, estimate in made if estimate is not None)

        first, _, *own = inspect.signature(function).parameters.values()
        each.__signature__ = inspect.Signature([first, *own])  # type: ignore[attr-defined]
        return per_subject("judge", view, *pooled)(each)

    return decorate


def per_subject(
    by: str | tuple[str, ...], view: View[V], *pooled: str
) -> Callable[[Callable[Concatenate[V, P], Iterable[Named] | Estimate]], Callable[Concatenate[Ratings, P], Estimates]]:
    """As `per_judge`, for a function that yields the estimates of some subjects, each named by what `by` lists, or
    returns the one estimate of all together, where `by` is ()."""

    def decorate(each: Callable[Concatenate[V, P], Any]) -> Callable[Concatenate[Ratings, P], Estimates]:
        @wraps(each)
        def measured(ratings: Ratings, *args: P.args, **kwargs: P.kwargs) -> Estimates:
            estimates: dict[tuple[str, ...], Estimate] = {}
            for levels, part in ratings.each(*pooled):
                if ratings.judges and not part.judges:  # people were asked apart from what was varied of the judges
                    continue
                if (seen := view(part, ratings)) is None:
                    continue
                made = each(seen, *args, **kwargs)
                for subject, estimate in [((), made)] if isinstance(made, Estimate) else made:
                    estimates[(subject, *levels) if isinstance(subject, str) else (*subject, *levels)] = estimate
            names = (by,) if isinstance(by, str) else by
            return Estimates((*names, *ratings.within(*pooled)), estimates)

        own = [*inspect.signature(each).parameters.values()][1:]
        first = inspect.Parameter("ratings", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Ratings)
        measured.__signature__ = inspect.Signature([first, *own])  # type: ignore[attr-defined]
        return cast("Callable[Concatenate[Ratings, P], Estimates]", measured)

    return decorate


def itself(part: Ratings, ratings: Ratings) -> Ratings:
    """The view of measures that need nothing denser."""
    return part


def described(name: str) -> MeasureRow:
    """The description of a measure; one that has none is called by its name in plain words."""
    return MEASURES.get(name) or {**UNDESCRIBED, "name": name, "title": name.replace("_", " ")}
