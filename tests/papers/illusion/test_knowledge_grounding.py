"""delta-K, its cells and domains; agreement by rubric and its structural share; planted flaws."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.gates import Gates
from recuse.papers.illusion.cited_evidence import flaw_penalty
from recuse.papers.illusion.rubric_commensurability import (
    RubricCells,
    agreement_by_rubric,
    delta_k,
    delta_k_by_group,
    domain_selectivity,
    mean_correlation,
    rubric_step,
    structural_share,
)
from recuse.ratings import Numeric, Ratings
from recuse.schema import Estimates

JUDGES = ("ann", "bob", "cleo")
SCALE = Numeric(-50, 50)  # wide enough for normal noise
DOMAINS = ("finance", "academic", "literature", "education")


def ratings_of(by_source: dict[str, np.ndarray], texts: pd.DataFrame | None = None) -> Ratings:
    """From arrays judges x items x targets, one per source of the rubric."""
    rows = []
    for source, scores in by_source.items():
        for (j, i, t), score in np.ndenumerate(scores):
            rows.append((JUDGES[j], source, f"i{i:03d}", f"t{t}", score))
    frame = pd.DataFrame(rows, columns=["judge", "rubric_source", "item", "target", "score"])
    return Ratings.of(frame, scales=SCALE, texts=texts)


def simulated(rng: np.random.Generator, items: int, targets: int, shared: float, sources: tuple[str, ...]) -> Ratings:
    """Judges that all see one surface by the checklist; by the other sources a share `shared` of what they see is
    common to them."""
    shape = (3, items, targets)
    surface, own = rng.normal(size=shape[1:]), rng.normal(size=shape)
    found = {"checklist": surface + 0.5 * rng.normal(size=shape)}
    for source in sources:
        common = rng.normal(size=shape[1:])
        found[source] = np.sqrt(shared) * common + np.sqrt(1 - shared) * own + 0.5 * rng.normal(size=shape)
    return ratings_of({name: 5.5 + scores for name, scores in found.items()})


# --------------------------------------------------------------------------- delta-K


def test_hand_arithmetic() -> None:
    """Two pairs of four have r = 1 by the checklist; swapped neighbours give 0.6, the reverse -1: mean over pairs."""
    up, swapped, down = [1.0, 2, 3, 4], [2.0, 1, 4, 3], [4.0, 3, 2, 1]
    found = delta_k(
        ratings_of(
            {
                "checklist": np.array([up, up, up])[:, :, None],
                "shared": np.array([up, swapped, down])[:, :, None],
            }
        )
    ).of(rubric_source="shared")
    # pairs: ann/bob 0.6, ann/cleo -1, bob/cleo -0.6
    assert found.value == pytest.approx((0.6 - 1 - 0.6) / 3 - 1)
    assert [cell["delta"] for cell in found.detail["cells"]] == pytest.approx([-0.4, -2.0, -1.6])
    t, p = stats.ttest_1samp([-0.4, -2.0, -1.6], 0)
    assert (found.detail["t"], found.detail["p"]) == pytest.approx((t, p))
    assert found.detail["dz"] == pytest.approx(np.mean([-0.4, -2, -1.6]) / np.std([-0.4, -2, -1.6], ddof=1))
    assert found.detail["p_bonferroni"] == pytest.approx(found.detail["p"]), "one source was looked at"
    assert found.detail["df"] == 2


def test_bonferroni_counts_the_sources_that_were_compared() -> None:
    found = delta_k(simulated(np.random.default_rng(1), 30, 2, 0.5, ("independent", "dimensions", "shared")))
    for estimate in found.values():
        assert estimate.detail["looks"] == 3
        assert estimate.detail["p_bonferroni"] == pytest.approx(min(1, 3 * estimate.detail["p"]))


def test_a_target_with_items_enough_is_a_cell_of_its_own() -> None:
    many = delta_k(simulated(np.random.default_rng(2), 12, 3, 0.5, ("shared",))).of(rubric_source="shared")
    few = delta_k(simulated(np.random.default_rng(2), 6, 3, 0.5, ("shared",))).of(rubric_source="shared")
    assert (len(many.detail["cells"]), len(few.detail["cells"])) == (9, 3)
    assert {cell["n"] for cell in few.detail["cells"]} == {18}


def test_a_linear_change_of_one_judges_scale_changes_nothing() -> None:
    given = simulated(np.random.default_rng(3), 20, 2, 0.4, ("independent",))
    table = given.table.copy()
    mine = table["rater"] == "bob"
    table.loc[mine, "score"] = 1 + 0.25 * table.loc[mine, "score"]
    other = Ratings.of(table, scales=SCALE)
    a, b = (delta_k(r).of(rubric_source="independent") for r in (given, other))
    assert (b.value, b.low, b.high) == pytest.approx((a.value, a.low, a.high))


def test_the_same_pairs_on_the_same_texts_as_pandas_has_them() -> None:
    rng = np.random.default_rng(4)
    arrays = {name: rng.normal(5, 2, (3, 25, 2)) for name in ("checklist", "shared")}
    for scores in arrays.values():
        scores[rng.random(scores.shape) < 0.15] = np.nan
    found = delta_k(ratings_of(arrays)).of(rubric_source="shared")
    flat = {name: pd.DataFrame(scores.reshape(3, -1).T) for name, scores in arrays.items()}
    deltas = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        both = pd.concat([frame[[i, j]] for frame in flat.values()], axis=1).notna().all(axis=1)
        r = [frame.loc[both, i].corr(frame.loc[both, j]) for frame in flat.values()]
        deltas.append(r[1] - r[0])
    assert found.value == pytest.approx(np.mean(deltas))


def test_the_jackknife_is_leaving_out_one_item_after_the_other() -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(2, 3, 24))
    units = np.array([f"u{k // 2}" for k in range(24)], dtype=object)
    left = RubricCells(("checklist", "shared"), ("a", "b", "c"), scores, units, units, units, "").without_each()
    for unit in range(12):
        kept = [k for k in range(24) if k // 2 != unit]
        again = np.array(
            [[np.corrcoef(c[i, kept], c[j, kept])[0, 1] for i, j in ((0, 1), (0, 2), (1, 2))] for c in scores]
        )
        assert left[unit] == pytest.approx(again)


def test_items_are_counted_and_what_no_pair_shares_is_none_of_them() -> None:
    """Twelve items of two texts; on the last, two of the three judges have no score by one of the sources."""
    rng = np.random.default_rng(4)
    scores = {source: 5.5 + rng.normal(size=(3, 12, 2)) for source in ("checklist", "shared")}
    scores["shared"][:2, 11] = np.nan
    found = delta_k(ratings_of(scores)).of(rubric_source="shared")
    without = delta_k(ratings_of({source: values[:, :11] for source, values in scores.items()}))
    assert (found.n, found.detail["texts"], found.over) == (11, 22, "items")
    assert (found.low, found.high) == (without.of(rubric_source="shared").low, without.of(rubric_source="shared").high)


@pytest.mark.slow
def test_intervals_hold_the_truth() -> None:
    """By the checklist the true r is 1 / 1.25, by the other source 0.5 / 1.25."""
    truth = 0.5 / 1.25 - 1 / 1.25
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(200):
        found = delta_k(simulated(rng, 40, 1, 0.5, ("shared",))).of(rubric_source="shared")
        held += found.low <= truth <= found.high
    assert 0.90 <= held / 200 <= 0.99


def test_an_effect_and_none_are_told_apart_beyond_the_flag() -> None:
    rng = np.random.default_rng(7)
    planted = delta_k(simulated(rng, 60, 4, 0.3, ("shared",))).of(rubric_source="shared")
    none = delta_k(simulated(rng, 60, 4, 1.0, ("shared",))).of(rubric_source="shared")
    assert planted.high < -0.15
    assert -0.15 < none.low < 0 < none.high < 0.15


def test_what_cannot_be_correlated_is_undefined() -> None:
    constant = {"checklist": np.full((3, 8, 1), 5.0), "shared": np.random.default_rng(8).normal(5, 1, (3, 8, 1))}
    found = delta_k(ratings_of(constant)).of(rubric_source="shared")
    assert not found.defined
    assert "every pair of judges" in found.note
    assert "one score for all of them" in found.note
    alone = delta_k(ratings_of({name: scores[:1] for name, scores in constant.items()})).of(rubric_source="shared")
    assert "nobody to agree with" in alone.note
    assert len(delta_k(ratings_of({"shared": constant["shared"]}))) == 0, "without a baseline there is no difference"


def test_a_judge_that_says_the_same_of_all_takes_only_its_own_pairs_with_it() -> None:
    rng = np.random.default_rng(18)
    arrays = {name: rng.normal(5, 1, (3, 20, 1)) for name in ("checklist", "shared")}
    two = delta_k(ratings_of({name: scores[:2] for name, scores in arrays.items()})).of(rubric_source="shared")
    arrays["checklist"][2] = 7.0
    found = delta_k(ratings_of(arrays)).of(rubric_source="shared")
    assert (found.value, found.low, found.high) == pytest.approx((two.value, two.low, two.high))
    assert "left out: 2 of 3 pairs" in found.note
    assert found.detail["pairs"] == 1


def test_two_items_are_too_few_for_an_interval() -> None:
    scores = np.random.default_rng(19).normal(5, 1, (2, 2, 3))
    found = delta_k(ratings_of({"checklist": scores, "shared": scores[:, :, ::-1] + scores})).of(rubric_source="shared")
    assert found.defined
    assert "no interval: with one unit less" in found.note


def test_fishers_mean_is_offered_beside() -> None:
    given = simulated(np.random.default_rng(9), 30, 1, 0.4, ("shared",))
    found = delta_k(given).of(rubric_source="shared").detail
    base, grounded = (np.tanh(np.mean([np.arctanh(c[side]) for c in found["cells"]])) for side in ("base", "grounded"))
    assert found["fisher"] == pytest.approx(grounded - base)
    r = np.array([0.2, 0.8])
    assert mean_correlation(r, "fisher") == pytest.approx(np.tanh((np.arctanh(0.2) + np.arctanh(0.8)) / 2))


# --------------------------------------------------------------------------- domains and languages


def by_domain(rng: np.random.Generator, share_of: dict[str, float]) -> Ratings:
    """Knowledge leaves judges in each domain a share of what they see in common."""
    items, targets = 64, 2
    domains = [DOMAINS[k % 4] for k in range(items)]
    shares = np.array([share_of[name] for name in domains])[:, None]
    shape = (3, items, targets)
    common, own = rng.normal(size=shape[1:]), rng.normal(size=shape)
    surface = rng.normal(size=shape[1:])
    arrays = {
        "checklist": surface + 0.5 * rng.normal(size=shape),
        "shared": np.sqrt(shares) * common + np.sqrt(1 - shares) * own + 0.5 * rng.normal(size=shape),
    }
    texts = pd.DataFrame(
        [
            (f"i{i:03d}", f"t{t}", domains[i], "en" if i < 32 else "zh")
            for i, t in product(range(items), range(targets))
        ],
        columns=["item", "target", "domain", "language"],
    )
    return ratings_of(arrays, texts)


def test_domains_are_told_apart_and_alike() -> None:
    rng = np.random.default_rng(10)
    selective = domain_selectivity(by_domain(rng, dict(zip(DOMAINS, (1.0, 1.0, 0.0, 0.0), strict=True))))
    uniform = domain_selectivity(by_domain(rng, dict.fromkeys(DOMAINS, 0.4)))
    assert selective.of(rubric_source="shared").detail["p"] < 0.005
    assert uniform.of(rubric_source="shared").detail["p"] > 0.05
    parts = selective.of(rubric_source="shared").detail["by_domain"]
    assert parts["finance"] > -0.25 > parts["literature"]


def test_each_group_is_measured_on_its_own_texts() -> None:
    given = by_domain(np.random.default_rng(11), dict.fromkeys(DOMAINS, 0.4))
    found = delta_k_by_group(given)
    assert {key[0] for key in found} == {*(f"domain {name}" for name in DOMAINS), "language en", "language zh"}
    english = given.table[given.table["item"] < "i032"]
    alone = delta_k(Ratings.of(english, scales=SCALE)).of(rubric_source="shared")
    assert found.of(group="language en", rubric_source="shared").value == pytest.approx(alone.value)


def test_an_item_without_a_text_by_every_target_keeps_its_domain() -> None:
    given = by_domain(np.random.default_rng(15), dict.fromkeys(DOMAINS, 0.4))
    gone = (given.table["item"] < "i020") & (given.table["target"] == "t1")
    assert given.texts is not None
    told = given.texts[~((given.texts["item"] < "i020") & (given.texts["target"] == "t1"))]
    fewer = Ratings.of(given.table[~gone], scales=SCALE, texts=told)
    found = domain_selectivity(fewer).of(rubric_source="shared")
    groups = delta_k_by_group(fewer)
    assert found.detail["arrangements"] == 1999
    for name, value in found.detail["by_domain"].items():
        assert value == pytest.approx(groups.of(group=f"domain {name}", rubric_source="shared").value)


def test_texts_of_which_nothing_is_known_have_no_domains() -> None:
    given = simulated(np.random.default_rng(12), 20, 1, 0.5, ("shared",))
    assert "fewer than two domains" in domain_selectivity(given).of(rubric_source="shared").note
    assert len(delta_k_by_group(given)) == 0


# --------------------------------------------------------------------------- how much is the rubric?


def test_agreement_and_steps_by_hand() -> None:
    up, swapped, down = [1.0, 2, 3, 4], [2.0, 1, 4, 3], [4.0, 3, 2, 1]
    given = ratings_of(
        {
            "independent": np.array([up, down])[:, :, None],  # -1
            "dimensions": np.array([up, swapped])[:, :, None],  # 0.6
            "shared": np.array([up, up])[:, :, None],  # 1
        }
    )
    assert [e.value for e in agreement_by_rubric(given).values()] == pytest.approx([-1.0, 0.6, 1.0])
    assert {k[0]: e.value for k, e in rubric_step(given).items()} == pytest.approx({"dimensions": 1.6, "shared": 0.4})
    assert structural_share(given).of(of="dimensions").value == pytest.approx(1.6 / 0.6)
    assert structural_share(given, "shared").of(of="shared").value == pytest.approx(1.6)


def test_like_is_compared_with_like() -> None:
    """Cleo did not score by the shared rubric: the step to it is that of ann and bob alone."""
    rng = np.random.default_rng(13)
    arrays = {name: rng.normal(5, 2, (3, 30, 1)) for name in ("dimensions", "shared")}
    without = {"dimensions": arrays["dimensions"], "shared": arrays["shared"].copy()}
    without["shared"][2] = np.nan
    both = rubric_step(ratings_of({name: scores[:2] for name, scores in arrays.items()})).of(rubric_source="shared")
    found = rubric_step(ratings_of(without)).of(rubric_source="shared")
    assert found.value == pytest.approx(both.value)
    assert found.detail["pairs"] == 1


def test_without_agreement_there_is_no_share_of_it() -> None:
    up, down = [1.0, 2, 3, 4], [4.0, 3, 2, 1]
    arrays = {"independent": np.array([up, up])[:, :, None], "dimensions": np.array([up, down])[:, :, None]}
    assert not structural_share(ratings_of(arrays)).of(of="dimensions").defined


# --------------------------------------------------------------------------- planted flaws


def twins(sound: np.ndarray, flawed: np.ndarray) -> Ratings:
    texts = pd.DataFrame(
        [(f"i{i:03d}", f"t{t}", kind) for i in range(len(sound)) for t, kind in enumerate(("no", "yes", None))],
        columns=["item", "target", "flawed"],
    )
    other = np.full_like(sound, 9.0)  # a text without a twin counts for nothing
    return ratings_of({"checklist": np.stack([sound, flawed, other], axis=-1)[None]}, texts)


def test_the_penalty_is_a_paired_t() -> None:
    rng = np.random.default_rng(14)
    sound, flawed = rng.normal(6, 1, 12), rng.normal(5, 1, 12)
    found = flaw_penalty(twins(sound, flawed)).of(judge="ann", rubric_source="checklist")
    expected = stats.ttest_rel(sound, flawed)
    assert found.value == pytest.approx((sound - flawed).mean())
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.detail["dz"] == pytest.approx((sound - flawed).mean() / (sound - flawed).std(ddof=1))
    assert found.detail["sound"] + found.detail["flawed"] == 12
    assert (found.n, found.span) == (12, 100.0)


def test_polish_that_wins_lies_below_zero() -> None:
    sound = np.array([4.0, 5, 3, 4, 5, 4])
    polish = flaw_penalty(twins(sound, sound + np.array([2, 3, 2, 3, 2, 3]))).of(judge="ann", rubric_source="checklist")
    assert polish.high < 0
    assert (polish.detail["flawed"], polish.detail["sound"]) == (6, 0)


def test_a_judge_that_misses_one_kind_of_flaw_is_told_by_it() -> None:
    """Sums are seen, worth two points; outlines are not; of one text nobody said what is wrong with it."""
    sound, kinds = np.full(7, 6.0), ["sums", "outline", "sums", "outline", "sums", "outline", None]
    ratings = twins(sound, sound - np.array([2.0 if kind == "sums" else 0.0 for kind in kinds]))
    assert ratings.texts is not None
    flawed = ratings.texts["flawed"] == "yes"
    told = ratings.texts.assign(flaw=pd.Series(kinds, index=ratings.texts.index[flawed]))
    found = flaw_penalty(replace(ratings, texts=told, _memory={})).of(judge="ann", rubric_source="checklist")
    assert found.detail["by_flaw"] == [["outline", 0.0, 3], ["sums", 2.0, 3]]


def test_a_twin_without_a_score_leaves_its_item_out() -> None:
    sound, flawed = np.array([5.0, 6, 7, np.nan]), np.array([4.0, np.nan, 5, 6])
    found = flaw_penalty(twins(sound, flawed)).of(judge="ann", rubric_source="checklist")
    assert (found.n, found.n_excluded, found.value) == (2, 2, 1.5)
    one = flaw_penalty(twins(sound[:2], flawed[:2])).of(judge="ann", rubric_source="checklist")
    assert not one.defined


# --------------------------------------------------------------------------- the gates


def outcomes(gate: str, measured: Estimates) -> set[str]:
    gates = Gates.load(Path(__file__).parents[3] / "evals" / "gates.toml", date(2026, 1, 1))
    asked = {"panel": "simulated", "task": "writing", "protocol": "merg"}
    return {str(verdict.outcome) for verdict in gates.decide(gate, measured, asked)}


def test_a_planted_loss_of_agreement_is_shown_and_none_where_none_was_planted() -> None:
    """Beyond the 0.15 of which the paper (sec. 4) says that a panel should be audited; surely, surely not, or not
    known."""
    rng = np.random.default_rng(16)
    (lost,) = delta_k(simulated(rng, 60, 4, 0.2, ("shared",))).values()
    (kept,) = delta_k(simulated(rng, 60, 4, 1.0, ("shared",))).values()
    (few,) = delta_k(simulated(rng, 6, 1, 0.5, ("shared",))).values()
    assert lost.high < -0.15
    assert -0.15 < kept.low <= kept.high < 0.15
    assert few.low < -0.15 < few.high or few.low < 0.15 < few.high


def test_the_gate_fails_a_judge_of_polish_and_passes_one_of_substance() -> None:
    rng = np.random.default_rng(17)
    sound = rng.normal(6, 1, 24)
    assert outcomes("flaw_penalty", flaw_penalty(twins(sound, sound + rng.normal(2, 1, 24)))) == {"fail"}
    assert outcomes("flaw_penalty", flaw_penalty(twins(sound, sound - rng.normal(2, 1, 24)))) == {"pass"}
