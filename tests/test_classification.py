"""A labelled data set as a bandit: the reward of each class."""

import numpy as np
import pandas as pd

from bench.envs.classification import Classification
from bench.seeding import Seeds


def test_the_class_of_a_row_pays_unless_its_label_is_flipped(tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    table["kind"] = rng.permutation(["x", "y", "z"] * 20)
    table.to_csv(tmp_path / "rows.csv", index=False)
    env = Classification(path=str(tmp_path / "rows.csv"), target="kind", label_noise=0.2)
    env.start(2_000, Seeds(1))
    paid = []
    for _ in range(2_000):
        env.observe()
        assert np.allclose(np.sort(env.means), [0.2, 0.2, 0.8])
        paid.append([env.pull(arm) for arm in np.argsort(env.means)])
    assert np.allclose([env.best_mean, env.average_mean], [0.8, 0.4])
    spread = np.sqrt(0.8 * 0.2 / 2_000)
    assert np.all(np.abs(np.mean(paid, axis=0) - [0.2, 0.2, 0.8]) < 5 * spread)
