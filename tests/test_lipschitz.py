"""Rewards of probed values: blocks of rounds, centred, and their picture."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import shown, tables

from bench.algorithms.linucb import LinUCB
from bench.envs.synthetic_linear import SyntheticLinear
from bench.loop import run
from bench.report.figure import read_figure
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.baselines import Fixed
from runners.config.figures import expand
from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.results.store import Store

FIGURE: dict[str, Any] = {
    "name": "figure3",
    "paper": "cdt",
    "title": "Smooth?",
    "kind": "bench.papers.cdt.lipschitz.Lipschitz",
    "column": "reward",
    "repetitions": 1,
    "drop": "1/7",
    "blocks": 10,
    "common": ["env.n_arms=20", "task.probe={exploration_rate: [0.1, 0.5, 2.5]}"],
    "runs": [
        {
            "panel": {"LinUCB": ["env=synthetic_linear"], "LinTS": ["env=synthetic_linear", "algorithm=lints"]},
            "method": {"CDT": ["tuner=cdt"]},
        }
    ],
    "claims": [],
}


@pytest.mark.parametrize(
    ("drop", "blocks", "rounds", "expected"),
    [
        ("1/7", 3, range(1, 71), [10, 30, 50, 70]),
        (0.5, 2, range(1, 101), [50, 75, 100]),
        (0, 2, range(1, 101), [1, 50, 100]),
        ("1/7", 3, [1, 12, 28, 51, 70], [12, 28, 51, 70]),
        ("1/7", 10, [1, 60, 70], [1, 60, 70]),  # fewer blocks than asked for
    ],
)
def test_blocks_end_at_the_closest_rounds(drop, blocks, rounds, expected):
    rounds = np.array(rounds)
    figure = read_figure({**FIGURE, "drop": drop, "blocks": blocks})
    assert rounds[figure.kept_rounds(rounds)].tolist() == expected


def test_from_the_runs_to_the_picture(tmp_path, monkeypatch):
    """The committed curves suffice, the table agrees with the traces, the picture with the table."""
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    plan = AskedFigure(FIGURE, "cdt/figure3/smoke", "smoke", [], "")
    assert reproduce_figure(plan, jobs=1, runner=Runner(progress=False)).complete
    drawn = expand(read_figure(FIGURE), "smoke", [])
    folder = tmp_path / "cdt" / "figure3" / "smoke"
    curves, finals = pd.read_csv(folder / "curves.csv"), pd.read_csv(folder / "finals.csv")
    assert len(curves) == 2 * 3 * 11
    table = pd.read_csv(folder / "table.csv")
    assert tables(FIGURE, finals, curves)["table"]["mean"].tolist() == pytest.approx(table["mean"].tolist())

    trace = Store(tmp_path).read(drawn[1].experiment.run_id, 0)
    assert len(trace) == 200  # every round
    ends = [round(200 / 7 + 200 * 6 / 7 * i / 10) for i in range(11)]
    rewards = np.diff([[0, 0, 0], *trace[["probe_0.1", "probe_0.5", "probe_2.5"]].to_numpy().tolist()], axis=0)
    blocks = np.array([rewards[start:end].mean(axis=0) for start, end in pairwise(ends)])
    centred = blocks - blocks.mean(axis=1)[:, None]
    rows = table.query("panel == 'LinTS'")
    assert rows["probed"].tolist() == [0.1, 0.5, 2.5]
    assert set(rows["blocks"]) == {10}
    np.testing.assert_allclose(rows["mean"], centred.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(rows["std"], centred.std(axis=0, ddof=1), atol=1e-9)

    made = shown(FIGURE, curves, finals)
    assert [panel.title for panel in made.panels] == ["LinUCB", "LinTS"]
    (line,) = [mark for mark in made.panels[1].marks if mark.part == "line"]
    np.testing.assert_allclose(line.numbers, centred.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(line.high - line.numbers, centred.std(axis=0, ddof=1), atol=1e-9)
    assert "10 blocks of about 17 rounds, after round 29 and up to round 200" in made.caption[0]


def test_the_price_of_tuning_is_that_of_the_best_value_probed():
    """The value played is also probed: its sum equals the sum of the arms pulled."""
    environment = SyntheticLinear(dim=3, n_arms=5)
    task = ContextualBandit(environment, LinUCB(), probe={"exploration_rate": [0.1, 1.0, 3.0]})
    played = Fixed({"exploration_rate": 1.0})
    trace = run(task, played, rounds=60, seeds=Seeds(1)).columns()
    sums = np.array([trace[f"probe_{value}"] for value in ("0.1", "1", "3")])
    assert trace["tuning_regret"] == pytest.approx(sums.max(axis=0) - sums[1], abs=1e-12)
    assert trace["tuning_regret"].max() > 0
