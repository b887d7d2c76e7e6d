"""Bounds of regret: their formulas by hand, the claims that check them, the lines in figures."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import check, draw, finals_of, parts, shown

from bench.envs.arms import GaussianArms
from bench.errors import ConfigError
from bench.loop import run
from bench.regret_bounds import FORMULAS, regret_bound
from bench.seeding import Seeds
from bench.tasks.direct import Direct
from bench.tuners.ucb import ETC, UCB1, UCBDelta

GAPS = [0.2, 0.1, 0, 0.05, 0.15]
EXAMPLES: dict[str, dict[str, Any]] = {
    "ad2me": {"epochs": 11, "changes": 10, "delta": 0.05},
    "dynamic": {"changes": 10},
    "etc": {"gaps": GAPS, "pulls_per_arm": 200},
    "etc_two_arms": {"gap": 0.2},
    "ucb1": {"gaps": GAPS},
    "ucb_delta": {"gaps": GAPS},
    "exp3": {"n_arms": 5},
    "exp3_weight": {"n_arms": 5, "gamma": 0.05, "best": 0.3},
    "hedge": {"n_arms": 5, "eta": 0.0359},
    "tuning": {"candidates": [5, 3]},
    "sd2me": {"epochs": 11, "changes": 10},
}


def at(name: str, rounds: int, **numbers: Any) -> float:
    return float(regret_bound({"name": name, **(numbers or EXAMPLES[name])}, [rounds])[0])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # lambda = floor(2 (1000 / 3)^0.75) = 156: 33 * 156 + pi 10^4 sqrt(ln(2 * 10^6 / 0.05^0.5)) / 156^(1/3)
        ("ad2me", 28496.39),
        # lambda = floor(6^0.25 1000^0.75) = 278, rho^3 = 6 / 278: 11 * 278 + 2 rho 10^4 + 6 ln(279) 10^4 / (278 rho^2)
        ("sd2me", 24304.90),
        # 10^(1/4) 10^3
        ("dynamic", 1778.279),
        # 200 * 0.5 + 9000 (0.2 e^-2 + 0.1 e^-0.5 + 0.05 e^-0.125 + 0.15 e^-1.125)
        ("etc", 1724.885),
        # 0.2 + 20 (1 + ln 100)
        ("etc_two_arms", 112.3034),
        # 8 ln 10^4 (5 + 10 + 20 + 20/3) + (1 + 3.28987) 0.5
        ("ucb1", 3072.258),
        # 2 sqrt(5 * 10^4 * 1.609438)
        ("exp3", 567.351),
        # 1.718282 * 0.05 * 3000 + 5 * 1.609438 / 0.05
        ("exp3_weight", 418.686),
        # 1.609438 / 0.0359 + 0.0359 * 1250
        ("hedge", 89.7061),
        # 200 sqrt(1.718282) (2.836757 + 1.815444), the roots of 5 ln 5 and of 3 ln 3
        ("tuning", 1219.651),
    ],
)
def test_bounds_by_hand(name: str, expected: float) -> None:
    assert at(name, 10_000) == pytest.approx(expected, rel=2e-6)


def test_ucb_delta_stays_below_the_published_bound() -> None:
    """3 sum Delta + sum 16 ln T / Delta, for delta = 1 / T^2, wherever T is not smaller than the pulls it allows."""
    for rounds in (10**5, 10**6):
        published = 3 * 0.5 + 16 * math.log(rounds) * (5 + 10 + 20 + 20 / 3)
        assert 0.999 * published < at("ucb_delta", rounds) <= published
    assert at("ucb_delta", 10_000, gaps=GAPS, delta=0.025) == pytest.approx(10_000 * 0.5)


@pytest.mark.parametrize("name", FORMULAS)
def test_bounds_grow_with_the_rounds(name: str) -> None:
    values = regret_bound({"name": name, **EXAMPLES[name]}, np.arange(1, 10_001))
    assert values.shape == (10_000,)
    assert np.isfinite(values).all()
    # These two depend on windows that are rounded down, so they may fall a little from one round to the next
    assert (np.diff(values[:: 500 if name in ("ad2me", "sd2me") else 1]) >= 0).all()
    assert set(EXAMPLES) == set(FORMULAS)


def test_regret_is_under_the_bounds_in_every_round() -> None:
    rounds, cases = 2_000, [
        (ETC(pulls_per_arm=40), {"name": "etc", "gaps": [0, 0.3, 0.5], "pulls_per_arm": 40}),
        (UCB1(), {"name": "ucb1", "gaps": [0, 0.3, 0.5]}),
        (UCBDelta(), {"name": "ucb_delta", "gaps": [0, 0.3, 0.5]}),
    ]  # fmt: skip
    for tuner, formula in cases:
        runs = []
        for repetition in range(15):
            task = Direct(GaussianArms(means=[0.8, 0.5, 0.3], variance=0.25))
            runs.append(run(task, tuner, rounds=rounds, seeds=Seeds(0, repetition)).columns())
        mean = np.mean([trace["regret"] for trace in runs], axis=0)
        assert (mean <= regret_bound(formula, runs[0]["round"]) + 1e-9).all()


# claims and figures

NOISE = np.random.default_rng(0).normal(size=20)
FORMULA = {"name": "exp3", "n_arms": 5}
EXP3_CLAIM = {"id": "1", "text": "t", "kind": "bound", "measured": {"method": "EXP3"}, "formula": FORMULA}


def of_exp3(regret: float) -> pd.DataFrame:
    return finals_of({"EXP3": regret + NOISE}, "method", rounds=10_000)


@pytest.mark.parametrize(("regret", "verdict"), [(500, "holds"), (567.35, "open"), (600, "fails")])
def test_claim_against_a_formula(regret: float, verdict: str) -> None:
    row = check({"claims": [EXP3_CLAIM]}, of_exp3(regret)).iloc[0]
    assert row["verdict"] == verdict
    assert row["estimate"] == pytest.approx((regret + NOISE.mean()) / 567.351, rel=1e-5)


@pytest.mark.parametrize(
    "change", [{"formula": {}}, {"over": {"method": "TL"}}, {"candidates": [5]}, {"formula": {"name": "exp4"}}]
)
def test_claim_has_either_a_formula_or_candidates(change: dict[str, Any]) -> None:
    words = r"figure 'f', claim '1' of kind 'bound': [^\n]*expected (either 'formula', or|one of)"
    with pytest.raises(ConfigError, match=words):
        check({"claims": [{**EXP3_CLAIM, **change}]}, of_exp3(1))


def curves_of(methods: list[str]) -> pd.DataFrame:
    rounds = np.arange(100, 10_001, 100)
    band = {"round": rounds, "mean": np.sqrt(rounds), "std": 1.0, "ci_low": np.sqrt(rounds) - 1, "ci_high": 110, "n": 5}
    return pd.concat([pd.DataFrame({"method": method, "column": "regret", **band}) for method in methods])


def test_curves_have_the_lines_of_their_bounds() -> None:
    methods = ["EXP3", "UCB1"]
    finals = finals_of(dict.fromkeys(methods, 100 + NOISE), "method", rounds=10_000)
    bound = {"measured": {"method": "EXP3"}, "formula": FORMULA}
    figure = {"name": "f", "kind": "curves", "column": "regret", "bounds": [bound]}
    picture = draw(figure, curves_of(methods), finals, note="")
    made = shown(figure, curves_of(methods), finals)
    ((bound_line,), (line,)) = (parts(made, part, "EXP3") for part in ("bound", "line"))
    x, y = np.asarray(bound_line.x), np.asarray(bound_line.y)
    np.testing.assert_allclose(y, 2 * np.sqrt(5 * x * math.log(5)))
    assert bound_line.look.color == line.look.color
    assert picture.axes[0].get_ylim()[1] >= y.max()
    legend = [text.get_text() for text in picture.legends[0].get_texts()]
    assert legend == ["EXP3", "UCB1", "Bound, in the colour of its method"]
    assert not parts(shown({**figure, "bounds": []}, curves_of(methods), finals), "bound")
