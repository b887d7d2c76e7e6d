"""DSSM: its arithmetic, its batches, and that it repeats itself."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.algorithms.dssm import WIDTHS, Dssm, Tower
from bench.data.ali_log import AdLog
from bench.seeding import Seeds


def some_log(n_users: int = 30, n_ads: int = 12, seed: int = 0) -> AdLog:
    """Return a log in which a user clicks on an ad where the parities of their first features agree."""
    rng = np.random.default_rng(seed)
    users = rng.integers(1, 6, (n_users, 8)).astype(np.int32)
    ads = rng.integers(1, 9, (n_ads, 5)).astype(np.int32)
    shown = [np.sort(rng.choice(n_ads, rng.integers(1, n_ads), replace=False)) for _ in range(n_users)]
    clicked = [(users[u, 0] + ads[ids, 0]) % 2 == 0 for u, ids in enumerate(shown)]
    starts = np.concatenate(([0], np.cumsum([len(ids) for ids in shown])))
    user_ids, ad_ids, hours = (
        np.arange(n_users, dtype=np.int32),
        np.arange(n_ads, dtype=np.int32),
        np.zeros(n_users, "u1"),
    )
    shown_ids = np.concatenate(shown).astype(np.int32)
    return AdLog(user_ids, users, hours, ad_ids, ads, starts, shown_ids, np.concatenate(clicked))


def by_hand(parameters: list[np.ndarray], values: list[np.ndarray], features: np.ndarray) -> np.ndarray:
    """Return the output of a tower for one row of features, from its numbers and the categories of each column."""
    table, *layers = parameters
    x, first = [], 0
    for known, value in zip(values, features, strict=True):
        place = 1 + list(known).index(value) if value in known else 0
        x.append(table[first + place])
        first += 1 + len(known)
    h = np.concatenate(x)
    for weight, bias in zip(layers[::2], layers[1::2], strict=True):
        h = np.tanh(weight @ h + bias)
    return h / np.sqrt(np.sum(h**2))


def test_scores_are_cosines_by_hand():
    log = some_log()
    model = Dssm(log, 4, Seeds(1))
    clicks, n = log.clicks(), np.diff(log.starts)
    trained = (clicks > 0) & (clicks < n)
    seen = np.unique(np.concatenate([log.shown[log.starts[u] : log.starts[u + 1]] for u in np.flatnonzero(trained)]))
    users = [np.unique(column) for column in log.user_features[trained].T]
    ads = [np.unique(column) for column in log.ad_features[seen].T]
    scores = model.scores(log)
    assert scores.shape == log.shown.shape
    own, shown = ([p.numpy().astype(np.float64) for p in tower.parameters] for tower in (model.users, model.ads))
    for u in range(len(n)):
        user = by_hand(own, users, log.user_features[u])
        for place in range(log.starts[u], log.starts[u + 1]):
            ad = by_hand(shown, ads, log.ad_features[log.shown[place]])
            assert scores[place] == pytest.approx(user @ ad, abs=1e-5)


def test_scores_are_the_same_where_numpy_gives_a_column_of_places(monkeypatch):
    """As NumPy 2.0 does for the inverse along an axis; later versions give a vector."""
    log, unique = some_log(), np.unique
    expected = Dssm(log, 4, Seeds(1)).scores(log)

    def of_numpy_2_0(values, **options):
        found = unique(values, **options)
        return (found[0], found[1].reshape(-1, 1)) if "axis" in options else found

    monkeypatch.setattr(np, "unique", of_numpy_2_0)
    np.testing.assert_array_equal(Dssm(log, 4, Seeds(1)).scores(log), expected)


def test_towers_have_the_layers_of_the_paper():
    tower = Tower(np.arange(24).reshape(3, 8), 16, np.random.default_rng(0))
    table, *layers = tower.parameters
    assert table.shape == (8 * (3 + 1), 16)
    assert [tuple(weight.shape) for weight in layers[::2]] == [(500, 128), (300, 500), (300, 300), (128, 300)]
    assert WIDTHS == (500, 300, 300, 128)


def test_an_unseen_category_has_an_index_of_its_own():
    tower = Tower(np.array([[1, 7], [3, 7]]), 4, np.random.default_rng(0))
    codes = tower.encode(np.array([[1, 7], [3, 7], [2, 7], [99, 8], [0, 0]]))
    assert codes.tolist() == [[1, 4], [2, 4], [0, 4], [0, 3], [0, 3]]
    assert not tower.parameters[0][[0, 3]].any()
    assert tower.parameters[0][[1, 2, 4]].all()


def test_batches_hold_a_clicked_ad_and_four_of_the_same_users_unclicked_ones():
    log = some_log()
    model = Dssm(log, 4, Seeds(1))
    pairs = {
        (u, int(log.shown[place])): bool(log.clicked[place])
        for u in range(len(log.user_ids))
        for place in range(log.starts[u], log.starts[u + 1])
    }
    users, ads = model._batch(20_000)
    assert ads.shape == (20_000, 5)
    assert all(pairs[u, ad] for u, ad in zip(users.tolist(), ads[:, 0].tolist(), strict=True))
    negatives = [(u, ad) for u, row in zip(users.tolist(), ads[:, 1:].tolist(), strict=True) for ad in row]
    assert not any(pairs[pair] for pair in negatives)
    # Clicked pairs are drawn uniformly, and so are a user's unclicked ads
    eligible = {u for (u, _), click in pairs.items() if not click}
    clicked = [pair for pair, click in pairs.items() if click and pair[0] in eligible]
    counts = np.array([np.count_nonzero((users == u) & (ads[:, 0] == ad)) for u, ad in clicked])
    expected = 20_000 / len(clicked)
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)
    u = users[0]
    own = [ad for (user, ad), click in pairs.items() if user == u and not click]
    counts = np.array([negatives.count((u, ad)) for ad in own])
    assert np.abs(counts - counts.mean()).max() < 5 * np.sqrt(counts.mean())


def test_the_loss_is_that_of_the_softmax_over_five_cosines():
    log, smoothing = some_log(), 3.0
    losses = Dssm(log, 4, Seeds(1)).fit(1, 64, 0.001, smoothing)
    same = Dssm(log, 4, Seeds(1))
    users, ads = same._batch(64)
    u = same.users.embed(same.users.encode(log.user_features[users])).numpy().astype(np.float64)
    a = same.ads.embed(same.ads.encode(log.ad_features[ads.ravel()])).numpy().astype(np.float64).reshape(64, 5, -1)
    m = np.exp(smoothing * np.einsum("bi,bji->bj", u, a))
    assert losses[0] == pytest.approx(np.mean(-np.log(m[:, 0] / m.sum(axis=1))), abs=1e-5)


def test_it_learns_the_features_of_clicks():
    log = some_log(n_users=200, n_ads=40)
    losses = (model := Dssm(log, 8, Seeds(1))).fit(60, 128, 0.001, 5.0)
    scores = model.scores(log)
    assert losses[-5:].mean() < 0.3 * losses[:5].mean()
    assert np.median(scores[log.clicked]) > 0.3 > 0.0 > np.median(scores[~log.clicked])
    assert np.abs(scores).max() <= 1.0
    unseen = model.users.encode(np.full((1, 8), 77))
    assert not model.users.parameters[0][unseen].any()  # stays zero


def digest(seed: int) -> str:
    log = some_log()
    model = Dssm(log, 4, Seeds(seed))
    losses = model.fit(3, 256, 0.001, 5.0)
    return hashlib.sha256(losses.tobytes() + model.scores(log).tobytes()).hexdigest()


def test_the_same_seed_gives_the_same_numbers_in_any_process():
    """In the other one, torch has two threads and has drawn numbers of its own."""
    code = "import torch, test_dssm; torch.rand(3); print(test_dssm.digest(1))"
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert out.stdout.strip() == digest(1)
    assert digest(2) != digest(1)


def test_torch_settings_are_restored():
    import torch  # which takes a second, in every process that collects these tests

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.manual_seed(5)
        expected = torch.rand(1).item()
        torch.manual_seed(5)
        digest(1)
        assert torch.rand(1).item() == expected
        assert torch.get_num_threads() == 2
        assert (torch.tensor([1e-30]) * 1e-10).item() > 0.0  # denormal numbers are back
    finally:
        torch.set_num_threads(before)
