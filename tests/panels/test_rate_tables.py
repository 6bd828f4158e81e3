"""A table of rates in place of single payments: hand arithmetic, years, and every fault by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from recuse.papers.merchant_risk.empirical_risk import read_rates
from recuse.schema import RecuseError

SETTINGS = """\
table = "rates.csv"
category = "mcc"
year = "year"
size = "payments"
[weights]
fraud = 3.0
chargebacks = 1.0
"""
TABLE = """\
mcc,year,payments,fraud,chargebacks
5411,2021,100,0.01,0.02
5411,2022,300,0.03,0.02
7995,2021,50,0.20,0.40
"""


def rates(folder: Path, settings: str = SETTINGS, table: str = TABLE):
    (folder / "rates.toml").write_text(settings, encoding="utf-8")
    (folder / "rates.csv").write_text(table, encoding="utf-8")
    return read_rates(folder / "rates.toml").set_index("item")


def test_by_hand(tmp_path: Path) -> None:
    """5411: (3 x .01 + .02) / 4 = .0125 and (3 x .03 + .02) / 4 = .0275, a quarter of its payments in the first year:
    .02375. 7995: (3 x .2 + .4) / 4 = .25."""
    found = rates(tmp_path)
    assert found["value"].to_dict() == pytest.approx({"5411": 0.02375, "7995": 0.25})
    assert found["value_2021"].to_dict() == pytest.approx({"5411": 0.0125, "7995": 0.25})
    assert found["value_2022"].isna().to_dict() == {"5411": False, "7995": True}


def test_years_count_evenly_unless_their_size_is_told(tmp_path: Path) -> None:
    found = rates(tmp_path, SETTINGS.replace('size = "payments"\n', ""))
    assert found["value"]["5411"] == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("settings", "table", "told"),
    [
        (SETTINGS.replace("category", "categories", 1), TABLE, "lacks category"),
        (SETTINGS.replace("year = ", "month = "), TABLE, "unknown key 'month'; known: table, category, year"),
        (SETTINGS.replace("3.0", "-1"), TABLE, "weight fraud must be a number from 0, got -1"),
        (SETTINGS.replace("3.0", "0").replace("1.0", "0"), TABLE, "all weights are 0"),
        (SETTINGS.replace("fraud", "theft"), TABLE, r"rates\.csv: lacks the column\(s\) theft"),
        (SETTINGS, TABLE.replace("0.40", "40"), r"chargebacks must be shares between 0 and 1; line 4 has"),
        (SETTINGS, TABLE.replace("2022", "2021"), "5411 in 2021 stands in several rows"),
    ],
)
def test_every_fault_is_named(tmp_path: Path, settings: str, table: str, told: str) -> None:
    with pytest.raises(RecuseError, match=told):
        rates(tmp_path, settings, table)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "rates.toml").write_text(SETTINGS, encoding="utf-8")
    with pytest.raises(RecuseError, match=r"rates\.csv: no such file; rates\.toml names it"):
        read_rates(tmp_path / "rates.toml")
