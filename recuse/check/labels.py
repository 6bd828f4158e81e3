"""What people and judges answered, counted: labels per class, constant raters, what one answer would reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recuse.ratings.scale import Numeric, Scale

if TYPE_CHECKING:
    import pandas as pd

    from recuse.readers import FileRatings

__all__ = ["Labels", "labels_of"]


@dataclass(frozen=True, eq=False)
class Labels:
    """Usable answers on one criterion. `table`: one row per answer with rater, kind, text (what was judged), answer;
    `options`: the criterion's options, () where it has numbers."""

    table: pd.DataFrame
    options: tuple[str, ...]

    @property
    def people(self) -> tuple[str, ...]:
        """The people who rated, in order of first appearance."""
        return tuple(map(str, self.table.loc[self.table["kind"] == "person", "rater"].unique()))

    def constant(self, judge: str) -> str:
        """The one answer that the judge ever gives, "" where it gives several."""
        return _only(self.table.loc[self.table["rater"] == judge, "answer"])

    def always(self, judge: str) -> str:
        """A clause where the judge gives one answer to everything, else ""."""
        only = self.constant(judge)
        return f"it always says {only}, so it tells nothing apart" if only else ""

    @property
    def people_constant(self) -> str:
        """The one answer that people ever give, "" where they give several."""
        return _only(self.table.loc[self.table["kind"] == "person", "answer"])

    def too_few(self, fewest: int) -> str:
        """A clause where a class has fewer labels by people than `fewest`, "" where all have enough."""
        people = self.table[self.table["kind"] == "person"]
        if not self.options or people.empty:
            texts = people["text"].nunique()
            return f"people rated {texts} texts; at least {fewest} are needed" if texts < fewest else ""
        weight = 1 / people.groupby("text")["text"].transform("size")  # several people share one text
        counts = weight.groupby(people["answer"]).sum().reindex(list(self.options), fill_value=0.0)
        counts = counts[counts > 0] if len(self.options) > 2 else counts
        rare = str(counts.idxmin())
        if counts[rare] >= fewest:
            return ""
        return f'people say "{rare}" of {counts[rare]:.0f} texts only; at least {fewest} are needed'

    def agrees_no_more_than_majority(self, judge: str) -> str:
        """A clause where people's commonest answer agrees with them as often as the judge does; options only."""
        people = self.table[self.table["kind"] == "person"]
        mine = self.table[self.table["rater"] == judge].drop_duplicates("text")
        met = people.merge(mine[["text", "answer"]], on="text", suffixes=("", "_judge"))
        if not self.options or met.empty:
            return ""
        common = met["answer"].mode().iloc[0]
        same, constant = (met["answer"] == met["answer_judge"]).mean(), (met["answer"] == common).mean()
        if same > constant:
            return ""
        return f'always saying "{common}" agrees with people as often ({constant:.2f}, the judge {same:.2f})'


def labels_of(read: FileRatings) -> dict[str, Labels]:
    """Criterion, "" where there is one, -> the usable answers on it; a choice is which of the two texts won."""
    ratings = read.ratings
    table = ratings.table[ratings.table["status"] == "ok"]
    answer = table["response"].where(
        table["response"].notna(), table["score"].map(lambda s: f"{s:g}", na_action="ignore")
    )
    if "order" in table:
        swapped = table["order"].eq("ba")
        answer = answer.mask(swapped & table["response"].eq("first"), "second").mask(
            swapped & table["response"].eq("second"), "first"
        )
    rows = table[["rater", "kind", "criterion"]].assign(
        text=table["item"].astype(str) + "\x1f" + table["target"].astype(str), answer=answer.astype(str)
    )
    several = len(ratings.headline) > 1
    return {
        str(name) if several else "": Labels(rows[rows["criterion"] == name], _options(ratings.scales[name], read.kind))
        for name in ratings.headline
    }


def _options(scale: Scale, kind: str) -> tuple[str, ...]:
    if kind == "choices":
        return ("first", "second")
    return () if isinstance(scale, Numeric) else tuple(scale.options)


def _only(answers: pd.Series[str]) -> str:
    different = answers.unique()
    return str(different[0]) if len(different) == 1 and len(answers) > 1 else ""
