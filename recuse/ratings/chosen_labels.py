"""Labels that were chosen group by group.

`recuse check --next-labels` groups texts by what the judges say of them, and asks for more labels where these tell
more. Texts of a group have one chance to be labelled, those of different groups have not, so group h counts

    w_h = N_h / n_h,    N_h: texts of the group that the judge was asked about,  n_h: those of them with a label

(Horvitz and Thompson 1952, JASA 47, 663-685). A measure that counts all labelled texts alike would be wrong by as
much as groups differ; which ones weigh is listed in `WEIGHED`, and every other one is undefined for such labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.answers import Answers, answers_of_one_way, facts_at
from recuse.ratings.ratings import Ratings
from recuse.ratings.ratings_table import PERSON, completed
from recuse.ratings.scale import Numeric
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

GROUP = "label_group"  # the column of `Ratings.texts` that names each text's group
HEAD = ("item", "system", GROUP, "for_judge")  # the columns of a list of next labels; behind them one for each person
DONE = "done"  # stands where a person has rated the text already
WEIGHED = frozenset(["human_ceiling", "human_offset", "share_bias", "unanswered"])  # count what a label stands for
SMALLEST, SMALLEST_SHARE = 10, 0.02  # a group of fewer texts is joined to its neighbour


def are_chosen(ratings: Ratings) -> bool:
    """Whether people's labels were chosen group by group."""
    return ratings.texts is not None and GROUP in ratings.texts


def groups_on(part: Ratings | None, items: Sequence[str], targets: Sequence[str]) -> NDArray[np.intp] | None:
    """The group of each text as a number, (U,); None where labels were not chosen by group."""
    if part is None or part.texts is None or GROUP not in part.texts:
        return None
    names = facts_at(part.texts[["item", "target", GROUP]], items, targets)[GROUP]
    return pd.factorize(names.fillna("").to_numpy(dtype=object))[0].astype(np.intp)


def text_groups(given: Answers, judge: int) -> NDArray[np.object_]:
    """The name of each text's group, (U,), by the answers of the judges alone."""
    others = [k for k in range(len(given.judges)) if k != judge]
    if given.options:
        shares = given.judge_shares
        answered = np.isfinite(shares[:, :, 0])
        mode = np.where(answered, np.nan_to_num(shares).argmax(axis=2), -1)
        unsure = answered[judge] & (np.nan_to_num(shares[judge]).max(axis=1) < 1)
        own = [given.options[k] if k >= 0 else "no answer" for k in mode[judge]]
        own = [f"{name}, not always" if one else name for name, one in zip(own, unsure, strict=True)]
        level = ((mode[others] != mode[judge]) & answered[others]).sum(axis=0).tolist()
        words = "it says {own}" + (f"; {{level}} of {len(others)} other judges differ" if others else "")
    else:
        means, scores = given.judge_means, given.judge_means[judge]
        known = np.isfinite(scores)
        apart = np.nan_to_num(np.abs(means[others] - scores)).mean(axis=0) if others else np.nan_to_num(
            np.nanstd(np.where(known[:, None], given.judged[judge], 0.0), axis=1)
        )  # fmt: skip
        third, level = (
            np.searchsorted(np.unique(np.quantile(of[known], [1 / 3, 2 / 3])) if known.any() else [], of, side="left")
            for of in (np.nan_to_num(scores), apart)
        )
        own = [("low", "middle", "high")[k] if there else "no answer" for k, there in zip(third, known, strict=True)]
        level = np.where(known, level, 0).tolist()
        what = "other judges are" if others else "its repeats are"
        words = "its score is {own}; " + what + " {level} steps away" if apart.any() else "its score is {own}"
    joined = {key: key for key in set(zip(own, level, strict=True))}
    sizes = {key: sum(pair == key for pair in zip(own, level, strict=True)) for key in joined}
    fewest = max(SMALLEST, SMALLEST_SHARE * len(own))
    while len(sizes) > 1 and min(sizes.values()) < fewest:
        small = min(sizes, key=lambda key: (sizes[key], key))
        rest = [key for key in sizes if key != small]
        near = min(rest, key=lambda key: (key[0] != small[0], abs(key[1] - small[1]), -sizes[key], key))
        sizes[near] += sizes.pop(small)
        joined = {key: near if to == small else to for key, to in joined.items()}
    names = {key: words.format(own=to[0], level=to[1]) for key, to in joined.items()}
    return np.array([names[key] for key in zip(own, level, strict=True)], dtype=object)


def label_weights(groups: NDArray[np.intp], judged: NDArray[np.bool_], labelled: NDArray[np.bool_]) -> Floats:
    """w_h of each labelled text, shape (number of labelled texts,): together as many as judged texts.

    `judged` and `labelled` (U,): texts that the judge was asked about, and those of them that count. `RecuseError`
    where a group has judged texts and no label, for then nothing stands for them."""
    whole, have = (np.bincount(groups[texts], minlength=int(groups.max()) + 1) for texts in (judged, labelled))
    if (whole[have == 0] > 0).any():
        raise RecuseError(
            f"{int(whole[have == 0].sum())} judged texts lie in groups without a label, so nothing stands for them; "
            "fill in more of the list of next labels"
        )
    return np.asarray((whole[groups] / np.maximum(have[groups], 1))[labelled])


def with_labels(ratings: Ratings, lists: Mapping[Path, pd.DataFrame], of: str) -> tuple[Ratings, str]:
    """The ratings `of` a file with what people filled into lists of next labels, and a note on them. `RecuseError` for
    a cell that is no answer on the scale, with its line, and for lists that belong to other judges or texts."""
    given = answers_of_one_way(ratings, "next labels are chosen", people=False)
    texts = set(zip(given.items, given.targets, strict=True))
    rows: list[dict[str, Any]] = []
    judges: dict[str, None] = {}
    for path, frame in lists.items():
        judges |= dict.fromkeys(frame.loc[frame[GROUP].ne(""), "for_judge"])
        for line, row in enumerate(frame.to_dict("records"), start=2):
            text = (row["item"].lstrip("'"), row["system"].lstrip("'"))
            if text not in texts:
                raise RecuseError(f"{path}, line {line}: {of} has no judged text {text[0]!r}")
            for name in [name for name in frame.columns if name not in (*HEAD, "text")]:
                if row[name].strip() not in ("", DONE):
                    answer = _answer(row[name].strip(), ratings, f"{path}, line {line}, column {name}")
                    rows.append({"item": text[0], "target": text[1], "rater": name, **answer})
    first, judge = next(iter(lists)), next(iter(judges), "")
    if len(judges) > 1:
        raise RecuseError(f"these lists were chosen for {' and '.join(judges)}; give those of one judge together")
    if judges and judge not in given.judges:
        raise RecuseError(f"{first} was chosen for {judge}, and {of} has {', '.join(given.judges)}")
    if not rows:
        raise RecuseError(f"{first}: no label is filled in; write answers into the columns after for_judge")
    levels = {factor: ratings.table[factor].iloc[0] for factor in ratings.factors}
    added = completed(pd.DataFrame(rows).assign(kind=PERSON, criterion=ratings.criterion, **levels))
    table = pd.concat([ratings.table, added.reindex(columns=ratings.table.columns)], ignore_index=True)
    known, note = ratings.texts, f"{len(rows)} labels of {', '.join(path.name for path in lists)}"
    if judges:
        note += f", chosen by group for {judge}: a label counts for the judged texts that it stands for"
        groups = text_groups(given, given.judges.index(judge))
        named = pd.DataFrame({"item": given.items, "target": given.targets, GROUP: groups})
        on = [key for key in ("item", "target") if known is not None and key in known]
        known = named if known is None else named.merge(known, on=on, how="left")
    return replace(ratings, table=table, texts=known, _memory={}), note


def _answer(cell: str, ratings: Ratings, place: str) -> dict[str, Any]:
    scale = ratings.scale
    if isinstance(scale, Numeric):
        try:
            score = float(cell.replace(",", "."))
        except ValueError:
            score = np.nan
        low, high = scale.ends
        if not low <= score <= high:
            raise RecuseError(f"{place}: a score from {low:g} to {high:g} is needed; got {cell!r}")
        return {"score": score, "response": None}
    option = next((option for option in scale.options if option.casefold() == cell.casefold()), None)
    if option is None:
        raise RecuseError(f"{place}: one of {', '.join(scale.options)} is needed; got {cell!r}")
    return {"score": np.nan, "response": option}
