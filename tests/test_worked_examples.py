"""The hand computations of the HABO paper: our numbers against the project's tuners, played through the examples."""

import numpy as np
import pytest

from bench.papers.habo.worked_examples import Step, worked_examples
from bench.regret_bounds import regret_bound
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem
from bench.tuners.exp3 import EXP3
from bench.tuners.experts import Hedge
from bench.tuners.ucb import ETC, UCB1

ARMS = Problem(Space.of(arm=[1, 2, 3]), horizon=10)


def numbers(example: str, quantity: str, column: str = "right") -> list[float]:
    table = worked_examples()
    row = table[table["example"].str.startswith(example) & (table["quantity"] == quantity)]
    assert len(row) == 1, (example, quantity)
    return [float(word) for word in row[column].iloc[0].split()]


def close(found: list[float] | np.ndarray, expected: list[float], digits: int = 3) -> bool:
    return len(found) == len(expected) and bool(np.allclose(found, expected, rtol=0, atol=0.51 * 10.0**-digits))


def test_ucb1_played_through_the_example() -> None:
    tuner = UCB1()
    tuner.start(ARMS, Seeds())
    rewards = {1: 1.0, 2: 0.5, 3: 0.8}
    asked = []
    for round_ in range(5):
        asked.append(tuner.ask()["arm"])
        if round_ == 3:
            assert close(tuner.upper_bounds, numbers("UCB1, round 2", "indices of the arms"))
        if round_ == 4:
            assert close(tuner.upper_bounds, numbers("UCB1, round 3", "indices of the arms"))
        tuner.tell(rewards[asked[-1]])
    assert asked[:3] == [1, 2, 3]
    assert asked[3:] == numbers("UCB1, round 2", "arm chosen") + numbers("UCB1, round 3", "arm chosen")


def test_hedge_played_through_the_example() -> None:
    tuner = Hedge()
    tuner.start(ARMS, Seeds())
    for round_, losses in enumerate(([0.4, 0.3, 0.5], [0.2, 0.4, 0.3]), start=1):
        chances = tuner.probabilities()["configuration"]
        assert close(chances, numbers(f"Hedge, round {round_}", "probabilities"))
        assert close([chances @ losses], numbers(f"Hedge, round {round_}", "expected loss"))
        tuner.ask()
        tuner.tell(0.5, Outcome(0.5, rewards=[1.0 - loss for loss in losses]))
        weights = np.exp(tuner.log_weights)
        assert close(weights, numbers(f"Hedge, round {round_ + 1}", "weights"), digits=4)


def test_exp3_played_through_the_example() -> None:
    """The example takes arms 2 and 1 "at random": so does the tuner, with one of the first seeds."""
    for seed in range(100):
        tuner = EXP3()
        tuner.start(ARMS, Seeds(seed))
        chances = []
        for arm, reward in ((2, 0.5), (1, 0.8)):
            chances.append(tuner.probabilities()["configuration"])
            if tuner.ask()["arm"] != arm:
                break
            tuner.tell(reward)
        else:
            break
    else:
        pytest.fail("no seed draws arms 2 and 1")
    chances.append(tuner.probabilities()["configuration"])
    for round_, own in enumerate(chances, start=1):
        assert close(own, numbers(f"EXP3, round {round_}", "probabilities"))
    assert [int(np.argmax(chances[2])) + 1] == numbers("EXP3, round 3", "most probable arm") == [3]


def test_etc_played_through_the_example() -> None:
    """The tuner starts with the first arm, the paper's policy with the second: both go round in turn."""
    tuner = ETC(pulls_per_arm=2)
    tuner.start(ARMS, Seeds())
    means, asked = {1: 0.4, 2: 0.7, 3: 0.5}, []
    for _ in range(10):
        asked.append(tuner.ask()["arm"])
        tuner.tell(means[asked[-1]])
    explored = int(numbers("ETC, example", "rounds done when the arms are compared")[0])
    assert sorted(asked[:explored]) == [1, 1, 2, 2, 3, 3]
    turns = [int(arm) for arm in numbers("ETC, policy", "arms of rounds 1 to 6, (t mod k) + 1")]
    assert turns == asked[1:6] + asked[:1]
    assert set(asked[explored:]) == set(numbers("ETC, example", "arm committed to"))
    assert [len(asked[explored:])] == numbers("ETC, bound", "rounds after the exploration, n - m k")


def test_etc_bound_is_that_of_the_regret_bounds() -> None:
    bound = regret_bound({"name": "etc", "gaps": [3.0, 7.0, 2.0], "pulls_per_arm": 2}, [10])
    assert close(bound, numbers("ETC, bound", "bound of the regret"), digits=4)
    explored = regret_bound({"name": "etc", "gaps": [3.0, 7.0, 2.0], "pulls_per_arm": 2}, [6])
    assert close(explored, numbers("ETC, bound", "m times the sum of the gaps"))


def test_causes_are_counted_apart_from_rows() -> None:
    """As documented: 41 rows, 5 of them statements; 24 slips from 16 causes; 7 inherit one."""
    table = worked_examples()
    slips = table[table["verdict"] == "slip"]
    assert table["verdict"].value_counts().to_dict() == {"slip": 24, "right": 10, "inherited": 7}
    assert slips["why"].ne("").all()
    assert (slips["cause"] != "").all()
    assert (table.loc[table["verdict"] != "slip", "cause"] == "").all()
    assert slips["cause"].nunique() == 16
    assert (slips["cause"] == "log10 for ln").sum() == 5
    assert table["printed"].str.startswith("[").sum() == 5


@pytest.mark.parametrize(
    ("printed", "recomputed", "right", "verdict"),
    [
        ("1.482", 1.4823, 1.4823, "right"),
        ("1.483", 1.4823, 1.4823, "right"),  # one in the last digit: rounded the other way
        ("1.484", 1.4823, 1.4823, "slip"),
        ("2.386", 2.386, 2.4823, "inherited"),
        ("27", 28.0, 28.0, "slip"),  # whole numbers are exact
        ("1.027e-10", 1.0269e-10, 1.0269e-10, "right"),
        ("1.027e-10", 1.6e-10, 1.6e-10, "slip"),
    ],
)
def test_a_printed_number_is_right_inherited_or_a_slip(
    printed: str, recomputed: float, right: float, verdict: str
) -> None:
    assert Step("example", "name", printed, [recomputed], [right]).verdict == verdict
    assert Step("example", "name", "0.333 0.333", [1 / 3, 0.4], [1 / 3, 0.4]).verdict == "slip"
