"""Every coefficient against an independent implementation, to 1e-9.

References: scikit-learn, statsmodels, krippendorff, pingouin, scipy. Of Gwet's AC and of Fleiss' kappa with gaps and
weights there is none that installs beside a current scipy; their numbers come from irrCAC 0.4.4, pasted below.
"""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from rater_tables import cohen_kappa, gwet_ac, rate, ratings_of, scott_pi, tables_of

from recuse.statistics.agreement import correlation, options
from recuse.statistics.agreement.options import krippendorff_alpha

CLOSE = {"abs": 1e-9}


@pytest.mark.parametrize("weights", ["plain", "linear", "quadratic"])
def test_cohen_is_scikit_learns(kind, weights):
    metrics = pytest.importorskip("sklearn.metrics")
    for a, b in combinations(ratings_of(kind), 2):
        both = np.isfinite(a) & np.isfinite(b)
        options = int(np.nanmax([a, b]))
        theirs = metrics.cohen_kappa_score(
            a[both].astype(int), b[both].astype(int), weights=None if weights == "plain" else weights,
            labels=list(range(1, options + 1)),
        )  # fmt: skip
        assert cohen_kappa(a - 1, b - 1, options, weights).value == pytest.approx(theirs, **CLOSE)


def test_scott_is_fleiss_of_two_raters(kind):
    """statsmodels' Fleiss' kappa of two raters is Scott's pi."""
    inter = pytest.importorskip("statsmodels.stats.inter_rater")
    a, b = ratings_of(kind)[:2]
    both = np.isfinite(a) & np.isfinite(b)
    counts = options.counts_of(np.array([a, b])[:, both] - 1, 5)
    theirs = inter.fleiss_kappa(counts, method="fleiss")
    assert scott_pi(a - 1, b - 1, 5).value == pytest.approx(theirs, **CLOSE)


def test_fleiss_is_statsmodels(kind):
    inter = pytest.importorskip("statsmodels.stats.inter_rater")
    values = ratings_of(kind)
    values = values[:, np.isfinite(values).all(axis=0)]
    counts = options.counts_of(values - 1, 5)
    assert options.scott_pi(counts).value == pytest.approx(inter.fleiss_kappa(counts, method="fleiss"), **CLOSE)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("raters", [2, 5])
def test_alpha_is_krippendorffs(kind, level, raters):
    krippendorff = pytest.importorskip("krippendorff")
    values = ratings_of(kind, raters=raters)
    theirs = krippendorff.alpha(values, level_of_measurement=level)
    assert krippendorff_alpha(values, level).value == pytest.approx(theirs, **CLOSE)


def test_interval_alpha_of_numbers_that_never_repeat():
    krippendorff = pytest.importorskip("krippendorff")
    values = np.random.default_rng(3).normal(1e6, 1, size=(3, 40)) + np.arange(40)
    values[0, :7] = np.nan
    theirs = krippendorff.alpha(values, level_of_measurement="interval")
    assert krippendorff_alpha(values, "interval").value == pytest.approx(theirs, **CLOSE)


def test_rates_are_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    judge, labels = ratings_of("two options")[:2] - 1
    assert tables_of(judge, labels, 2).sum(axis=0).T.tolist() == metrics.confusion_matrix(labels, judge).tolist()
    theirs = {
        "true positive rate": metrics.recall_score(labels, judge),
        "true negative rate": metrics.recall_score(labels, judge, pos_label=0),
        "precision": metrics.precision_score(labels, judge),
        "F1": metrics.f1_score(labels, judge),
    }
    assert {which: rate(judge, labels, 2, which).value for which in theirs} == pytest.approx(theirs, **CLOSE)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_correlations_are_scipys(kind, method):
    from scipy import stats

    ours = {"pearson": correlation.pearson, "spearman": correlation.spearman_rho, "kendall": correlation.kendall_tau}[
        method
    ]
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    for a, b in combinations(ratings_of(kind), 2):
        both = np.isfinite(a) & np.isfinite(b)
        assert ours(a, b).value == pytest.approx(theirs(a[both], b[both]).statistic, **CLOSE)


def test_errors_are_scikit_learns(kind):
    metrics = pytest.importorskip("sklearn.metrics")
    a, b = ratings_of(kind)[:2]
    both = np.isfinite(a) & np.isfinite(b)
    assert correlation.mean_absolute_error(a, b).value == pytest.approx(
        metrics.mean_absolute_error(b[both], a[both]), **CLOSE
    )


@pytest.mark.slow("further cases", but_first=True)
def test_icc_is_pingouins(kind):
    """All six forms; pingouin rounds its intervals to what `round` says."""
    pingouin = pytest.importorskip("pingouin")
    values = ratings_of(kind)
    values = values[:, np.isfinite(values).all(axis=0)].T
    long = pd.DataFrame(values).rename_axis("item").reset_index().melt("item", var_name="rater", value_name="score")
    pingouin.options["round.column.CI95"] = None
    pingouin.options["round.column.CI95%"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="score")
    squares = correlation.mean_squares(values)
    for form, (_, row) in zip(correlation.FORMS, theirs.iterrows(), strict=True):
        assert float(correlation.icc(squares, form)) == pytest.approx(row["ICC"], **CLOSE)
        if form == "ICC(2,1)":
            interval = next(row[name] for name in theirs.columns if name.startswith("CI95"))
            assert list(correlation.ICC(squares).interval(0.95)) == pytest.approx(list(interval), abs=1e-9)


PASTED = [
    [2, 3, 3, 3], [1, 3, 4, 4], [None, 2, 1, None], [1, 4, 1, 4], [None, 2, 2, 2], [None, None, 1, 3], [1, 3, 3, 4],
    [3, 2, 2, 4], [4, 1, 4, 3], [2, 1, None, None], [None, 3, 2, None], [2, 4, 2, 2], [3, 3, 1, 3], [2, 2, 2, 3],
]  # fmt: skip
"""14 items, 4 raters, options 1 to 4. irrCAC: CAC(frame, weights=..., digits=12).gwet() and .fleiss()."""

GWET = {
    (2, "plain"): -0.046709677419, (2, "linear"): -0.111029948868, (2, "quadratic"): -0.149107142857,
    (4, "plain"): 0.055383750351, (4, "linear"): 0.116225546605, (4, "quadratic"): 0.167652229503,
}  # fmt: skip
FLEISS = {
    (2, "plain"): -0.131380753138, (2, "linear"): -0.495575221239, (2, "quadratic"): -0.960281195079,
    (4, "plain"): 0.023539668701, (4, "linear"): -0.038238702202, (4, "quadratic"): -0.12,
}  # fmt: skip


@pytest.mark.parametrize(("raters", "weights"), GWET)
def test_gwet_and_fleiss_are_irrcacs(raters, weights):
    counts = options.counts_of(np.array(PASTED, dtype=float).T[:raters] - 1, 4)
    assert options.gwet_ac(counts, weights).value == pytest.approx(GWET[raters, weights], abs=1e-11)
    assert options.scott_pi(counts, weights).value == pytest.approx(FLEISS[raters, weights], abs=1e-11)


def test_gwet_of_two_raters_is_that_of_many(kind):
    a, b = ratings_of(kind)[:2] - 1
    a[np.isnan(b)] = b[np.isnan(a)] = np.nan
    for weights in ("plain", "linear", "quadratic"):
        many = options.gwet_ac(options.counts_of([a, b], 5), weights).value
        assert gwet_ac(a, b, 5, weights).value == pytest.approx(many, abs=1e-12)
