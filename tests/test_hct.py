"""HCT against a plain reading, with a tree of dicts that keeps every reward, and by hand."""

import math

import numpy as np
import pytest
from tuning import LINE

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.hct import HCT

PLANE = Space.of(x={"low": 0.0, "high": 1.0}, y={"low": 10.0, "high": 1000.0, "log": True})


def leaf(depth, cell):
    return {"depth": depth, "cell": cell, "rewards": [], "u": math.inf, "halves": []}


def halved(node):
    """Return the halves of a node; cells are lists of (low, high), halved in turn."""
    axis = node["depth"] % len(node["cell"])
    low, high = node["cell"][axis]
    ends = [(low, (low + high) / 2), ((low + high) / 2, high)]
    return [leaf(node["depth"] + 1, [*node["cell"][:axis], end, *node["cell"][axis + 1 :]]) for end in ends]


def b_of(node):
    return min(node["u"], max(map(b_of, node["halves"]))) if node["halves"] else node["u"]


def everything(node):
    return [node, *(each for half in node["halves"] for each in everything(half))]


@pytest.mark.parametrize("settings", [{}, {"nu": 0.5, "rho": 0.7, "c": 0.2}, {"c": 0.6, "delta": 0.2}])
@pytest.mark.parametrize("space", [LINE, PLANE], ids=["line", "plane"])
def test_its_choices_equal_a_plain_implementation_of_the_paper(space, settings):
    own = HCT(**settings)
    own.start(Problem(space, 400), Seeds(1))
    rng = np.random.default_rng(2)
    root = leaf(0, [(0.0, 1.0)] * space.dim)
    root["halves"] = halved(root)
    depths = set()
    for t in range(1, 401):
        logarithm = math.log(
            1 / min(0.5, (own.rho / (3 * own.nu)) ** (1 / 8) * own.delta / 2 ** math.ceil(math.log2(t)))
        )

        def is_known(node, logarithm=logarithm):
            needed = math.ceil(own.c**2 * logarithm * own.rho ** (-2 * node["depth"]) / own.nu**2)
            return node is root or len(node["rewards"]) >= needed

        def u_of(node, logarithm=logarithm):
            n = len(node["rewards"])
            return np.mean(node["rewards"]) + own.nu * own.rho ** node["depth"] + own.c * math.sqrt(logarithm / n)

        node = root
        while node["halves"] and is_known(node):
            first, second = node["halves"]
            node = first if b_of(first) > b_of(second) + 1e-12 else second
        middle = space.from_unit(np.array(node["cell"]).mean(axis=1))
        assert own.ask() == pytest.approx(middle)
        reward = float(np.clip(1 - abs(node["cell"][0][0] - 0.37) + 0.1 * rng.standard_normal(), 0, 1))
        own.tell(reward)
        if t == 2 ** math.ceil(math.log2(t)):
            for each in everything(root):
                each["u"] = u_of(each) if each["rewards"] else math.inf
        node["rewards"].append(reward)
        node["u"] = u_of(node)
        if not node["halves"] and is_known(node):
            node["halves"] = halved(node)
        depths.add(node["depth"])
    assert len(depths) > 1


def test_first_asks_by_hand():
    """c = 0.1: a leaf of depth 1 has enough after tau_1 = ceil(0.01 ln(1 / delta_t) 4) = 1 reward, as for t <= 2^26.

    The second half first, since both bounds are infinite: 3/4, and it is halved. Then 1/4, likewise. Both have U = mean
    + 1/2 + a width, so the half with the larger reward goes on, with its second half: 7/8, then 5/8.
    """
    tuner = HCT()
    tuner.start(Problem(LINE, 100), Seeds(1))
    asked = []
    for reward in (0.9, 0.2, 0.9, 0.9):
        asked.append(tuner.ask()["x"])
        tuner.tell(reward)
    assert asked == [0.75, 0.25, 0.875, 0.625]


def test_it_learns_to_play_near_the_peak():
    tuner = HCT()
    tuner.start(Problem(LINE, 3_000), Seeds(1))
    rng = np.random.default_rng(4)
    asked = []
    for _ in range(3_000):
        asked.append(tuner.ask()["x"])
        tuner.tell(1 - abs(asked[-1] - 0.37) + 0.1 * rng.standard_normal())
    assert np.mean(np.abs(np.array(asked[-500:]) - 0.37)) < 0.05
