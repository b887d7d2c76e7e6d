"""A tuner in a loop of one's own: late rewards, threads and processes, states that are damaged."""

import base64
import copy
import json
import math
import os
import pickle
import signal
import threading
import time
from functools import cache
from operator import delitem, setitem

import numpy as np
import pytest

from bench.errors import TunerError
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem
from bench.tuners.baselines import Random
from bench.tuners.changepoint_gp import ChangepointGP
from bench.tuners.state import checksum

SPACE = Space.of(x={"candidates": (0.1, 1.0, 5.0), "low": 0.1, "high": 5.0}, kind=["a", "b"])


def begin(space=SPACE, horizon=1_000, seed=1, **settings):
    tuner = ChangepointGP(**settings)
    tuner.start(Problem(space, horizon), Seeds(seed))
    return tuner


def play(tuner, rounds, delay=0):
    """Tell every reward ``delay`` asks late; return the configurations."""
    rng = np.random.default_rng(0)
    asked, waiting = [], []
    for _ in range(rounds):
        ticket, configuration = tuner.ask_ticket()
        asked.append(configuration)
        waiting.append((-abs(configuration["x"] - 3.0) + float(rng.normal()), ticket))
        if len(waiting) > delay:
            reward, ticket = waiting.pop(0)
            tuner.tell(reward, ticket=ticket)
    return asked


# late rewards


def test_a_reward_is_learnt_for_the_configuration_of_its_ticket_in_any_order():
    """Of six open tickets the first has the only high reward, told last; its configuration is then played."""
    tuner = begin(residual=None, horizon=100, doubt=0.0)
    asked = [tuner.ask_ticket() for _ in range(6)]
    for place in (4, 2, 5, 1, 3, 0):
        tuner.tell(100.0 if place == 0 else 0.1 * place, ticket=asked[place][0])
    assert tuner.ask() == asked[0][1]


def test_rewards_that_never_come_and_are_told_twice():
    tuner = begin()
    first, _ = tuner.ask_ticket()
    second, _ = tuner.ask_ticket()
    assert second == first + 1
    tuner.tell(1.0, ticket=first)
    with pytest.raises(TunerError, match=rf"found the ticket {second} \(not an int\)"):
        tuner.tell(1.0, ticket=np.int64(second))
    for ticket in (first, 0, 99, second + 1, "1", True, 1.0, [second]):
        with pytest.raises(TunerError, match="found the ticket "):
            tuner.tell(1.0, ticket=ticket)
    tuner.tell(1.0)
    with pytest.raises(TunerError, match="before ask"):
        tuner.tell(1.0)
    oldest, _ = tuner.ask_ticket()
    for _ in range(10_000):
        tuner.ask_ticket()
    with pytest.raises(TunerError, match=f"found the ticket {oldest}, .* among the latest 10,000"):
        tuner.tell(1.0, ticket=oldest)


@pytest.mark.parametrize("delay", [0, 10, 100])
def test_late_rewards_cost_little(delay):
    """In 2,000 rounds without a change it still finds the peak, with the rewards of up to a hundred asks open."""
    asked = play(begin(Space.of(x={"low": 0.0, "high": 5.0}), 2_000, residual=None), 2_000, delay)
    assert np.mean([abs(configuration["x"] - 3.0) for configuration in asked[-1_000:]]) < 0.4


# threads and processes


def test_a_ticket_without_its_name_is_refused_before_anything_is_learnt():
    tuner = begin()
    play(tuner, 30)
    ticket, _ = tuner.ask_ticket()
    before = tuner.save()
    with pytest.raises(TunerError, match=r"found the outcome \d+, .* tell\(reward, ticket=ticket\)"):
        tuner.tell(0.3, ticket)
    assert tuner.save() == before


def test_the_posterior_is_that_of_gaussian_process_regression_where_nothing_changes():
    """Words have the covariance signal (I + 1); the first three rewards give the prior mean, and are learnt, too."""
    tuner = begin(Space.of(kind=["a", "b", "c"]), horizon=60, signals=(2.0,), changes=0.0, residual=None)
    assert tuner.posterior() == []
    rng, places, rewards = np.random.default_rng(3), [], []
    for _ in range(25):
        places.append("abc".index(tuner.ask()["kind"]))
        rewards.append(float(places[-1] + rng.normal()))
        tuner.tell(rewards[-1])
    prior, seen = 2.0 * (np.eye(3) + 1.0), np.array(places)
    level = np.mean(rewards[:3])
    gain = prior[:, seen] @ np.linalg.inv(prior[np.ix_(seen, seen)] + np.eye(25))
    kinds, means, deviations = zip(*tuner.posterior(), strict=True)
    assert kinds == ({"kind": "a"}, {"kind": "b"}, {"kind": "c"})
    np.testing.assert_allclose(means, level + gain @ (np.array(rewards) - level), rtol=1e-9)
    noise = np.square(deviations) / np.diag(prior - gain @ prior[seen])
    np.testing.assert_allclose(noise, noise[0], rtol=1e-9)


def test_the_posterior_of_several_hypotheses_is_their_mixture():
    """Right after a change no hypothesis is certain: the deviation is large, and falls with further rewards."""
    tuner = begin(Space.of(kind=["a", "b"]), horizon=1_000, residual=None, changes=10.0)
    wide = []
    for round_ in range(400):
        kind = tuner.ask()["kind"]
        tuner.tell(float((kind == "a") == (round_ < 200)) + 0.01 * (round_ % 7))
        if tuner.posterior():
            wide.append(max(deviation for _, _, deviation in tuner.posterior()))
    best = max(tuner.posterior(), key=lambda point: point[1])
    assert best[0] == {"kind": "b"}
    assert best[1] == pytest.approx(1.03, abs=0.05)
    assert max(wide[190:230]) > 2 * wide[150]


def test_the_posterior_follows_the_level_of_rewards():
    deviations = []
    for level in (0.0, 1e9):
        tuner, rng = begin(residual=None, horizon=200), np.random.default_rng(2)
        for _ in range(100):
            tuner.tell(level + tuner.ask()["x"] + float(rng.normal()))
        deviations.append([deviation for _, _, deviation in tuner.posterior()])
    np.testing.assert_allclose(*deviations, rtol=1e-3)


@pytest.mark.parametrize(("changes", "runs"), [(1000.0, 8), (3.0, 3)])
def test_a_setting_that_becomes_the_best_is_found_if_changes_are_expected(changes, runs):
    """The setting in use stays as good: all of 8 runs find the new one, or 3 where few changes are expected."""
    space = Space.of(exploration={"low": 0.01, "high": 2.0, "log": True}, cache=["none", "small", "medium", "large"])
    found = 0
    for seed in range(8):
        tuner = begin(space, horizon=1_000_000, seed=seed, changes=changes)
        rng, caches = np.random.default_rng(seed), []
        for ask in range(6_000):
            configuration = tuner.ask()
            caches.append(configuration["cache"])
            is_new = ask >= 1_000 and caches[-1] == "large"
            level, peak = (1.0, 0.7) if is_new else (0.6 if caches[-1] == "small" else 0.3, 0.05)
            off = abs(math.log10(configuration["exploration"] / peak))
            tuner.tell(level - 0.2 * off + 0.2 * float(rng.normal()))
        found += caches[-20:].count("large") > 10
    assert found == runs


def test_threads_share_a_tuner():
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
    assert tuner.save()["state"]["_step"] == 2_400


class Slow(Random):
    """Nearly always in a call."""

    def _ask(self):
        time.sleep(0.001)
        return super()._ask()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_while_another_thread_is_in_a_call_leaves_the_child_able_to_call():
    """The child has only the thread that forked: a lock of another thread would be held in it for ever."""
    tuner, stop = Slow(), threading.Event()
    tuner.start(Problem(SPACE, 1000))

    def work():
        while not stop.is_set():
            tuner.tell(0.5, ticket=tuner.ask_ticket()[0])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if not child:
                signal.alarm(60)  # which ends a child that is blocked
                try:
                    tuner.start(Problem(SPACE, 1000))
                    tuner.tell(0.5, ticket=tuner.ask_ticket()[0])
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_a_copy_in_another_process_is_refused(monkeypatch):
    tuner = pickle.loads(pickle.dumps(begin()))
    monkeypatch.setattr("os.getpid", lambda: 7)
    for call in (tuner.ask_ticket, tuner.save, lambda: tuner.tell(1.0, ticket=1), lambda: tuner.restore({})):
        with pytest.raises(TunerError, match=r"found a call in process 7, expected \d+, which started it; ask that"):
            call()
    tuner.start(Problem(SPACE, 10))
    tuner.ask()


# saved states


def played(rounds=60):
    tuner = begin()
    rng = np.random.default_rng(0)
    for mean in rng.normal(size=rounds).tolist():
        tuner.ask()
        tuner.tell(mean + 0.1, Outcome(mean, {"model_mean": mean, "model_regret": abs(mean)}))
    tuner.ask_ticket()
    return tuner


@cache
def saved_after(rounds):
    """Return a saved state, not to be changed; made only when a test needs it, because making it compiles code."""
    return json.loads(json.dumps(played(rounds).save()))


REWARDS = "state._by_rewards.attributes"
ARRAYS = f"{REWARDS}.arrays.attributes"


def signed(saved):
    """Return a state with a matching checksum, as after a deliberate change."""
    return {**saved, "checksum": checksum(saved)}


def changed(path, value=None, change=setitem, sign=False):
    """Return a function that changes one value of a saved state; ``path`` is dotted."""

    def make():
        *parents, last = (int(key) if key.isdigit() else key for key in path.split("."))
        saved = copy.deepcopy(saved_after(2 if "_first" in path else 60))
        part = saved
        for key in parents:
            part = part[key]
        change(*([part, last, value] if change is setitem else [part, last]))
        return signed(saved) if sign else saved

    return make


DAMAGED = [
    (changed("state._plan", change=delitem), "'_plan'"),
    (changed("settings.beta", 2.0), "settings.beta: found 2.0, expected 1.5"),
    (changed("space.x.high", 6.0), "space.x.high: found 6.0, expected 5.0"),
    (changed("state._step", 7), "checksum"),
    (changed("state._chosen", 99, sign=True), "found the points"),
    (changed("state._log_odds", 1e9, sign=True), "log odds"),
    (changed(f"{ARRAYS}.means.shape.0", -1, sign=True), "means: found"),
    (changed(f"{ARRAYS}.variances.bytes", base64.b64encode(bytes(800)).decode(), sign=True), "variances"),
    (changed(f"{REWARDS}._first.0.tuple.0", 99, sign=True), "points from 0 to"),
]


@pytest.mark.parametrize(("made", "words"), DAMAGED)
def test_a_damaged_state_is_one_sentence_and_changes_nothing(made, words):
    tuner = played(20)
    before = tuner.save()
    one_line = rf"^ChangepointGP: saved state[^\n]*({words}|found a checksum)[^\n]*$"
    with pytest.raises(TunerError, match=one_line) as error:
        tuner.restore(made())
    assert len(str(error.value)) < 300
    assert tuner.save() == before


@pytest.mark.parametrize("rounds", [2, 60])
def test_an_intact_state_is_restored_with_its_open_tickets(rounds):
    saved, tuner = saved_after(rounds), played(5)
    tuner.restore(saved)
    assert json.loads(json.dumps(tuner.save())) == saved
    [[ticket, _]] = saved["tickets"]
    tuner.tell(1.0, ticket=ticket)


@pytest.mark.parametrize("clock", [None, 0, 2**31])
def test_tickets_from_before_a_crash_are_refused_at_any_clock(monkeypatch, clock):
    """Asks after the state was saved are lost with the process; their tickets are not issued again."""
    if clock is not None:  # stands still, or was set back or forth at the restart
        for name, unit in (("time", 1.0), ("time_ns", 10**9), ("monotonic", 1.0), ("monotonic_ns", 10**9)):
            monkeypatch.setattr(time, name, lambda unit=unit: clock * unit)
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
