"""A live tuner in another space: excluded configurations, other bounds, conditional settings."""

import json
from contextlib import closing
from functools import partial

import numpy as np
import pytest
from registry import build, names

from bandit_bench._served_tuner import ServedTuner
from bench.errors import BenchError, SpaceError, TunerError
from bench.seeding import Seeds
from bench.space import HyperParameter, Space
from bench.tuners.base import Problem
from bench.tuners.cdt import CDT
from bench.tuners.changepoint_gp import ChangepointGP
from bench.tuners.ucb import UCB1

RATES = Space.of(rate=[0.1, 1.0, 10.0])
RANKING = Space(
    (
        HyperParameter("ranking", ("plain", "boosted")),
        HyperParameter("boost", (1.0, 2.0, 4.0, 8.0), when=("ranking", "boosted")),
        HyperParameter("rate", (0.1, 1.0)),
    )
)


def played(tuner, value, n=200):
    """Let a tuner learn ``value(configuration)`` with some noise; return the configurations that it tried."""
    rng, tried = np.random.default_rng(0), []
    for _ in range(n):
        tried.append(tuner.ask())
        tuner.tell(value(tried[-1]) + 0.1 * rng.standard_normal())
    return tried


def test_configurations_of_equal_effect_are_tried_once():
    """By hand: of 2 x 4 x 2 combinations, the 4 + 4 with the plain ranking have only 2 different effects."""
    assert len(RANKING.product()) == 2 + 8
    assert all(each["boost"] == 1.0 for each in RANKING.product() if each["ranking"] == "plain")
    tuner = ChangepointGP()
    tuner.start(Problem(RANKING, 400), Seeds(1))
    tried = {tuple(each.values()) for each in played(tuner, lambda each: float(each["ranking"] == "plain"))}
    assert len([each for each in tried if each[0] == "plain"]) <= 2
    assert RANKING.restrict(["boost", "rate"]).is_plain


ALONE = [name for name in names("tuner") if not (tuner := build("tuner", name)).needs and tuner.multiple]
"""Tuners that need only rewards, and tune several hyper-parameters."""


@pytest.mark.parametrize("name", ALONE)
def test_a_tuner_heeds_the_features_that_it_declares(name):
    tuner = build("tuner", name)
    left = RANKING.without(ranking="boosted", boost=8.0).without(rate=1.0, ranking="plain")
    try:
        tuner.start(Problem(RANKING, 300), Seeds(2))
    except BenchError:
        pytest.skip("it does not tune words")
    if "excluded" not in tuner.heeds:
        with pytest.raises(SpaceError, match="2 combinations of values"):
            tuner.start(Problem(left, 300), Seeds(2))
        return
    tuner.start(Problem(left, 300), Seeds(2))
    tried = played(tuner, lambda each: each["boost"])
    assert not any(left.leaves_out(each) for each in tried)
    if "when" in tuner.heeds:
        assert all(each == left.settled(each) for each in tried)


def test_a_tuner_continues_without_a_configuration_and_keeps_its_knowledge():
    for tuner in (UCB1(), ChangepointGP()):
        tuner.start(Problem(RATES, 2_000), Seeds(3))
        log = [(each, 1.0 / (1.0 + abs(each["rate"] - 1.0))) for each in played(tuner, lambda each: 0.0)]
        (kept, in_space), (gone, outside) = [tuner.ask_ticket() for _ in range(2)]
        in_space, outside = {"rate": 0.1}, {"rate": 10.0}
        space = RATES.without(rate=10.0)
        learnt = tuner.change(space, log, {kept: in_space, gone: outside})
        assert learnt == sum(each["rate"] != 10.0 for each, _ in log)
        tuner.tell(0.3, ticket=kept)
        with pytest.raises(TunerError, match=rf"ticket {gone} of \{{'rate': 10\.0\}}, excluded from the space"):
            tuner.tell(0.3, ticket=gone)
        tried = [each["rate"] for each in played(tuner, lambda each: 1.0 / (1.0 + abs(each["rate"] - 1.0)))]
        assert 10.0 not in tried
        assert tried.count(1.0) > 100
        other = type(tuner)()
        other.start(Problem(space, 2_000), Seeds(4))
        other.restore(json.loads(json.dumps(tuner.save())))
        assert other.ask() == tuner.ask()
        fresh = type(tuner)()
        fresh.start(Problem(RATES, 2_000), Seeds(4))
        with pytest.raises(TunerError, match="excluded"):
            fresh.restore(tuner.save())


def test_new_bounds_drop_only_rewards_outside():
    tuner, wide = ChangepointGP(), Space.of(rate={"low": 0.0, "high": 10.0})
    tuner.start(Problem(wide, 2_000), Seeds(5))
    log = [(each, -abs(each["rate"] - 2.0)) for each in played(tuner, lambda each: 0.0, 60)]
    narrow = Space.of(rate={"low": 0.0, "high": 4.0})
    assert tuner.change(narrow, log) == sum(each["rate"] <= 4.0 for each, _ in log) > 0
    best = max(tuner.posterior(), key=lambda point: point[1])[0]["rate"]
    assert abs(best - 2.0) < 1.0
    fresh = ChangepointGP()
    fresh.start(Problem(narrow, 100), Seeds(5))
    for wrong, words in (
        ([({"other": 1.0}, 0.0)], "expected values for just rate"),
        ([({"rate": 1.0}, "x")], "reward"),
    ):
        with pytest.raises(TunerError, match=words):
            fresh.learn(wrong, outside="drop")


def test_a_tuner_that_learns_by_its_draws_refuses_a_change():
    tuner = CDT()
    tuner.start(Problem(Space.of(rate={"low": 0.0, "high": 1.0}), 100), Seeds(1))
    with pytest.raises(TunerError, match="start another tuner"):
        tuner.change(Space.of(rate={"low": 0.0, "high": 0.5}))


def test_a_service_continues_in_another_space(tmp_path, capsys):
    def served(space):
        tuner = UCB1()
        tuner.start(Problem(space, 1_000), Seeds(1))
        return closing(ServedTuner(tuner, tmp_path / "tuner.db", margin=0.05))

    def answers(service, *asks):
        rewards = {0.1: 0.2, 1.0: 0.8, 10.0: 0.9}
        told = [(ask["ticket"], rewards[ask["configuration"]["rate"]]) for ask in asks]
        return service.together([partial(ServedTuner.tell, ticket=ticket, reward=reward) for ticket, reward in told])

    with served(RATES) as service:
        for _ in range(60):
            answers(service, *service.together([ServedTuner.ask]))
        waiting = service.together([ServedTuner.ask] * 3)
    for _ in range(2):  # the second time it is no other space
        with served(RATES.without(rate=10.0)) as service:
            assert ("of 60 rewards in the file lie in it" in capsys.readouterr().out) == (len(waiting) == 3)
            (ask, found) = service.together([ServedTuner.ask, ServedTuner.recommend])
            assert (ask["configuration"], found["configuration"]) == ({"rate": 1.0}, {"rate": 1.0})
            assert found["low"] < found["reward"] < found["high"]
            for ask, answer in zip(waiting, answers(service, *waiting), strict=True):
                assert isinstance(answer, BenchError) == (ask["configuration"]["rate"] == 10.0)
        waiting = []


def test_what_the_space_does_not_have_cannot_be_left_out():
    for values, words in (
        ({"rate": 7.0}, "rate.: found 7.0 .* 0.1, 1.0, 10.0"),
        ({"rat": 1.0}, "'rat'"),
        ({}, "found {}"),
    ):
        with pytest.raises(SpaceError, match=words):
            RATES.without(**values)
    assert Space.of(x={"low": 0.0, "high": 1.0}).without(x=0.25).leaves_out({"x": 0.25})
