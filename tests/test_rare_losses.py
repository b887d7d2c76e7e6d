"""Verdicts on methods with a few outlying repetitions."""

import math

import numpy as np
import pandas as pd
import pytest
from rendered import check

from bench.critical import Rule, Sequential, fixed
from bench.report.claims.comparisons import rare_deviations, rare_room
from bench.report.claims.judgement import Conditions, Question
from bench.report.claims.quantities import Mean, Unseen


def test_deviations_by_hand():
    """Of 20 repetitions of 10 one is 50: 40 above the median, four medians; two of 15 are near."""
    usual = np.full(20, 10.0)
    rare = np.append(usual[1:], 50.0)
    assert rare_deviations([usual, rare]) == (0.0, 4.0)
    assert rare_deviations([np.append(usual[2:], [15.0, 15.0])]) == (0.0, 0.0)
    assert rare_deviations([np.append(usual[1:], -20.0)]) == (3.0, 0.0)
    assert rare_deviations([np.append(usual[3:], [50.0] * 3)]) == (0.0, 0.0)  # 3 of 20 are too many
    assert rare_deviations([np.zeros(20)]) == (0.0, 0.0)
    # A loss of left raises left minus right, one of right lowers it
    assert rare_room(usual, 3 * usual, rare_deviations([rare]), rare_deviations([usual])) == (0.0, 40.0)
    assert rare_room(usual, 3 * usual, rare_deviations([usual]), rare_deviations([rare])) == (120.0, 0.0)


def test_room_is_that_of_the_rule_of_three():
    """At 5 % to each side: 3.0 / n of the deviation; (1 - 3.0 / n)^n is about 5 %."""
    low, high = Unseen(Mean(np.full(60, -1.0)), 0.0, 20.0).ends(0.05, fixed, 60)
    assert (low, high) == pytest.approx((-1.0, -1.0 + 20.0 * 2.9957 / 60), abs=1e-4)
    assert (1 + math.log(0.05) / 60) ** 60 == pytest.approx(0.05, abs=0.005)


def decided_wrongly(rule: Rule, looks: list[int], chance: float, panels: int, *, room: bool) -> np.ndarray:
    """Return the share of panels, all with equal means, that are first decided at each of the looks."""
    rng, first = np.random.default_rng(3), np.zeros(len(looks))
    figures = 700 // panels
    for _ in range(figures):
        usual = 1.0 + 0.05 * rng.standard_normal((panels, looks[-1]))
        left = usual + np.where(rng.random(usual.shape) < chance, 1.0 / chance, 0.0)
        is_open = np.ones(panels, dtype=bool)
        for place, n in enumerate(looks):
            below, above = rare_deviations(left[:, :n]) if room else (0.0, 0.0)
            for panel in np.flatnonzero(is_open):
                values = left[panel, :n]
                mean = Unseen(Mean(values - 2.0), below * np.median(values), above * np.median(values))
                is_open[panel] = Question(mean, "less").answer("", "", Conditions(rule)).verdict == "open"
                first[place] += not is_open[panel]
    return first / figures / panels


@pytest.mark.parametrize("chance", [0.05, 0.02])
def test_equals_are_seldom_told_apart_where_the_figure_shows_the_losses(chance):
    """In each of 14 panels one method loses 1 / chance with probability ``chance``; the other never does.

    Without room for such losses, 36 % or 67 % of the panels are decided at the first look, before any loss.
    """
    looks = [20, 40, 60, 80, 140, 200]
    (before,) = decided_wrongly(Sequential(200), looks[:1], chance, 14, room=False)
    after = decided_wrongly(Sequential(200), looks, chance, 14, room=True)
    assert before > 0.3
    assert after.max() < 0.07
    assert after.sum() < 0.05
    assert decided_wrongly(fixed, [20], chance, 14, room=True).max() < 0.07


def finals(losses: dict[int, float]) -> pd.DataFrame:
    """Return two panels of two methods; the first method's regret in panel b is as given in some repetitions."""
    rng = np.random.default_rng(0)
    rows = []
    for panel in "ab":
        for repetition in range(20):
            rare = losses.get(repetition, 0.0) if panel == "b" else 0.0
            rows.append((panel, "ETC", repetition, 100, 10.0 + rng.normal() + rare))
            rows.append((panel, "UCB", repetition, 100, 20.0 + rng.normal()))
    return pd.DataFrame(rows, columns=["panel", "method", "repetition", "rounds", "regret"])


CLAIM = {"id": "1", "text": "ETC is better", "kind": "paired_difference", "column": "regret", "per": ["panel"],
         "left": {"method": "ETC"}, "right": {"method": "UCB"}, "expect": "less"}  # fmt: skip


@pytest.mark.parametrize(("losses", "verdict"), [({}, "holds"), ({3: 8.0}, "holds"), ({3: 60.0}, "open")])
def test_losses_in_one_panel_are_possible_in_the_others(losses, verdict):
    """10 below in every repetition of panel a; 60 more, once in 20 elsewhere, may move that by 3.7 / 20 of 60."""
    about_a = check({"claims": [{**CLAIM, "only": {"panel": "a"}}]}, finals(losses))
    assert about_a["verdict"].tolist() == ["holds"]  # the other panel is no case of this claim
    judged = check({"claims": [CLAIM]}, finals(losses))
    row = judged[judged["case"].str.contains("a")].iloc[0]
    assert row["verdict"] == verdict
    assert ("far off" in row["note"]) == (verdict == "open")
    usual = check({"claims": [CLAIM]}, finals({})).iloc[0]
    room, share = row["ci_high"] - usual["ci_high"], row["relative_high"] - usual["relative_high"]
    assert share == pytest.approx(room / 20, rel=0.1)  # right's mean is 20
    swapped = {**CLAIM, "left": {"method": "UCB"}, "right": {"method": "ETC"}, "expect": "greater"}
    row, usual = (check({"claims": [swapped]}, finals(of)).iloc[0] for of in (losses, {}))
    room, share = usual["ci_low"] - row["ci_low"], usual["relative_low"] - row["relative_low"]
    assert share == pytest.approx(room / 10, rel=0.1)


def test_a_side_without_regret_has_no_share_but_a_verdict():
    """Left is 1 in 19 of 20 repetitions and 100 in one: the mean is 5.95; of a mean of 0 there are no shares."""
    values = pd.DataFrame(
        [("a", name, repetition, 100, regret)
         for repetition in range(20)
         for name, regret in (("ETC", 100.0 if repetition == 3 else 1.0), ("UCB", 0.0))],
        columns=["panel", "method", "repetition", "rounds", "regret"],
    )  # fmt: skip
    (row,) = check({"claims": [CLAIM]}, values).to_dict("records")
    assert (row["verdict"], row["estimate"]) == ("open", pytest.approx(5.95))
    assert np.isnan(row["relative"])
    (row,) = check({"claims": [{**CLAIM, "expect": "similar", "margin": 0.1}]}, values).to_dict("records")
    assert (row["verdict"], row["note"]) == ("open", "the mean of right is 0, so a share of it is undefined")
