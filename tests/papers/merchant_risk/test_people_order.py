"""Do people tell the targets apart? The paper's own summary, by hand, and planted orders."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.papers.merchant_risk.people_ratings import people_difference, people_groups
from recuse.ratings import Ratings


def people_of(scores: dict[str, list[float]]) -> Ratings:
    """Target -> a score per person; one judge beside them, as ratings always have."""
    rows = [
        {"rater": f"p{k}", "kind": "person", "item": "i", "target": target, "score": score}
        for target, each in scores.items() for k, score in enumerate(each)
    ]  # fmt: skip
    judge = [{"rater": "a", "kind": "judge", "item": "i", "target": target, "score": 5.0} for target in scores]
    return Ratings.of(pd.DataFrame(rows + judge))


def drawn(means: dict[str, float], n: int = 26, strict: float = 1.0, seed: int = 1) -> Ratings:
    """People who differ by `strict` in their level and by 0.5 from text to text."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, strict, n)
    return people_of({name: list(mean + level + rng.normal(0, 0.5, n)) for name, mean in means.items()})


def test_there_is_no_clear_hierarchy_in_figure_7(published):
    """z of neighbours, (m1 - m2) / sqrt((sd1^2 + sd2^2) / 26): two groups, not five places."""
    pairs = people_difference(published)
    neighbours = ["claude-4.5-sonnet - gpt-5.1", "gpt-5.1 - gemini-2.5-pro", "gemini-2.5-pro - grok-4",
                  "grok-4 - perplexity-sonar"]  # fmt: skip
    z = [pairs.of(pair=pair).detail["z"] for pair in neighbours]
    assert z == pytest.approx([0.352294, 3.282666, 0.783486, 1.443066], abs=1e-6)
    assert [pairs.of(pair=pair).detail["told_apart"] for pair in neighbours] == [False, True, False, False]
    assert people_groups(published).of().detail["groups"] == [
        ["claude-4.5-sonnet", "gpt-5.1"],
        ["gemini-2.5-pro", "grok-4", "perplexity-sonar"],
    ]


def test_people_known_one_by_one_are_paired():
    """By hand: differences 1, 1, 4 have mean 2 and SD sqrt(3), so t = 2 on 2 degrees of freedom; scipy agrees."""
    s, t = [5.0, 3.0, 9.0], [4.0, 2.0, 5.0]
    found = people_difference(people_of({"s": s, "t": t})).of(pair="s - t")
    assert (found.value, found.detail["z"]) == pytest.approx((2.0, 2.0))
    assert found.detail["p"] == pytest.approx(stats.ttest_rel(s, t).pvalue)
    assert "paired" in found.method


def test_holm_s_correction_is_over_all_pairs(published):
    found = people_difference(published)
    p = sorted(found[key].detail["p"] for key in found)
    assert found.of(pair="claude-4.5-sonnet - perplexity-sonar").detail["p_holm"] == pytest.approx(10 * p[0])


@pytest.mark.slow("simulations")
def test_a_planted_order_is_found_and_none_where_none_is():
    """Strict people stay strict on all targets, so pairing finds half a point that Welch's t would not."""
    assert people_groups(drawn({"s": 8.0, "t": 7.0, "u": 6.0})).of().value == 3
    alike = [people_groups(drawn({"s": 7.0, "t": 7.0, "u": 7.0}, seed=seed)).of().value for seed in range(60)]
    assert np.mean(np.array(alike) > 1) <= 0.1


def test_one_person_tells_nothing_apart():
    found = people_difference(people_of({"s": [5.0], "t": [2.0]})).of(pair="s - t")
    assert math.isnan(found.low)
    assert not found.detail["told_apart"]
