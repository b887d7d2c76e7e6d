"""Zooming's regret on a stationary triangle, against a straightforward implementation from the definition."""

import math

import numpy as np

from bench.envs.switching_triangle import SwitchingTriangle
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.direct import Direct
from bench.tuners.zooming import Zooming

ROUNDS, PEAK, NOISE = 4_000, 0.45, 0.2


def straightforward(rng):
    """Play zooming as defined: cover [0, 1], pull the largest mean + 2 r; coverage by walking over the sorted balls."""
    points, pulls, sums, regret = [], [], [], 0.0
    scale = math.sqrt(13 / 2 * NOISE**2 * math.log(ROUNDS))
    for _ in range(ROUNDS):
        radii = [scale / math.sqrt(n) for n in pulls]
        gaps, reached = [], 0.0
        for left, right in sorted((x - r, x + r) for x, r in zip(points, radii, strict=True)):
            if left > reached:
                gaps.append((reached, left))
            reached = max(reached, right)
        if reached < 1.0:
            gaps.append((reached, 1.0))
        if not points:
            points, pulls, sums = [rng.uniform(0.3, 0.7)], [0], [0.0]
            chosen = 0
        elif gaps:
            left, right = max(gaps, key=lambda gap: gap[1] - gap[0])
            points.append((left + right) / 2)
            pulls.append(0)
            sums.append(0.0)
            chosen = len(points) - 1
        else:
            chosen = int(np.argmax([s / n + 2 * r for s, n, r in zip(sums, pulls, radii, strict=True)]))
        mean = 0.9 - 0.95 * abs(points[chosen] - PEAK)
        regret += 0.9 - mean
        pulls[chosen] += 1
        sums[chosen] += mean + NOISE * rng.standard_normal()
    return regret


def test_regret_on_a_stationary_triangle():
    environment = SwitchingTriangle(changes=[], peaks=[PEAK], noise_std=NOISE)
    ours = [
        run(Direct(environment), Zooming(), rounds=ROUNDS, seeds=Seeds(0, repetition)).columns()["regret"][-1]
        for repetition in range(40)
    ]
    rng = np.random.default_rng(0)
    theirs = [straightforward(rng) for _ in range(40)]
    error = math.hypot(np.std(ours, ddof=1), np.std(theirs, ddof=1)) / math.sqrt(40)
    assert abs(np.mean(ours) - np.mean(theirs)) < 3.5 * error
    assert error < 0.1 * np.mean(theirs)
    random_regret = ROUNDS * 0.95 * (PEAK**2 + (1 - PEAK) ** 2) / 2
    assert np.mean(ours) < 0.5 * random_regret
