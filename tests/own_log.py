"""Logs made by a policy that is known, with rewards that are known."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.exp3 import EXP3

N_ARMS = 4
_THETA = np.array([[0.6, 0.0], [0.0, 0.6], [-0.6, 0.3], [0.2, -0.6]])


def means(contexts):
    """Return the expected reward of each arm, shape (n, arms), for contexts of shape (n, 2)."""
    return 0.5 + 0.4 * np.tanh(contexts @ _THETA.T)


def logging_policy(contexts):
    """Return the probability of each arm, from 0.06 to 0.8, shape (n, arms)."""
    raised = np.exp(1.2 * contexts @ _THETA.T[:, ::-1])
    return 0.05 + 0.8 * raised / raised.sum(axis=1, keepdims=True)


def frame(n, seed=0):
    """Return a log of ``n`` decisions in a random order of time."""
    rng = np.random.default_rng(seed)
    contexts = rng.uniform(-1, 1, (n, 2))
    policy = logging_policy(contexts)
    actions = (policy.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=N_ARMS - 1)
    rewards = (rng.random(n) < means(contexts)[np.arange(n), actions]).astype(int)
    return pd.DataFrame(
        {
            "time": rng.permutation(n),
            "user_a": contexts[:, 0],
            "user_b": contexts[:, 1],
            "item": actions,
            "click": rewards,
            "p": policy[np.arange(n), actions],
        }
    )


COLUMNS = {"context": "user_*", "action": "item", "reward": "click", "propensity": "p"}


@cache
def small_log():
    """Return the path of a log of 2,000 rows, which is deleted when Python ends."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    frame(2_000).to_csv(folder / "rows.csv", index=False)
    return str(folder / "rows.csv")


CONFIGURATIONS = {(0.1, "small"): 0.7, (0.1, "large"): 0.3, (1.0, "small"): 0.45, (1.0, "large"): 0.5}
"""Mean rewards of the configurations of a service: a rate and a model."""


def reward_of(configuration, rng):
    return float(rng.random() < CONFIGURATIONS[configuration["rate"], configuration["model"]])


@cache
def service_log(n=6_000):
    """Return the path of a log of a service with EXP3, written as by `bandit_bench.serve`; deleted like `small_log`."""
    rng = np.random.default_rng(0)
    space = Space.of(rate=[0.1, 1.0], model=["small", "large"])
    tuner = EXP3(form="weight", gamma=0.4)
    tuner.start(Problem(space, n), Seeds(1))
    rows, product = [], space.product()
    for number in range(n):
        chances, asked = tuner.probabilities()["configuration"], tuner.ask()
        reward = reward_of(asked, rng)
        tuner.tell(reward)
        rows.append([number, number, *asked.values(), chances[product.index(asked)], reward])
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    columns = ["asked", "told", "rate", "model", "propensity", "reward"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "service.csv", index=False)
    return str(folder / "service.csv")
