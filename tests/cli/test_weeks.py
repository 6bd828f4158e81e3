"""`recuse weeks FILE --week COLUMN`: how often a chart alarms when nothing changed, and whose change it is."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special

from recuse.check import weeks_command
from recuse.check.weeks_command import ALARMS, chart
from recuse.schema.factors import in_time

FILE = Path(__file__).parent / "weeks.csv"


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize(
    ("weeks", "spread", "texts"), [(6, 0.04, (30, 200)), (12, 0.04, (60, 60)), (30, 0.0, (30, 200))]
)
def test_a_chart_alarms_in_one_week_of_a_hundred_where_nothing_changed(weeks, spread, texts):
    """Shares around .2 that differ between weeks by an SD of `spread`, with so many texts a week."""
    rng = np.random.default_rng(weeks)
    alarms, runs = 0, 1500
    for _ in range(runs):
        shares = np.clip(0.2 + spread * rng.normal(size=weeks), 0.02, 1)
        values = [(rng.random(rng.integers(texts[0], texts[1] + 1)) < share).astype(float) for share in shares]
        limits = chart(values)
        alarms += not limits.low <= values[-1].mean() <= limits.high
    assert alarms <= runs * ALARMS + 3 * (runs * ALARMS) ** 0.5


@pytest.mark.slow("simulation")
@pytest.mark.parametrize("share", [0.003, 0.01, 0.03, 0.98])
@pytest.mark.parametrize("texts", [8, 20, 60])
def test_a_chart_of_something_rare_alarms_no_more_often(share, texts):
    """Five weeks without one are no proof that there is none: a variance of 0 is not believed."""
    rng = np.random.default_rng(texts)
    for weeks in (6, 12, 30):
        alarms, runs = 0, 1000
        for _ in range(runs):
            values = [(rng.random(texts) < share).astype(float) for _ in range(weeks)]
            limits = chart(values, (0.0, 1.0))
            alarms += not limits.low <= values[-1].mean() <= limits.high
        assert alarms <= runs * ALARMS + 3 * (runs * ALARMS) ** 0.5


@pytest.mark.slow("simulation")
@pytest.mark.parametrize(("weeks", "texts", "share"), [(6, 20, 0.01), (6, 60, 0.003), (21, 20, 0.003), (21, 60, 0.01)])
def test_scores_with_rare_and_large_errors_alarm_as_often_as_the_page_says(weeks, texts, share):
    """Scores from 98 to 100, and now and then a 0: two to eight weeks of a hundred."""
    rng, alarms, runs = np.random.default_rng(texts), 0, 1500
    for _ in range(runs):
        limits = chart(values := [*rng.choice([0, 98, 99, 100.0], (weeks, texts), p=[share, 0.3, 0.3, 0.4 - share])],
                       (0.0, 100.0))  # fmt: skip
        alarms += not limits.low <= values[-1].mean() <= limits.high
    assert 0.01 < alarms / runs < 0.1


UNEVEN = {"grown": [8] * 20 + [300], "by turns": [8, 200] * 6, "one large": [300] + [8] * 9 + [100]}


@pytest.mark.slow("simulation")
@pytest.mark.parametrize("sizes", UNEVEN.values(), ids=UNEVEN)
@pytest.mark.parametrize("spread", [0.0, 0.08, 0.15])
def test_a_week_larger_than_those_before_it_alarms_no_more_often(sizes, spread):
    """Small weeks do not tell how far weeks differ: 5 % alarmed where the limits took what they seemed to tell."""
    rng, alarms, runs = np.random.default_rng(4), 0, 1500
    for _ in range(runs):
        shares = np.clip(0.3 + spread * rng.standard_normal(len(sizes)), 0.01, 0.95)
        values = [(rng.random(n) < share).astype(float) for n, share in zip(sizes, shares, strict=True)]
        limits = chart(values, (0.0, 1.0))
        alarms += not limits.low <= values[-1].mean() <= limits.high
    assert alarms <= runs * ALARMS + 3 * (runs * ALARMS) ** 0.5


@pytest.mark.slow("simulation")
def test_weeks_that_differ_by_factors_alarm_as_often_as_the_page_says():
    """Shares around .1 that lie a factor of e^.6 apart: two to three weeks of a hundred."""
    rng, alarms, runs = np.random.default_rng(4), 0, 3000
    for _ in range(runs):
        shares = np.clip(0.1 * np.exp(0.6 * rng.standard_normal(13)), 0.01, 0.95)
        limits = chart(values := [(rng.random(30) < share).astype(float) for share in shares], (0.0, 1.0))
        alarms += not limits.low <= values[-1].mean() <= limits.high
    assert 0.01 < alarms / runs < 0.04


def test_limits_of_uneven_weeks_by_hand():
    """Four weeks of 8 texts at 1 / 2, one of 32 at 3 / 4: sum w^2 = 5 / 16, m = 64 (11 / 16) / 4 = 11, T = (1 / 8)^2
    16 / 11 - s^2 / 11, 2.2 degrees of freedom. A week of 40 is allowed as much as one of 11, one of 5 by its size."""
    weeks = [np.resize([0.0, 1], 8)] * 4 + [np.resize([0.0, 1, 1, 1], 32)]
    s2 = (4 * 2 + 6) / (64 - 5)
    between, t = 16 / 11 / 64 - s2 / 11, special.stdtrit(2.2, 0.995)
    for texts, counted in ((40, 11), (5, 5)):
        limits = chart([*weeks, np.zeros(texts)])
        assert limits.centre == 0.625
        wide = between + s2 / counted + between * 5 / 16 + s2 / 64
        assert limits.high - 0.625 == pytest.approx(t * np.sqrt(wide))


def test_weeks_without_any_leave_room_for_one():
    """0 of 100, then 1 of 20: by lot 1 in 6 weeks would be so; 3 of 20 would be by lot in 0.4 % of weeks."""
    before = [np.zeros(20)] * 5
    for count, alarm in ((1, False), (2, False), (3, True)):
        last = np.concatenate([np.ones(count), np.zeros(20 - count)])
        assert bool(last.mean() > chart([*before, last], (0.0, 1.0)).high) is alarm


def test_nothing_depends_on_names_or_the_order_of_rows(recuse, tmp_path):
    path = written(tmp_path, 0.35, 0.0)
    frame = pd.read_csv(path)
    turned = frame.assign(item="x" + frame["item"].astype(str)).sample(frac=1, random_state=3)
    turned.rename(columns={"judge": "gpt", "item": "case"}).to_csv(tmp_path / "turned.csv", index=False)
    one = recuse("weeks", path, "--week", "week", "--judges", "judge")
    two = recuse("weeks", tmp_path / "turned.csv", "--week", "week", "--judges", "gpt")
    assert (one.code, one.out) == (two.code, two.out.replace("gpt", "judge"))


def test_pairs_in_both_orders_are_charted_as_in_one(recuse, tmp_path):
    """Whoever stands first, the same text wins; and a judge that began to follow the place is read in both."""
    rng, rows = np.random.default_rng(5), []
    for week, k in np.ndindex(8, 40):
        better = "new" if rng.random() < (0.3 if week < 7 else 0.8) else "old"
        pair = rng.permutation(["new", "old"]).tolist()
        rows += [(week + 1, f"w{week}t{k}", *each, better, rng.choice(pair)) for each in (pair, pair[::-1])]
    frame = pd.DataFrame(rows, columns=["week", "item", "first", "second", "gpt", "anna"])
    frame.to_csv(tmp_path / "both.csv", index=False)
    frame.iloc[::2].to_csv(tmp_path / "one.csv", index=False)
    both, one = (recuse("weeks", tmp_path / name, "--week", "week", "--people", "anna", "--json", tmp_path / "out.json")
                 for name in ("both.csv", "one.csv"))  # fmt: skip
    assert (both.code, "40 texts" in both.out) == (1, True)
    assert both.err == ""
    share = [[line for line in found.out.splitlines() if "share of" in line] for found in (both, one)]
    assert share[0] == share[1]


def test_the_right_answers_are_no_person_whom_a_week_agrees_with(recuse, tmp_path):
    path = written(tmp_path, 0.2, 0.0)
    frame = pd.read_csv(path)
    rng = np.random.default_rng(2)
    told = frame.assign(anna=rng.choice(frame["judge"].unique(), len(frame)))
    told.to_csv(tmp_path / "people.csv", index=False)
    told.assign(gold=told["judge"]).to_csv(tmp_path / "both.csv", index=False)
    options = ("--week", "week", "--people", "anna", "--judges", "judge")
    people, both = (recuse("weeks", tmp_path / f"{name}.csv", *options, *gold).out
                    for name, gold in (("people", ()), ("both", ("--gold", "gold"))))  # fmt: skip
    assert "agreement with people" in people
    assert both == people


def test_scores_of_several_judges_fit_on_a_screen_and_a_shift_is_found_in_any_unit(recuse, tmp_path):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"week": np.repeat(np.arange(1, 9), 60), "item": np.arange(480)})
    for k in range(7):
        frame[f"gpt-{k}"] = rng.integers(1, 6, 480)
    frame["anna"] = rng.integers(1, 6, 480)
    frame.loc[frame["week"] == 8, "gpt-3"] = 5
    frame.to_csv(tmp_path / "s.csv", index=False)
    found = recuse("weeks", tmp_path / "s.csv", "--week", "week", "--people", "anna", "--scale", "1-5")
    assert (found.code, len(found.out.splitlines()) <= 25) == (1, True)
    assert "gpt-3: 8 has changed: mean score 5.000" in found.out
    ratings = [name for name in frame if name not in ("week", "item")]
    (20 * (frame[ratings] - 1)).join(frame[["week", "item"]]).to_csv(tmp_path / "h.csv", index=False)
    other = recuse("weeks", tmp_path / "h.csv", "--week", "week", "--people", "anna", "--scale", "0-80")
    assert (other.code, "gpt-3: 8 has changed: mean score 80.000" in other.out) == (1, True)


def test_a_chart_finds_a_share_that_has_doubled():
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(100):
        values = [(rng.random(200) < share).astype(float) for share in [0.2] * 11 + [0.4]]
        found += values[-1].mean() > chart(values).high
    assert found >= 95


@pytest.mark.parametrize("unit", [0.25, 1.0, 25.0])
def test_whose_change_it_is_depends_on_no_unit(unit):
    """Scores from 1 to 5, or from 0 to 1, or to 100: of 40 anchors none moved, and one may by a step."""
    rng = np.random.default_rng(1)
    scores = [unit * rng.integers(0, 5, 60) for _ in range(8)]
    weeks = [weeks_command.Week(str(k), each, np.array([]), np.zeros(40)) for k, each in enumerate(scores)]
    low, high = np.array(weeks_command._whose(weeks)["judge"][1:]) / unit
    assert (-low, high) == pytest.approx([2.0226909 / 40] * 2)


def test_limits_by_hand():
    """Five weeks of 0, 1, 0, 1: centre .5, s^2 = 1/3, no spread between weeks: t(4) sqrt(1/12 + 1/60) either way."""
    weeks = [np.array([0.0, 1, 0, 1, 0, 1])] * 6
    limits = chart(weeks)
    s2 = 5 * 6 * 0.25 / 25
    assert limits.centre == 0.5
    assert limits.high - 0.5 == pytest.approx(4.604095 * np.sqrt(s2 / 6 + s2 / 30))
    assert chart(weeks[:5]) is None


def written(folder: Path, judge_moves: float, system_moves: float, anchors: int = 100) -> Path:
    """Twelve weeks of 150 texts; in the last the judge, or the system, moves that much of the share of fails."""
    rng = np.random.default_rng(4)
    rows, said = [], {}
    for week in range(12):
        moves, worse = (judge_moves, system_moves) if week == 11 else (0.0, 0.0)
        for text in range(150 * week, 150 * week + 150):
            said[text] = rng.random() < 0.2 + worse
            rows.append((week, text, said[text] or rng.random() < moves))
        for text in rng.choice(150 * week, min(anchors, 150 * week), replace=False) if week else ():
            rows.append((week, int(text), said[int(text)] or rng.random() < moves))
    frame = pd.DataFrame(rows, columns=["week", "item", "judge"])
    frame["judge"] = np.where(frame["judge"], "fail", "pass")
    frame.to_csv(folder / "w.csv", index=False)
    return folder / "w.csv"


@pytest.mark.parametrize(("judge", "system"), [(0.35, 0.0), (0.0, 0.3)])
def test_anchors_tell_the_judge_from_the_system(recuse, tmp_path, judge, system):
    found = recuse("weeks", written(tmp_path, judge, system), "--week", "week", "--judges", "judge")
    assert found.code == 1
    (line,) = [line for line in found.out.splitlines() if "anchors" in line]
    of_judge, _, of_system = line.partition("the judge is")[2].partition("the system")
    for part, moved in ((of_judge, judge), (of_system, system)):
        ends = part[part.index("(") + 1 : part.index(")")].split(" to ")
        assert (float(ends[0]) > 0) == bool(moved), line


def test_without_anchors_it_says_what_would_tell(recuse, tmp_path):
    found = recuse("weeks", written(tmp_path, 0.3, 0.0, anchors=0), "--week", "week", "--judges", "judge")
    assert "0 texts of earlier weeks were judged again; put about 100 into every week" in found.out


def test_too_few_weeks_and_wrong_columns_are_told(recuse, tmp_path):
    frame = pd.read_csv(FILE)
    frame[frame["week"] < "2026-W05"].to_csv(tmp_path / "few.csv", index=False)
    assert recuse("weeks", tmp_path / "few.csv", "--week", "week").code == 2
    found = recuse("weeks", FILE, "--week", "month")
    assert (found.code, "no column 'month' that tells weeks or ways of asking apart" in found.err) == (3, True)


def rated(folder: Path, moved: float) -> pd.DataFrame:
    """Eight weeks of 80 texts, all labelled; in the last the judge errs that much more often."""
    rng = np.random.default_rng(7)
    week = np.repeat(np.arange(1, 9), 80)
    truth = rng.random(640) < 0.3
    wrong = rng.random(640) < np.where(week == 8, 0.1 + moved, 0.1)
    words = np.array(["pass", "fail"], dtype=object)
    return pd.DataFrame({"week": week, "item": range(640), "judge": words[(truth ^ wrong).astype(int)],
                         "anna": words[truth.astype(int)]})  # fmt: skip


@pytest.mark.parametrize("left_out", ["labels of the last week", "texts of the last week", "earlier weeks"])
def test_what_is_left_out_never_makes_a_week_like_the_others(recuse, tmp_path, left_out):
    """A week that has changed, or one that has not: without its evidence neither is said to be like the others."""
    for moved in (0.4, 0.0):
        frame = rated(tmp_path, moved)
        last = frame["week"] == 8
        if left_out == "labels of the last week":
            frame.loc[last, "anna"] = ""
            frame.loc[last, "judge"] = frame.loc[frame["week"] == 7, "judge"].to_numpy()
        elif left_out == "texts of the last week":
            frame = frame[~last | (frame.index % 80 < 4)]
        else:
            frame = frame[frame["week"] > 3]
        frame.to_csv(tmp_path / "w.csv", index=False)
        found = recuse("weeks", tmp_path / "w.csv", "--week", "week", "--people", "anna", "--judges", "judge")
        assert found.code == 2, found.out
        assert "is like the weeks before it" not in found.out


def test_a_file_for_each_week_is_charted_as_one_with_a_column(recuse, tmp_path):
    frame = rated(tmp_path, 0.4)
    frame.to_csv(tmp_path / "all.csv", index=False)
    for week, own in frame.groupby("week"):
        own.drop(columns="week").to_csv(tmp_path / f"{week}.csv", index=False)
    given = ("--people", "anna", "--judges", "judge")
    one = recuse("weeks", tmp_path / "all.csv", "--week", "week", *given)
    files = [tmp_path / f"{week}.csv" for week in range(1, 9)]
    several = recuse("weeks", *files, *given)
    assert (one.code, one.out) == (several.code, several.out)
    assert recuse("weeks", tmp_path / "all.csv", *given).out == one.out, "a column called week needs no --week"
    assert one.code == 1
    alone = recuse("weeks", tmp_path / "1.csv", *given)
    assert (alone.code, "--week COLUMN, or give a file for each week" in alone.err) == (3, True)
    wrong, names = recuse("weeks", *files, "--week", "month", *given), ", ".join(file.name for file in files)
    assert (wrong.code, f"recuse: {names}: there is no column 'month'" in wrong.err) == (3, True)


MONDAYS = [date(2025, 11, 24) + timedelta(7 * k) for k in range(9)]


@pytest.mark.parametrize(
    "called",
    [
        "{:%Y-%m-%d}", "{:%Y-%m-%d}T08:00:00Z", "{:%G-W%V}", "W{:%-V/%G}", "{:%-d.%-m.%Y}", "{:%-m/%-d/%Y}",
        "{:%d/%m/%Y}", "{:%B %d, %Y}", "{:%d %b %Y}", "{:%Y%m%d}", "scores_{:%Y_%m_%d}",
    ],
)  # fmt: skip
def test_weeks_that_are_days_follow_the_calendar(called):
    """19.1.2026 stood before 29.12.2025, which was taken for the last week."""
    names = [called.format(day) for day in MONDAYS]
    assert in_time(sorted(names)) == in_time(names[::-1]) == names


def test_the_last_week_by_the_calendar_is_held_against_those_before_it(recuse, tmp_path):
    rows = [
        f"{day:%-d.%-m.%Y},{day}-{k},{('pass', 'fail')[k % 2]},{('pass', 'fail')[k % 2 if day != MONDAYS[-1] else 0]}"
        for day in MONDAYS for k in range(40)
    ]  # fmt: skip
    path = tmp_path / "a.csv"
    path.write_text(text := "\n".join(["week,item,human,judge", *rows]))
    found = recuse("weeks", path, "--week", "week")
    assert (found.code, found.out.startswith("judge: 19.1.2026 has changed: share of")) == (1, True)
    path.write_text(text.replace(".2025", ".25").replace(".2026", ".26"))
    asked = recuse("weeks", path, "--week", "week")
    assert (asked.code, "order in time cannot be told by these names; call the weeks as" in asked.err) == (3, True)


def _write_weeks(path, column, called):
    """40 texts in each week, in the last of which the judge passes all."""
    words = ("pass", "fail")
    rows = [f"{called(day, k)},{day}-{k},{words[k % 2]},{words[k % 2 if day != MONDAYS[-1] else 0]}"
            for day in MONDAYS for k in range(40)]  # fmt: skip
    path.write_text("\n".join([f"{column},item,human,judge", *rows]))


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("time", ["T{:02}:30:00Z", " {:02}:30", "T{:02}:30:00.5+00:00"])
def test_times_of_the_day_are_charted_by_the_calendar_s_weeks(recuse, tmp_path, time):
    """Each was a week of one text, and none had limits. The last days of December are of the next year's first week."""
    path = tmp_path / "a.csv"
    _write_weeks(path, "created_at", lambda day, k: f"{day + timedelta(days=k % 7)}{time.format(k % 24)}")
    found = recuse("weeks", path, "--week", "created_at")
    last = MONDAYS[-1].isocalendar()
    assert (found.code, found.first.split(" has changed")[0]) == (1, f"judge: {last.year}-W{last.week:02}")
    assert found.out.count(" 40 texts") == 8
    path.write_text(path.read_text().replace(str(MONDAYS[0]), "2025-13-41"))
    assert recuse("weeks", path, "--week", "created_at").code != 1  # no day of a calendar, and so no weeks


@pytest.mark.parametrize("called", ["{:%Y-%m-%d}", "{:%-d.%-m.%Y}"])
def test_days_of_which_several_lie_in_a_week_are_charted_by_the_calendar_s_weeks(recuse, tmp_path, called):
    """Each was called a week. Of one day in each week the day is the week's name."""
    for several in (True, False):
        path = tmp_path / "a.csv"
        _write_weeks(path, "date", lambda day, k, n=several: called.format(day + timedelta(days=k % 7 * n)))
        found = recuse("weeks", path, "--week", "date")
        last = f"{MONDAYS[-1]:%G-W%V}" if several else called.format(MONDAYS[-1])
        assert (found.code, found.first.split(" has changed")[0]) == (1, f"judge: {last}")
        assert found.out.count(" 40 texts") == 8


@pytest.mark.parametrize(
    "names",
    [
        ["9", "12", "101"], ["1.0", "2.0", "10.0"], ["KW 9", "KW 10"], ["week2", "Week 9", "week10"],
        ["Jan", "Mar", "Sep"], ["W2/2026", "W10/2026"], ["Q4 2024", "Q1 2025"], ["Dez 2025", "Jan 2026"],
        ["v1.0", "v1.2", "v1.10"], ["2026-W3", "2026-W27"], ["one"],
    ],
)  # fmt: skip
def test_weeks_are_in_order_of_the_numbers_in_their_names(names):
    assert in_time(sorted(names)) == in_time(names[::-1]) == names


@pytest.mark.parametrize(
    "names",
    [
        ["3/4/2026", "10/4/2026"], ["13/1/2026", "1/19/2026"], ["19.1.26", "26.1.26"], ["24.11.", "1.12."],
        ["Nov", "Dec", "Jan"], ["W51", "W52", "W1"], ["alpha", "beta"], ["sprint 1", "release 2"],
        ["2026-01-05", "2026-W3"], ["week 1", "week 01", "week 2"],
    ],
)  # fmt: skip
def test_weeks_whose_names_do_not_tell_their_order_are_asked_about(names):
    assert in_time(names) is None
