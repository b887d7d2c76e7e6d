"""The guard rail against the guarantee of conservative bandits, and its cost."""

import json

import numpy as np
import pytest

import bandit_bench as bb
from bench.errors import ConfigError, TunerError
from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.floor import Floor
from bench.tuners.gaussian_ts import GaussianTS
from bench.tuners.ucb import UCB1

MEANS = {"usual": 0.5, "better": 0.6, "bad": 0.1, "worse": 0.05, "worst": 0.0}
SPACE = Space.of(offer=list(MEANS))
RANDOM = "bench.tuners.baselines.Random"


def expected(tuner, seed, n):
    """Return the expected rewards of the configurations that a tuner plays, shape (n,), with rewards of 0 or 1."""
    rng = np.random.default_rng(seed)
    tuner.start(Problem(SPACE, n), Seeds(seed))
    means = np.empty(n)
    for t in range(n):
        means[t] = MEANS[tuner.ask()["offer"]]
        tuner.tell(float(rng.random() < means[t]))
    return means


def broken(tuner, seed, n, share):
    """Return whether earnings were ever below the floor, in expected rewards."""
    means = expected(tuner, seed, n)
    return bool((means.cumsum() < (1 - share) * MEANS["usual"] * np.arange(1, n + 1)).any())


@pytest.mark.parametrize("inner", ["bench.tuners.ucb.UCB1", RANDOM])
def test_the_promise_holds_at_all_times(inner):
    """50 runs of 1,500 rounds with a failure of 10 %, around a tuner that would break it each time."""
    guarded = Floor(tuner=inner, configuration={"offer": "usual"}, share=0.2, failure=0.1)
    assert sum(broken(guarded, seed, 1_500, 0.2) for seed in range(50)) <= 5 + 3 * 2
    free = UCB1()
    assert sum(broken(free, seed, 1_500, 0.2) for seed in range(5)) == 5


def test_the_cost_of_a_floor():
    """It explores later, and less for a narrower floor; in the end it also finds the better configuration."""
    n, others = 20_000, {}
    for share in (0.05, 0.4):
        means = expected(Floor(configuration={"offer": "usual"}, share=share), 1, n)
        others[share] = (means != MEANS["usual"])[:2_000].sum()
        assert means[-2_000:].mean() > 0.54
    assert 0 <= others[0.05] < others[0.4]


def test_the_condition_by_hand():
    """After 400 default rounds that all pay .5, almost without noise, share .1 allows 400 * .1 / .9 others."""
    tuner = Floor(tuner=RANDOM, configuration={"offer": "usual"}, share=0.1, noise=1e-6)
    tuner.start(Problem(SPACE, 1_000), Seeds(0))
    default, others = 0, 0
    for _ in range(1_000):
        is_default = tuner.ask()["offer"] == "usual"
        default, others = default + is_default, others + (not is_default)
        tuner.tell(0.5 if is_default else 0.0)
        assert others <= (default + others) * 0.1 + 1e-6
    assert others == pytest.approx(100, abs=2)


def test_late_rewards_and_a_state():
    tuner = Floor(configuration={"offer": "usual"}, share=0.4)
    tuner.start(Problem(SPACE, 5_000), Seeds(3))
    rng = np.random.default_rng(3)
    waiting = []
    for _ in range(600):
        waiting.append(tuner.ask_ticket())
        if len(waiting) > 20:
            ticket, configuration = waiting.pop(int(rng.integers(20)))
            tuner.tell(float(rng.random() < MEANS[configuration["offer"]]), ticket=ticket)
    other = Floor(configuration={"offer": "usual"}, share=0.4)
    other.start(Problem(SPACE, 5_000), Seeds(9))
    other.restore(json.loads(json.dumps(tuner.save())))
    for ticket, configuration in waiting:
        for each in (tuner, other):
            each.tell(MEANS[configuration["offer"]], ticket=ticket)
    assert [tuner.ask() for _ in range(3)] == [other.ask() for _ in range(3)]


def test_the_rounds_of_a_log_count():
    """400 default rounds that paid .5 leave 400 * .1 / .9 = 44.4 rounds that pay nothing, as if it had played them."""
    tuner = Floor(configuration={"offer": "usual"}, share=0.1, noise=1e-6)
    tuner.start(Problem(SPACE, 1_000), Seeds(0))
    assert tuner.learn([({"offer": "usual"}, 0.5)] * 400) == 400
    others = 0
    while tuner.ask()["offer"] != "usual":
        tuner.tell(0.0)
        others += 1
    assert others == 44


def test_it_continues_in_another_space_with_open_tickets_and_recommends_as_its_tuner():
    tuner, inner = Floor(configuration={"offer": "usual"}, share=0.4), UCB1()
    log = [({"offer": offer}, float(place < 10 * mean)) for offer, mean in MEANS.items() for place in range(10)] * 20
    tuner.start(Problem(SPACE, 5_000), Seeds(3))
    tickets = dict(tuner.ask_ticket() for _ in range(3))
    smaller = SPACE.without(offer="worst")
    assert tuner.change(smaller, log, tickets) == 800
    for ticket in tickets:
        tuner.tell(0.5, ticket=ticket)
    assert (tuner._n_default, tuner._n_other) == (203, 600)
    assert (tuner._asked_default, tuner._asked_other) == (203, 600)
    inner.start(Problem(smaller, 5_000), Seeds(3))
    inner.learn([*(pair for pair in log if pair[0]["offer"] != "worst"), *[({"offer": "usual"}, 0.5)] * 3])
    assert tuner.recommend(margin=0.02) == inner.recommend(margin=0.02)
    assert tuner.recommend().configuration == {"offer": "better"}


def test_a_guarded_tuner_by_its_name():
    guarded = bb.tuner("floor", tuner="gaussian_ts", configuration={"offer": "usual"})
    guarded.start(Problem(SPACE, 10), Seeds(0))
    assert isinstance(guarded._inner, GaussianTS)
    assert isinstance(bb.tuner("floor")._wrapped(), UCB1)
    with pytest.raises(ConfigError, match="did you mean 'gaussian_ts'"):
        bb.tuner("floor", tuner="gausian_ts")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tuner": "nowhere.Tuner"}, "nowhere"),
        ({"configuration": {"x": 1}}, "'x'"),
        ({"configuration": {"offer": "usal"}}, "'usal', expected one of 'usual'"),
        ({"configuration": {"offer": "worst"}}, "leaves out"),
    ],
)
def test_tuners_that_cannot_be_guarded_are_named(settings, words):
    with pytest.raises(ConfigError, match=words):
        Floor(**settings).start(Problem(SPACE.without(offer="worst"), 10), Seeds(0))


def test_a_state_of_other_excluded_configurations_is_refused_by_their_name():
    tuners = [Floor(tuner=RANDOM, configuration={"offer": "usual"}) for _ in range(2)]
    for tuner, space in zip(tuners, (SPACE, SPACE.without(offer="worst")), strict=True):
        tuner.start(Problem(space, 10), Seeds(0))
    for one, other in (tuners, tuners[::-1]):
        with pytest.raises(TunerError, match=r"saved state: excluded: .*worst"):
            other.restore(one.save())
