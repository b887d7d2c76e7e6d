"""Repeated looks: the rate of wrong verdicts."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import special, stats

from bench.critical import Sequential, bounds, fixed, looks_up_to, rule, skewed
from bench.report.claims.quantities import Mean, RatioOfMeans
from bench.report.provenance import Provenance
from runners.config.figures import figure_names, load_figure
from runners.results.folder import ResultFolder
from tools.looks import FILE, LAWS, MOST, RULES, shares_decided

RUNS = 2000
Array = npt.NDArray[np.float64]


def crossing(shares: Array, constant: float) -> Array:
    """The probability that |Z| has exceeded a constant by each look, by a multivariate normal distribution."""
    covariance = np.sqrt(np.minimum.outer(shares, shares) / np.maximum.outer(shares, shares))
    found = []
    for k in range(1, len(shares) + 1):
        law, box = stats.multivariate_normal(np.zeros(k), covariance[:k, :k]), np.full(k, constant)
        found.append(1 - law.cdf(box, lower_limit=-box, rng=np.random.default_rng(1)))
    return np.array(found)


@pytest.mark.parametrize(("looks", "constant"), [(1, 1.960), (2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413)])
def test_pococks_constants(looks, constant):
    """As gsDesign and rpact have them for 5 %, two-sided: the error that they spend gives them back at each look."""
    shares = np.arange(1, looks + 1) / looks
    spent = crossing(shares, constant)
    assert spent[-1] == pytest.approx(0.05, abs=3e-4)
    found = bounds(shares.tolist(), np.array([0.05]), lambda t: np.interp(t, shares, spent / 0.05))
    np.testing.assert_allclose(found[:, 0], constant, atol=2e-3)


def obrien_fleming(share):
    return 4 * special.ndtr(special.ndtri(0.0125) / np.sqrt(share)) / 0.05


@pytest.mark.parametrize(
    ("spending", "published"),
    [(None, (2.438, 2.427, 2.410, 2.397, 2.386)), (obrien_fleming, (4.877, 3.357, 2.680, 2.290, 2.031))],
)
def test_bounds_of_lan_and_demets(spending, published):
    """Of five looks at 5 %, two-sided, by rpact's asP and asOF."""
    chosen = {"spending": spending} if spending else {}
    found = bounds([0.2, 0.4, 0.6, 0.8, 1.0], np.array([0.05]), **chosen)
    np.testing.assert_allclose(found[:, 0], published, atol=6e-4)


def test_the_rule_is_students_quantile_of_the_bound():
    looks = looks_up_to(100)
    assert (looks, looks_up_to(50), looks_up_to(15)) == ((20, 40, 60, 80, 100), (20, 40, 50), (15,))
    for n, bound in zip(looks, (2.438, 2.427, 2.410, 2.397, 2.386), strict=True):
        assert Sequential(100)(n, 0.025) == pytest.approx(stats.t.isf(stats.norm.sf(bound), n - 1), abs=2e-3)
    assert Sequential(100)(30, 0.025) == pytest.approx(stats.t.isf(stats.norm.sf(2.427), 29), abs=2e-3)
    assert Sequential(100)(10_000, 0.025) == pytest.approx(2.386, abs=3e-3)
    assert Sequential(20)(20, 0.025) == pytest.approx(fixed(20, 0.025), abs=1e-3)
    assert (rule(None), rule(60)) == (fixed, Sequential(60))


def test_students_quantile_by_hand():
    assert fixed(5, 0.025) == pytest.approx(2.776445, abs=1e-6)
    assert fixed(21, 0.05) == pytest.approx(1.724718, abs=1e-6)


@pytest.mark.parametrize("chosen", [fixed, Sequential(200), Sequential(60)])
def test_intervals_are_wider_for_smaller_errors_and_fewer_repetitions(chosen):
    values = [chosen(20, error) for error in (0.3, 0.05, 0.025, 0.005, 1e-6, 1e-12, 1e-20)]
    assert values == sorted(values)
    widths = [chosen(n, 0.025) / np.sqrt(n) for n in (5, 20, 40, 60, 200, 10_000)]
    assert widths == sorted(widths, reverse=True)
    assert chosen(20, 1e-20) >= fixed(20, 1e-20)


def test_the_long_tail_of_skewed_repetitions_gets_more_room():
    """Hall's transformation: T reaches the bound c where ((1 + a T)^3 - 1) / (3 a) + a / 2 = -c, T = -reach."""
    reach, a = skewed(2.5, 2.0, 20), 2.0 / (3 * np.sqrt(20))
    assert ((1 - a * reach) ** 3 - 1) / (3 * a) + a / 2 == pytest.approx(-2.5)
    assert skewed(2.5, 0.0, 20) == skewed(2.5, -2.0, 20) == 2.5
    values = np.append(np.zeros(15), np.arange(5.0))
    (low, high), (low_fixed, high_fixed) = (Mean(values).ends(0.025, of, 20) for of in (Sequential(20), fixed))
    skewness = stats.skew(values)
    assert low == pytest.approx(low_fixed, abs=1e-3)
    assert high - values.mean() == pytest.approx(
        (high_fixed - values.mean()) * skewed(fixed(20, 0.025), skewness, 20) / fixed(20, 0.025), rel=1e-3
    )
    ratios = [RatioOfMeans(sign * values + 9, np.full(20, 3.0)).ends(0.025, Sequential(20), 20) for sign in (1, -1)]
    assert ratios[0] == pytest.approx((3 + low / 3, 3 + high / 3))
    assert ratios[1] == pytest.approx((3 - high / 3, 3 - low / 3))


@pytest.mark.parametrize("law", LAWS)
def test_equals_are_told_apart_as_often_as_the_table_says(law, reference_results):
    """The table of docs/verdicts.md, within three standard errors of its 10,000 runs and these."""
    table = pd.read_csv(reference_results / FILE).set_index("of").loc[law] / 100
    found = shares_decided(LAWS[law](np.random.default_rng(2), (RUNS, MOST)), MOST)
    for name in RULES:
        error = 3 * np.sqrt(max(table[name], 0.005) * (1 / RUNS + 1 / 10_000))
        assert found[name] == pytest.approx(table[name], abs=error), name
    assert table["in use"] <= (0.09 if law.startswith("log-normal, sigma 1,") else 0.06)


def test_the_table_counts_exclusions_by_intervals_of_claims():
    drawn = np.random.default_rng(3).exponential(size=(60, 60)) - 1
    ends = [[Mean(run[:n]).ends(0.025, Sequential(60), n) for n in (20, 40, 60)] for run in drawn]
    wrong = np.mean([any(low > 0 or high < 0 for low, high in of_run) for of_run in ends])
    assert shares_decided(drawn, 60)["in use"] == pytest.approx(wrong)


def test_true_differences_are_decided():
    values = np.random.default_rng(2).normal(0.5, 1, (RUNS, MOST))
    assert shares_decided(values, MOST)["in use"] > 0.99


def test_every_figure_that_runs_until_decided_declares_its_largest_number(reference_results):
    """In its file and in its manifest, and no smaller than the number that was run."""
    found = {}
    for name in figure_names():
        figure = load_figure(name)
        for folder in ResultFolder.of(reference_results, name):
            provenance = folder.provenance
            scale = figure.scales.get(provenance.scale)
            declared = scale.until_decided if scale and figure.source == "runs" else None
            assert provenance.until_decided == declared, name
            if declared is not None:
                assert max(provenance.repetitions) <= declared, name
                found[name] = declared
    assert {found[f"habo/figure{number}"] for number in (7, 8, 9, 10)} == {200}
    assert found["habo/baselines"] == 60


def test_an_older_manifest_runs_up_to_the_number_that_was_usual():
    of = Provenance.model_validate
    assert of({"sequential": True, "repetitions": (20, 60)}).until_decided == 400
    assert of({"sequential": True, "repetitions": (20, 600)}).until_decided == 600
    assert of({"sequential": False}).until_decided is None
