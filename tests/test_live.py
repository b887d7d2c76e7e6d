"""A tuner in a loop of one's own: late rewards, threads and processes, states that are damaged."""

import copy
import json
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from bench.errors import TunerError
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem
from bench.tuners.changepoint_gp import ChangepointGP

SPACE = Space.of(x={"candidates": (0.1, 1.0, 5.0), "low": 0.1, "high": 5.0}, kind=["a", "b"])


def begin(space=SPACE, horizon=1_000, seed=1, **settings):
    tuner = ChangepointGP(**settings)
    tuner.start(Problem(space, horizon), Seeds(seed))
    return tuner


def reward_of(configuration, rng):
    return -abs(configuration["x"] - 3.0) + float(rng.normal())


def play(tuner, rounds, delay=0, seed=0):
    """Tell every reward ``delay`` asks late; return the configurations."""
    rng = np.random.default_rng(seed)
    asked, waiting = [], []
    for _ in range(rounds):
        ticket, configuration = tuner.ask_ticket()
        asked.append(configuration)
        waiting.append((reward_of(configuration, rng), ticket))
        if len(waiting) > delay:
            reward, ticket = waiting.pop(0)
            tuner.tell(reward, ticket=ticket)
    return asked


def state_of(tuner):
    return json.dumps(tuner.save()["state"])


# late rewards


def test_with_tickets_told_at_once_it_does_what_it_does_without():
    tuner = begin()
    rng = np.random.default_rng(0)
    for configuration in play(begin(), 200):
        assert tuner.ask() == configuration
        tuner.tell(reward_of(configuration, rng))


def test_a_reward_is_learnt_for_the_configuration_of_its_ticket_in_any_order():
    """Two tuners are told the same pairs of configuration and reward, one at once and one out of order."""
    late, prompt = begin(residual=None), begin(residual=None)
    asked = [late.ask_ticket() for _ in range(6)]
    assert len({json.dumps(configuration) for _, configuration in asked}) == 6
    for place in (4, 0, 5, 1, 3, 2):
        ticket, configuration = asked[place]
        late.tell(float(place), ticket=ticket)
        prompt.ask()
        prompt._open[prompt._latest] = prompt._configurations.index(configuration)
        prompt.tell(float(place))
    assert state_of(late) == state_of(prompt)


def test_rewards_that_never_come_and_are_told_twice():
    tuner = begin()
    first, _ = tuner.ask_ticket()
    second, _ = tuner.ask_ticket()
    tuner.tell(1.0, ticket=first)
    for ticket in (first, 0, 99, second + 1, "1", True, 1.0, [second]):
        with pytest.raises(
            TunerError, match=r"found the ticket .*, expected one of ask_ticket\(\) whose reward was not"
        ):
            tuner.tell(1.0, ticket=ticket)
    tuner.tell(1.0)
    with pytest.raises(TunerError, match="before ask"):
        tuner.tell(1.0)
    assert second == first + 1
    oldest, _ = tuner.ask_ticket()
    for _ in range(10_000):
        tuner.ask()
    with pytest.raises(TunerError, match=f"found the ticket {oldest}, .* among the latest 10,000"):
        tuner.tell(1.0, ticket=oldest)


@pytest.mark.parametrize(
    ("reward", "words"),
    [
        ("much", "'much'"),
        (None, "None"),
        ([1.0], r"\[1.0\]"),
        (1j, "1j"),
        (10**400, r"1000.*\.\.\."),
        (float("nan"), "nan"),
        (np.float32("inf"), "inf"),
        (np.ones(1), r"array\(\[1.\]\)"),
    ],
)
def test_a_reward_that_is_no_number_changes_nothing(reward, words):
    tuner = begin()
    ticket, _ = tuner.ask_ticket()
    before = json.dumps(tuner.save())
    with pytest.raises(TunerError, match=f"found the reward {words}, expected a finite number"):
        tuner.tell(reward, ticket=ticket)
    assert json.dumps(tuner.save()) == before
    tuner.tell(np.float32(0.5), ticket=np.int64(ticket))
    for reward in (True, np.True_, 1):
        tuner.ask()
        tuner.tell(reward)
    assert tuner.save()["state"]["by_rewards"]["first"] == [
        [place, y]
        for (place, _), y in zip(tuner.save()["state"]["by_rewards"]["first"], (0.5, 1.0, 1.0, 1.0), strict=True)
    ]


def test_late_rewards_cost_little():
    """In 2,000 rounds without a change it still finds the peak, with the rewards of up to a hundred asks open."""
    space = Space.of(x={"low": 0.0, "high": 5.0})
    for delay in (10, 100):
        asked = play(begin(space, 2_000, residual=None), 2_000, delay)
        losses = [abs(configuration["x"] - 3.0) for configuration in asked]
        assert np.mean(losses[-1_000:]) < 0.4


# threads and processes


def test_threads_share_a_tuner():
    """Every reward is learnt exactly once, and no ticket is given twice."""
    tuner = begin(residual=None)
    tickets = []

    def work():
        for _ in range(300):
            ticket, configuration = tuner.ask_ticket()
            tickets.append(ticket)
            tuner.tell(configuration["x"], ticket=ticket)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tickets) == list(range(min(tickets), min(tickets) + 2_400))
    assert tuner.save()["state"]["step"] == 2_400


def test_a_copy_in_another_process_is_refused():
    tuner = begin()
    tuner._process += 1
    copied = pickle.loads(pickle.dumps(tuner))
    for call in (copied.ask, copied.save, lambda: copied.tell(1.0), lambda: copied.restore({})):
        with pytest.raises(TunerError, match=r"found a call in process \d+, expected \d+, which started it; ask that"):
            call()
    copied.start(Problem(SPACE, 10))
    copied.ask()


def test_the_start_says_that_it_compiles_and_warm_up_does_it_before():
    program = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.changepoint_gp import ChangepointGP
if sys.argv[1] == "warm":
    ChangepointGP.warm_up()
print("start")
tuner = ChangepointGP()
tuner.start(Problem(Space.of(x=[1, 2, 3]), 100))
"""
    said = {
        how: [line for line in subprocess.run(
            [sys.executable, "-c", program, how], capture_output=True, text=True, check=True
        ).stdout.splitlines() if "compiling" in line or line == "start"]
        for how in ("warm", "cold")
    }  # fmt: skip
    assert [line == "start" for line in said["cold"]] == [True, False]
    assert [line == "start" for line in said["warm"]] == [False, True]


# saved states


def played(rounds=60):
    tuner = begin()
    rng = np.random.default_rng(0)
    for mean in rng.normal(size=rounds).tolist():
        tuner.ask()
        tuner.tell(mean + 0.1, Outcome(mean, {"model_mean": mean, "model_regret": abs(mean)}))
    tuner.ask()
    return tuner


SAVED = json.loads(json.dumps(played().save()))
EARLY = json.loads(json.dumps(played(2).save()))


def change(path, value):
    """Return a saved state with one value changed, or taken out."""
    saved = copy.deepcopy(EARLY if "first" in path else SAVED)
    *parents, last = path
    part = saved
    for key in parents:
        part = part[key]
    if value is del_:
        del part[last]
    else:
        part[last] = value(part[last]) if callable(value) else value
    return saved


def del_():
    """Mark what is taken out."""


BELIEF = ("state", "by_rewards")
DAMAGED = {
    "no state": (None, "found None, expected a mapping with the keys version, class, "),
    "a list": ([], r"found \[\], expected a mapping"),
    "no class": (change(("class",), del_), "saved state: found no key 'class'"),
    "a key more": (change(("mine",), 1), "saved state: found the unknown key 'mine', expected just version"),
    "another version": (change(("version",), 1), "version: found 1, expected 2, as in the tuner"),
    "another class": (change(("class",), "UCB1"), "class: found 'UCB1', expected 'ChangepointGP'"),
    "other settings": (change(("settings", "beta"), 2.0), "settings.beta: found 2.0, expected 1.5"),
    "a setting less": (change(("settings", "beta"), del_), "settings: found {.*, expected {"),
    "another interval": (change(("space", "x", "high"), 6.0), "space.x.high: found 6.0, expected 5.0"),
    "other candidates": (change(("space", "kind", "candidates", 1), "c"), r"candidates\[1\]: found 'c', expected 'b'"),
    "another horizon": (change(("horizon",), 10), "horizon: found 10, expected 1000"),
    "another point": (change(("points", 0, "x"), 7), r"points\[0\].x: found 7, expected 0.1"),
    "text for a ticket": (change(("latest",), "7"), "latest: found '7', expected whole number"),
    "tickets too new": (change(("latest",), 3), "open: found a ticket or a point beyond the last"),
    "an arm 99": (change(("open", 0, 1), 99), "open: found a ticket or a point beyond the last"),
    "half a ticket": (change(("open", 0), [61]), "open: found .*, expected whole numbers of shape"),
    "no generator": (change(("state", "rng"), {}), "rng: found {}, expected the state of a PCG64"),
    "another generator": (change(("state", "rng", "bit_generator"), "MT19937"), "rng: found .*, expected the state of"),
    "text in the generator": (
        change(("state", "rng", "state", "inc"), "1"),
        "rng: found .*, expected the state of a PCG",
    ),
    "a missing plan": (change(("state", "plan"), del_), "saved state: state: found no key 'plan'"),
    "another plan": (change(("state", "plan", 0), 1), "plan: found .*, expected the points"),
    "negative steps": (change(("state", "step"), -1), "step: found -1, expected whole number from 0"),
    "half a step": (change(("state", "step"), 1.5), "step: found 1.5, expected whole number"),
    "certain odds": (
        change(("state", "log_odds"), 1e9),
        "log_odds: found 1000000000.0, expected finite number from -30",
    ),
    "nan in a mean": (
        change((*BELIEF, "means", 0, 0, 0), float("nan")),
        "by_rewards: means: found nan, expected finite",
    ),
    "text in a mean": (change((*BELIEF, "means", 0, 0, 0), "1"), "means: found .*, expected finite numbers of shape"),
    "a row less": (change((*BELIEF, "means", 0), []), "means: found .*, expected finite numbers of shape"),
    "infinite weight": (
        change((*BELIEF, "log_weights", 0, 0), float("-inf")),
        "log_weights: found -inf, expected finite",
    ),
    "no variance": (change((*BELIEF, "variances", 0), 0.0), "variances: found 0.0, expected finite numbers"),
    "negative variance": (
        change((*BELIEF, "covariances", 0, 0, 0, 0), -100.0),
        "covariances: found a negative variance, expected variances of at least 0",
    ),
    "skew": (change((*BELIEF, "covariances", 0, 0, 0, 1), 9.0), "covariances: found a matrix that is not symmetric"),
    "a prior twice": (
        change((*BELIEF, "left"), lambda left: [left[0]] * len(left)),
        "left: found .*, expected no prior",
    ),
    "a prior that is not": (change((*BELIEF, "left", 0), 17), "left: found 17, expected whole numbers .* from 0 to 5"),
    "hypotheses": (change((*BELIEF, "scalars", 3), 40.0), "scalars: found .* 40 hypotheses.*, expected at most 12"),
    "a point before": (change((*BELIEF, "first", 0, 0), 99), "first: found a point that is not there, expected whole"),
    "a huge ticket": (change(("latest",), 1e300), "latest: found 1e.300, expected whole number from 0 to"),
    "another mean": (
        change((*BELIEF, "means", 0, 0, 0), 1e300),
        "checksum: found '.*', expected '.*', that of the other keys: something was changed afterwards",
    ),
    "values beside": (
        change(("state", "by_rewards"), lambda b: b | {"first": [[0, 1.0]]}),
        "expected values or hypotheses",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_state_is_one_sentence_and_changes_nothing(name):
    saved, words = DAMAGED[name]
    tuner = played(20)
    before = json.dumps(tuner.save())
    with pytest.raises(TunerError, match=words) as error:
        tuner.restore(saved)
    assert str(error.value).startswith("ChangepointGP: saved state")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250
    assert json.dumps(tuner.save()) == before


def test_what_is_not_damaged_is_restored_with_its_open_tickets():
    tuner = played(5)
    for saved in (EARLY, SAVED):
        tuner.restore(saved)
        assert json.loads(json.dumps(tuner.save())) == saved
    tuner.tell(1.0, ticket=SAVED["latest"])


def test_tickets_that_a_crash_left_behind_are_refused():
    """What was asked after the state was saved is lost with the process; its tickets are not given again."""
    tuner = played()
    saved = tuner.save()
    lost = [tuner.ask_ticket()[0] for _ in range(5)]
    for _ in range(2):
        tuner.restore(saved)
        again = [tuner.ask_ticket()[0] for _ in range(5)]
        for ticket in lost:
            with pytest.raises(TunerError, match="found the ticket"):
                tuner.tell(1.0, ticket=ticket)
        lost += again


def test_calls_before_the_start():
    for call in (ChangepointGP().save, lambda: ChangepointGP().restore(SAVED)):
        with pytest.raises(TunerError, match="before start"):
            call()
