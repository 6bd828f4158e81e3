"""What people and judges answered, counted: labels per class, constant raters, what one answer would reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recuse.ratings.scale import Numeric

if TYPE_CHECKING:
    import pandas as pd

    from recuse.readers import FileRatings

__all__ = ["Labels", "labels_of"]


@dataclass(frozen=True, eq=False)
class Labels:
    """`table`: one row per usable answer with rater, kind, text (what was judged), criterion and answer."""

    table: pd.DataFrame
    options: dict[str, tuple[str, ...]]  # criterion -> its options, () where it has numbers

    @property
    def people(self) -> tuple[str, ...]:
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
        return _only(self.table.loc[self.table["kind"] == "person", "answer"])

    def too_few(self, fewest: int) -> str:
        """A clause where a class has fewer labels by people than `fewest`, "" where all have enough."""
        people = self.table[self.table["kind"] == "person"]
        for criterion, options in self.options.items():
            mine = people[people["criterion"] == criterion]
            if not options:
                texts = mine["text"].nunique()
                if texts < fewest:
                    return f"people rated {texts} texts; at least {fewest} are needed"
                continue
            weight = 1 / mine.groupby("text")["text"].transform("size")  # several people share one text
            counts = weight.groupby(mine["answer"]).sum().reindex(list(options), fill_value=0.0)
            counts = counts[counts > 0] if len(options) > 2 else counts
            rare = str(counts.idxmin())
            if counts[rare] < fewest:
                of = f" of {criterion}" if len(self.options) > 1 else ""
                return f'people say "{rare}" of {counts[rare]:.0f} texts only{of}; at least {fewest} are needed'
        return ""

    def agrees_no_more_than_majority(self, judge: str) -> str:
        """A clause where people's commonest answer agrees with them as often as the judge does; options only."""
        people = self.table[self.table["kind"] == "person"]
        mine = self.table[self.table["rater"] == judge].drop_duplicates(["text", "criterion"])
        for criterion, options in self.options.items():
            if not options:
                continue
            met = people[people["criterion"] == criterion].merge(
                mine[mine["criterion"] == criterion][["text", "answer"]], on="text", suffixes=("", "_judge")
            )
            if met.empty:
                continue
            common = met["answer"].mode().iloc[0]
            same, constant = (met["answer"] == met["answer_judge"]).mean(), (met["answer"] == common).mean()
            if same <= constant:
                return f'always saying "{common}" agrees with people as often ({constant:.2f}, the judge {same:.2f})'
        return ""


def labels_of(read: FileRatings) -> Labels:
    """The usable answers of a file; a choice is which of the two texts won."""
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
    scales = {name: ratings.scales[name] for name in ratings.headline}
    options = {name: () if isinstance(s, Numeric) else tuple(s.options) for name, s in scales.items()}
    if read.kind == "choices":
        options = dict.fromkeys(options, ("first", "second"))
    return Labels(rows, options)


def _only(answers: pd.Series[str]) -> str:
    different = answers.unique()
    return str(different[0]) if len(different) == 1 and len(answers) > 1 else ""
