"""Every slip in docs/errata.md, recomputed from the printed numbers: no test trusts the number that it corrects."""

import ast
import importlib.resources
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

from bench.envs.synthetic_linear import SyntheticLinear
from bench.papers.habo.worked_examples import worked_examples
from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.habo import HABO
from runners.config.figures import load_figure

ROOT = Path(__file__).resolve().parents[1]
LEDGER = ROOT / "docs" / "errata.md"
TABLE = worked_examples()


def as_printed(values: Any, printed: str) -> bool:
    """Whether numbers equal the printed ones at the printed precision."""
    words = printed.split()
    numbers = np.atleast_1d(np.asarray(values, dtype=float))
    return len(words) == len(numbers) and all(
        abs(float(word) - number) <= 0.51 * 10.0 ** -len(word.partition(".")[2])
        for word, number in zip(words, numbers, strict=True)
    )


def verdict(example: str, quantity: str, other: str = "nothing") -> str:
    """Return the verdict on the only quantity whose name begins with ``quantity``, and not with ``other``."""
    is_meant = TABLE["example"].str.startswith(example) & TABLE["quantity"].str.startswith(quantity)
    rows = TABLE[is_meant & ~TABLE["quantity"].str.startswith(other)]
    assert len(rows) == 1, (example, quantity)
    return str(rows["verdict"].iloc[0])


def printed_table(figure: str) -> pd.DataFrame:
    """Return the published means of a figure, panels in rows, methods in columns."""
    entries = load_figure(figure).published
    table = pd.DataFrame([entry for entry in entries if entry["what"] == "mean"])
    return table.pivot_table(index="panel", columns="method", values="value", sort=False)


# The ledger itself


def ledger() -> list[list[str]]:
    lines = [line for line in LEDGER.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] != "Place" and not set(row[0]) <= set("-| ")]


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_every_slip_names_a_test_that_exists() -> None:
    rows = ledger()
    assert len(rows) > 30
    here = functions(Path(__file__))
    for row in rows:
        assert len(row) == 5, row
        assert all(row), f"{row[0]}: an empty cell"
        assert row[-1].strip("`") in here, f"{row[0]}: there is no {row[-1]}"


# habo


def test_etc_policy() -> None:
    """Remainders take all values, and all arms have two pulls after six rounds."""
    remainders = [t % 3 for t in range(1, 7)]
    assert remainders == [1, 2, 0, 1, 2, 0]
    assert np.bincount(remainders).min() == 2 > np.bincount(remainders[:5]).min()
    assert verdict("ETC, policy", "t mod k") == verdict("ETC, example", "rounds done") == "slip"
    assert verdict("ETC, policy", "arms of rounds") == "right"


def test_etc_bound() -> None:
    """Theorem 1 with m = 2 pulls of arms whose gaps are 3, 7 and 2; of gap 2 alone the printed term is right."""
    means = np.random.default_rng(0).normal(size=(1000, 3))
    assert not (means.max(axis=1, keepdims=True) - means).min(axis=1).any(), "whatever the means, one gap is 0"
    terms = {gap: gap * math.exp(-2 * gap**2 / 4) for gap in (3.0, 7.0, 2.0)}
    assert as_printed(terms[2.0], "0.2707")
    assert 2 * math.exp(-10 * 2**2 / 4) < 1e-4
    # The difference of two means of m pulls each is sqrt(2 / m)-sub-Gaussian: n does not enter.
    draws = np.random.default_rng(0).normal(size=(20_000, 2, 2)).mean(axis=2)
    assert np.std(draws[:, 0] - draws[:, 1]) == pytest.approx(math.sqrt(2 / 2), rel=0.02)
    readings = list(itertools.product((2.0, 3.0, 7.0), (2.0, 3.0, 7.0), (2.0, 3.0, 6.0, 10.0)))
    for gap, printed in ((3.0, 0.000091492), (7.0, 1.027e-10)):
        assert abs(printed / terms[gap] - 1) > 0.3
        assert all(abs(printed / (a * math.exp(-b * b * m / 4)) - 1) > 1e-3 for a, b, m in readings), "a reading fits"
        assert verdict("ETC, bound", f"term of gap {gap:.0f}") == "slip"
    assert as_printed(2 * sum(terms) + 4 * sum(terms.values()), "25.216")
    assert as_printed(28 + 0.2706, "28.2706"), "the factor was not left out"
    for quantity in ("arms with gap 0", "m times", "rounds after", "bound of the regret"):
        assert verdict("ETC, bound", quantity) == "slip"


def test_etc_counts() -> None:
    """Expected counts of all arms sum to n; the chance that the worse of two Gaussian arms is chosen is exact."""
    chances = np.random.default_rng(0).dirichlet(np.ones(3), size=100)
    np.testing.assert_allclose((2 + (10 - 6) * chances).sum(axis=1), 10)
    for gap, pulls in itertools.product((0.1, 1.0, 2.0, 3.0, 7.0), (1, 2, 10)):
        assert norm.cdf(-gap * math.sqrt(pulls / 2)) <= math.exp(-pulls * gap**2 / 4)
    assert verdict("ETC, counts", "sum over the arms") == verdict("ETC, counts", "bound of P(A = i)") == "slip"


def test_ucb1_indices() -> None:
    for round_, pulls, right, printed in (
        (2, (1, 1, 1), "2.482 1.982 2.282", [2.386, 1.886, 2.186]),
        (3, (2, 1, 1), "2.177 2.165 2.465", [1.924, 2.053, 2.353]),
    ):
        indices = np.array([1.0, 0.5, 0.8]) + np.sqrt(2 * math.log(sum(pulls)) / np.array(pulls))
        assert as_printed(indices, right)
        assert indices.argmax() == np.argmax(printed)
        assert verdict(f"UCB1, round {round_}", "sqrt") == "slip"
        assert verdict(f"UCB1, round {round_}", "indices") == "inherited"


def test_ucb_delta_cannot_have_log_log_regret() -> None:
    """Delta ln T / KL is the least regret; for Gaussian arms of variance 1 that is 2 ln T / Delta."""
    for gap in (0.05, 0.2, 0.5):
        divergence = quad(lambda x, gap=gap: norm.pdf(x) * (norm.logpdf(x) - norm.logpdf(x, gap)), -10, 10)[0]
        least = gap / divergence
        assert least == pytest.approx(2 / gap, rel=1e-6)
        # Whatever the constant in front of ln ln T / Delta, it falls below.
        for constant in (1.0, 10.0, 100.0):
            logs = np.array([10.0**power for power in range(1, 6)])  # ln T
            assert (constant * np.log(logs) / gap < least * logs)[-1]
    assert verdict("UCB(delta)", "regret times gap") == "slip"
    regret = ucb_regret(np.full(2000, math.sqrt(2 * math.log(1 / 0.5))), means=np.array([0.5, 0.0]))
    first, second = regret[:, :1000].sum(axis=1), regret[:, 1000:].sum(axis=1)
    assert first.mean() > 5 * first.std() / math.sqrt(len(first))
    assert second.mean() > 0.8 * first.mean()  # of ln ln T it would be a twentieth


def ucb_regret(widths: np.ndarray, means: np.ndarray, played: np.ndarray | None = None) -> np.ndarray:
    """Return the regret, shape (runs, rounds), of the arms that UCB with bonus ``width / sqrt(n)`` would choose.

    Widths have the shape (rounds,) or (rounds, runs). The Gaussian arms are pulled by the widths ``played``, by default
    the same: then it is UCB's regret on its own history.
    """
    runs, rng = 2000, np.random.default_rng(0)
    counts, sums = np.ones((runs, 2)), rng.normal(means, 1.0, (runs, 2))
    regret = []
    for t, width in enumerate(widths):
        means_so_far, each = sums / counts, np.arange(runs)

        def choice(bonus: Any, index: np.ndarray = means_so_far, n: np.ndarray = counts) -> np.ndarray:
            return (index + np.asarray(bonus)[..., None] / np.sqrt(n)).argmax(axis=1)

        regret.append(means.max() - means[choice(width)])
        arms = choice(width if played is None else played[t])
        sums[each, arms] += rng.normal(means[arms], 1.0)
        counts[each, arms] += 1
    return np.array(regret).T


def test_learning_rates_use_the_wrong_logarithm() -> None:
    right = [math.sqrt(math.log(3) / (3 * t)) for t in (1, 2, 3)]
    assert as_printed(right, "0.605 0.428 0.349")
    decimal = [math.sqrt(math.log10(3) / (3 * t)) for t in (1, 2, 3)]
    assert all(0 <= rate - printed < 1e-2 for rate, printed in zip(decimal, (0.398, 0.28, 0.23), strict=True))
    for example in ("Hedge, round 1", "Hedge, round 2", "EXP3, round 1", "EXP3, round 2", "EXP3, round 3"):
        assert verdict(example, "learning rate") == "slip"


def test_the_printed_weights_of_hedge_need_several_learning_rates() -> None:
    old, new = np.array([0.4, 0.3, 0.5]), np.array([0.2, 0.4, 0.3])
    assert as_printed(np.exp(-0.398 * old), "0.8528 0.8875 0.8195")
    assert as_printed(np.exp(-math.sqrt(math.log(3) / 3) * old), "0.7850 0.8340 0.7389")
    assert as_printed(np.exp(-0.4 * old[:2]), "0.8521 0.8869")
    printed = np.array([0.8521, 0.8869, 0.8190])
    chances = printed / printed.sum()
    assert as_printed(chances, "0.333 0.347 0.320")
    assert as_printed(chances @ new, "0.3014")
    assert as_printed(np.array([0.327, 0.341, 0.315]) @ new, "0.2963")
    assert as_printed(chances @ old, "0.397"), "the loss falls because the losses change"
    assert chances @ new > new.mean(), "of the new losses it has more than uniform draws"
    assert as_printed(printed * np.exp(-0.282 * new), "0.8054 0.7923 0.7526")
    for quantity in ("weights", "probabilities", "expected loss if the losses stay"):
        assert verdict("Hedge, round 2", quantity) == "slip"
    assert verdict("Hedge, round 2", "expected loss", "expected loss if the losses stay") == "inherited"
    assert verdict("Hedge, round 3", "weights") == "slip"


def exp3_by_hand() -> tuple[list[list[float]], list[list[float]]]:
    """Return totals and probabilities of rounds 1 to 3: arm 2 pays 0.5, then arm 1 pays 0.8."""
    totals, chances = [[0.0, 0.0, 0.0]], []
    for round_, (arm, reward) in enumerate(((1, 0.5), (0, 0.8), (0, 0.0)), start=1):
        rate = math.sqrt(math.log(3) / (round_ * 3))
        weights = [math.exp(rate * total) for total in totals[-1]]
        chances.append([weight / sum(weights) for weight in weights])
        estimate = [1 - (1 - reward) / chances[-1][i] if i == arm else 1.0 for i in range(3)]
        totals.append([total + gain for total, gain in zip(totals[-1], estimate, strict=True)])
    return totals[:3], chances


def test_exp3_unchosen_arms_gain_one() -> None:
    totals, chances = exp3_by_hand()
    assert as_printed(totals[1], "1.000 -0.500 1.000")
    assert as_printed(totals[2], "1.495 0.500 2.000")
    # Only so is the estimate unbiased: its mean over the draw is the reward of every arm.
    rewards = np.array([0.8, 0.5, 0.4])
    own = np.array(chances[1])
    estimates = 1 - np.diag((1 - rewards) / own)
    np.testing.assert_allclose(own @ estimates, rewards)
    assert verdict("EXP3, round 1", "S of all arms") == verdict("EXP3, round 2", "S of all arms") == "slip"


def test_exp3_probabilities() -> None:
    _, chances = exp3_by_hand()
    assert as_printed(chances[1], "0.396 0.208 0.396")
    assert as_printed(chances[2], "0.345 0.244 0.411")
    assert np.argmax(chances[2]) == 2, "the arm that was never played"
    assert verdict("EXP3, round 2", "probabilities") == verdict("EXP3, round 3", "probabilities") == "inherited"
    assert verdict("EXP3, round 3", "most probable arm") == "inherited"


def test_exp3_proof_has_two_estimators() -> None:
    reward, chance = 0.6, 0.3
    assert as_printed([reward / chance, 1 - (1 - reward) / chance], "2.00 -0.33")
    rounds, arms = 10_000, 2
    rate = math.sqrt(math.log(arms) / (rounds * arms))
    assert rate <= 1  # the second form is at most 1
    estimates = np.array([2500.0, 0.0])  # arm 1 pays 1 in every round, and its estimate grows by 1 on average
    chances = np.exp(rate * (estimates - estimates.max()))
    assert rate / (chances / chances.sum()).min() > 1


def test_habo_inherits_no_guarantee() -> None:
    """One hyper-parameter with two values, which pay .8 and 1: a fifth of all runs ends up playing the worse for good.

    Their regret is .2 a round, and so .04 on average, whatever the number of rounds: linear.
    """
    locked = 0
    for seed in range(20):
        tuner = HABO()
        tuner.start(Problem(Space.of(x=[0.8, 1.0]), 500), Seeds(seed))
        for _ in range(500):
            tuner.tell(tuner.ask()["x"])
        locked += tuner.probabilities()["x"][0] > 0.999
    assert locked == 4
    # With the values' chances mixed as in EXP3, none of them falls below gamma / n.
    tuner = HABO(mix_values=True, divide_exponents=True)
    tuner.start(Problem(Space.of(x=[0.8, 1.0]), 500), Seeds(0))
    for _ in range(500):
        tuner.tell(tuner.ask()["x"])
    assert tuner.probabilities()["x"].min() >= 0.05


def test_habo_was_neither_always_more_accurate_nor_always_slower() -> None:
    scores = {("Titanic", 20): (0.8112, 0.8042), ("Titanic", 50): (0.8112, 0.8112)}
    scores |= {("House Prices", 20): (0.8941, 0.8916), ("House Prices", 50): (0.8953, 0.8945)}
    assert [case for case, (habo, bayes) in scores.items() if habo <= bayes] == [("Titanic", 50)]
    seconds = {20: (100.94, 48.13), 50: (194.92, 203.50)}
    assert {rounds: habo > bayes for rounds, (habo, bayes) in seconds.items()} == {20: True, 50: False}


# opl_hpo


def test_best_value_does_not_depend_on_the_logging_policy() -> None:
    values, ratios = np.array([0.412, 0.501, 0.580, 0.677, 0.719]), np.array([0.554, 0.673, 0.831, 0.910, 0.966])
    best = values / ratios
    others = np.delete(best, 2)
    assert as_printed(others, "0.744 0.744 0.744 0.744")
    assert as_printed(best[2], "0.698")
    assert as_printed(0.580 / others.mean(), "0.78")


def test_alpha_ends_at_zero_for_one_start_only() -> None:
    def last(start: float, score: float) -> float:
        return start + (1 - start) * (1000 / 1000) ** 0.01 * (1000 * score / 1000)

    assert [last(start, 1.0) for start in (0.0, 0.3, 0.5, 1.0)] == pytest.approx([1.0] * 4)
    assert last(0.5, -1.0) == pytest.approx(0.0)
    for start in (0.0, 0.3, 0.7, 1.0):
        assert last(start, -1.0) == pytest.approx(2 * start - 1)
        assert abs(last(start, -1.0)) > 0.1


def test_campaign_men_has_34_items() -> None:
    folder = importlib.resources.files("obp") / "dataset" / "obd"
    for policy in ("random", "bts"):
        items = {name: len(pd.read_csv(folder / policy / name / "item_context.csv")) for name in ("men", "all")}
        assert items == {"men": 34, "all": 80}
        log = pd.read_csv(folder / policy / "men" / "men.csv")
        assert log["item_id"].max() < 34
        assert sorted(log["position"].unique()) == [1, 2, 3]
    assert 240 == 80 * 3 != 34 * 3


# online_hpo


def test_f_score_lacks_the_factor_two() -> None:
    checked = 0
    for clicked, unclicked in itertools.product(range(1, 4), range(4)):
        for above_clicked, above_unclicked in itertools.product(range(1, clicked + 1), range(unclicked + 1)):
            above = above_clicked + above_unclicked
            precision, recall = above_clicked / above, above_clicked / clicked
            closed = 2 * above_clicked / (clicked + above)
            assert closed == pytest.approx(2 * precision * recall / (precision + recall))
            assert closed != pytest.approx(precision * recall / (precision + recall))
            checked += 1
    assert checked == 60


HORIZONS = np.array([1e4, 1e6, 1e8, 1e10, 1e12])


def grows_like(bound: np.ndarray, changes: float, power: float) -> bool:
    """Whether bound / (changes^(1/4) T^(3/4)) grows without end, and in the long run like (ln T)^power."""
    ratio = bound / (changes**0.25 * HORIZONS**0.75)
    slope = np.diff(np.log(ratio)) / np.diff(np.log(np.log(HORIZONS)))
    return bool((np.diff(ratio) > 0).all() and 0.5 * power < slope[-1] < 1.1 * power)


def test_regret_bounds_of_sd2me_and_ad2me_have_a_logarithm() -> None:
    window = np.floor(6**0.25 * (HORIZONS / 10) ** 0.75)
    spacing = (6 / window) ** (1 / 3)
    start = window * 10 + 2 * spacing * HORIZONS
    assert grows_like(start + 6 * np.log(window + 1) * HORIZONS / (window * spacing**2), 10, 1.0)
    assert not grows_like(start, 10, 1.0)
    window = np.floor(2 * (HORIZONS / 30) ** 0.75)
    logarithm = np.sqrt(np.log(2 * HORIZONS**1.5 / 0.05**0.5))
    assert grows_like(3 * 10 * window + math.pi * HORIZONS * logarithm / window ** (1 / 3), 10, 0.5)
    assert not grows_like(3 * 10 * window + math.pi * HORIZONS / window ** (1 / 3), 10, 0.5)


def test_hoeffding_does_not_hold_for_a_random_count() -> None:
    window = 1000
    chances = np.zeros(window + 2)  # of each number of heads, among walks that have not exceeded their bound
    chances[0] = 1.0
    exceeded, at_one_count = 0.0, 0.0
    for n in range(1, window + 1):
        bound = n / 2 + math.sqrt(n * math.log(window))
        at_one_count = max(at_one_count, binom.sf(math.floor(bound), n, 0.5))
        chances[1:] = (chances[1:] + chances[:-1]) / 2
        chances[0] /= 2
        above = np.arange(window + 2) > bound
        exceeded += chances[above].sum()
        chances[above] = 0.0
    assert at_one_count <= window**-2.0  # which Hoeffding's inequality says
    assert as_printed(exceeded * 1e6, "2.0")


def test_neighbours_do_not_tell_whether_all_is_covered() -> None:
    arms = [(0.1, 0.41), (0.45, 0.01), (0.5, 0.01), (0.55, 0.01), (0.9, 0.41)]  # position and width
    grid = np.linspace(0, 1, 10_001)
    assert np.any([abs(grid - arm) <= width for arm, width in arms], axis=0).all()
    (left, a), (middle, b), (right, c) = arms[1:4]
    assert middle - b > left + a
    assert middle + b < right - c


# cdt


def test_seconds_of_table_1() -> None:
    table = printed_table("cdt/table1")
    extra = table["CDT"] - table["TL / Syndicated"]
    assert extra.idxmax() == "GLOC, simulation"
    assert extra.max() > 100
    assert extra.drop("GLOC, simulation").max() == pytest.approx(6.2)
    assert 493.15 - table.loc["GLOC, simulation", "TL / Syndicated"] < 6.2
    for data, slower in itertools.product(("simulation", "MovieLens"), ("Laplace-TS", "GLOC")):
        assert (table.loc[f"{slower}, {data}"] > table.loc[f"GLM-TSL, {data}"]).all()


def test_cdt_is_not_the_best_everywhere() -> None:
    syndicated = printed_table("cdt/table4").loc["GLOC, simulation", "TL / Syndicated, C1"]
    assert (syndicated, printed_table("cdt/table5").loc["GLOC, simulation", "CDT"]) == (406.28, 414.70)
    table = printed_table("cdt/table2")
    assert table.loc["GLM-TSL"].idxmax() == "TL / Syndicated"
    assert table.loc["GLM-TSL", "CDT"] == pytest.approx(table.loc["GLM-TSL", "TL / Syndicated"] - 1.09)
    assert list(table.index[table.idxmax(axis=1) == "CDT"]) == ["UCB-GLM", "Laplace-TS", "SGD-TS"]
    assert len(table) == 5


def test_neither_k_outperforms_all_methods_and_the_default_k_varies() -> None:
    best = printed_table("cdt/table4")[["TL / Syndicated, C1", "OP, C1"]].min(axis=1)
    by_k = printed_table("cdt/table6")
    for k in (2, 3):
        table = by_k[f"CDT, k = {k}"]
        worse = {f"{algorithm}, simulation" for algorithm in ("UCB-GLM", "Laplace-TS", "GLOC")}
        assert set(table.index[table > best[table.index]]) == worse
    assert len(best) == 14
    for panel, value in printed_table("cdt/table5")["CDT"].items():
        same = {method[-1] for method in by_k.columns if by_k.loc[panel, method] == value}
        assert same == ({"2"} if str(panel).startswith(("GLOC", "SGD-TS")) else {"3"}), panel


# syndicated


def test_sub_gaussian_condition_lacks_its_exponential() -> None:
    for std in (0.1, 0.5, 1.0):
        for b in (-3.0, -0.5, 0.0, 0.5, 3.0):
            moment = quad(lambda e, b=b, std=std: math.exp(b * e) * norm.pdf(e, scale=std), -12 * std, 12 * std)[0]
            assert moment == pytest.approx(math.exp(b * b * std * std / 2), rel=1e-6)
            assert moment > b * b * std * std / 2, "printed as an upper bound"


def test_optimal_arm_is_not_that_of_the_pulled_features() -> None:
    env = SyntheticLinear(dim=3, n_arms=5, mean="raw")
    env.start(100, Seeds())
    for t in range(100):
        contexts = env.observe()
        assert contexts is not None
        means = contexts @ env.theta
        pulled = t % 5
        printed = [means[pulled] for _ in range(5)]
        assert len(set(printed)) == 1, "the printed maximum is over one and the same number"
        assert env.values(pulled)["regret"] == pytest.approx(means.max() - means[pulled])


def test_regret_on_the_tuners_history_is_another() -> None:
    """Width 1, the better of two, has less regret on a history that width 5 made half of: it has seen more."""
    rounds, means = 300, np.array([0.3, 0.0])
    played = np.random.default_rng(1).choice([1.0, 5.0], (rounds, 2000))
    alone = {width: ucb_regret(np.full(rounds, width), means).sum(axis=1) for width in (1.0, 5.0)}
    assert alone[1.0].mean() < alone[5.0].mean()
    mixed = ucb_regret(np.ones((rounds, 2000)), means, played).sum(axis=1)
    error = math.hypot(alone[1.0].std(), mixed.std()) / math.sqrt(2000)
    assert alone[1.0].mean() - mixed.mean() > 5 * error
