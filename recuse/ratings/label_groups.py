"""Labels that were chosen group by group, and what each stands for: all judged texts of its group.

`recuse check --next-labels` groups texts by what the judges say of them, and asks for more labels where these tell
more. Texts of a group have one chance to be labelled, those of different groups have not, so a label of group h counts

    w_h = N_h / n_h,    N_h: texts of the group that the judge was asked about,  n_h: those of them with a label

(Horvitz and Thompson 1952, JASA 47, 663-685). A measure that counts all labelled texts alike would be wrong by as much
as groups differ; which ones weigh is listed in `WEIGHED`, and every other one is undefined for such labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recuse.ratings.ratings import Ratings

GROUP = "label_group"
"""The column of `Ratings.texts` that names each text's group."""
WEIGHED = frozenset(["human_ceiling", "human_offset", "share_bias", "unanswered"])
"""Measures that count a label by what it stands for."""


def are_chosen(ratings: Ratings) -> bool:
    """Whether people's labels were chosen group by group."""
    return ratings.texts is not None and GROUP in ratings.texts


def groups_on(part: Ratings | None, items: Sequence[str], targets: Sequence[str]) -> NDArray[np.intp] | None:
    """The group of each text as a number, (U,); None where labels were not chosen by group."""
    import pandas as pd

    if part is None or part.texts is None or GROUP not in part.texts:
        return None
    known = part.texts.drop_duplicates(["item", "target"])
    names = known.set_index([known["item"].astype(str), known["target"].astype(str)])[GROUP]
    texts = pd.MultiIndex.from_arrays([list(items), list(targets)])
    return pd.factorize(names.reindex(texts).fillna("").to_numpy(dtype=object))[0].astype(np.intp)


def label_weights(groups: NDArray[np.intp], judged: NDArray[np.bool_], labelled: NDArray[np.bool_]) -> Floats:
    """w_h of each labelled text, scaled so that their mean is 1, shape (number of labelled texts,).

    `judged` and `labelled` (U,): texts that the judge was asked about, and those of them that count. `RecuseError`
    where a group has judged texts and no label, for then nothing stands for them."""
    whole, have = (np.bincount(groups[texts], minlength=int(groups.max()) + 1) for texts in (judged, labelled))
    if (whole[have == 0] > 0).any():
        raise RecuseError(
            f"{int(whole[have == 0].sum())} judged texts lie in groups without a label, so nothing stands for them; "
            "fill in more of the list of next labels"
        )
    weights: Floats = (whole[groups] / np.maximum(have[groups], 1))[labelled]
    return weights * len(weights) / max(float(weights.sum()), 1e-300)
