import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from bench.data.ali_log import AdLog
from bench.errors import DataError
from bench.seeding import Seeds

if TYPE_CHECKING:
    from torch import Tensor

WIDTHS = (500, 300, 300, 128)
"""Neurons of the layers of each tower."""
NEGATIVES = 4
"""Number of unclicked ads for each clicked one."""

_CHUNK = 1 << 15


class Dssm:
    """A tower for users and a tower for ads, whose outputs have a high cosine if the user clicks on the ad.

    The model is trained on clicked pairs of user and ad, drawn uniformly. Each pair has four further ads, drawn
    uniformly with replacement from the ads that the same user saw and did not click. The loss is ``-log(m(u, a+) /
    (m(u, a+) + sum_i m(u, a-_i)))`` with ``m = exp(smoothing * cosine)``, as in Huang et al. 2013, which the paper
    follows. The paper prints the cosine itself in place of m, but the logarithm is undefined for negative cosines. With
    ``m = (1 + cosine) / 2`` the loss is invariant to scaling all m: the cosines then drift towards -1, where no ad
    passes a threshold in [0, 1].

    All arithmetic uses one thread, so the same ``seeds`` give the same numbers in any process on the same machine.
    Raises DataError if no user of the log has both a clicked and an unclicked ad. Source: online_hpo, section 7.1.
    Assumed: the width of the embeddings; weights are drawn uniformly within sqrt(6 / (inputs + outputs)), as in Huang
    et al. 2013, embeddings from N(0, 0.1^2).
    """

    def __init__(self, log: AdLog, embedding_dim: int, seeds: Seeds) -> None:
        n_shown = np.diff(log.starts)
        owner = np.repeat(np.arange(len(n_shown), dtype=np.int32), n_shown)
        unclicked = np.concatenate(([0], np.cumsum(~log.clicked, dtype=np.int64)))[log.starts]
        self._first, self._n_unclicked = unclicked[:-1], np.diff(unclicked)
        self._unclicked = log.shown[~log.clicked]
        positive = log.clicked & (self._n_unclicked[owner] > 0)
        self._user, self._ad = owner[positive], log.shown[positive]
        if not len(self._user):
            raise DataError(
                "the log of ads: found no user with a clicked and an unclicked ad, expected some to train DSSM on"
            )
        users = np.zeros(len(n_shown), dtype=bool)
        users[self._user] = True
        ads = np.zeros(len(log.ad_ids), dtype=bool)
        ads[log.shown[users[owner]]] = True
        rng = seeds.generator("weights")
        self.users = Tower(log.user_features[users], embedding_dim, rng)
        self.ads = Tower(log.ad_features[ads], embedding_dim, rng)
        self._log = log
        self._rng = seeds.generator("batches")

    def fit(self, steps: int, batch_size: int, learning_rate: float, smoothing: float) -> np.ndarray:
        """Take ``steps`` steps of Adam on random batches, and return the loss of each step, float32, shape (steps,).

        The loss is printed to the standard error stream ten times.
        """
        import torch

        losses = np.empty(steps, dtype=np.float32)
        with _one_thread():
            user_codes = self.users.encode(self._log.user_features)
            ad_codes = self.ads.encode(self._log.ad_features)
            parameters = [*self.users.parameters, *self.ads.parameters]
            for parameter in parameters:
                parameter.requires_grad_(True)
            adam = torch.optim.Adam(parameters, lr=learning_rate, fused=True)
            for step in range(steps):
                user, ads = self._batch(batch_size)
                # An ad that occurs several times in a batch is embedded once
                distinct, place = np.unique(ads, return_inverse=True)
                u = self.users.embed(user_codes[user])
                a = self.ads.embed(ad_codes[distinct])[torch.from_numpy(place.reshape(ads.shape))]
                logits = smoothing * torch.einsum("bi,bji->bj", u, a)
                loss = (logits.logsumexp(dim=1) - logits[:, 0]).mean()
                adam.zero_grad()
                loss.backward()
                adam.step()
                losses[step] = loss.item()
                if (step + 1) % -(-steps // 10) == 0:
                    print(f"DSSM: loss {losses[step]:.3f} after {step + 1:,} of {steps:,} steps", file=sys.stderr)
            for parameter in parameters:
                parameter.requires_grad_(False)
        return losses

    def _batch(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of users, shape (size,), and of ads, with the clicked ad first, shape (size, 5)."""
        picks = self._rng.integers(len(self._user), size=size)
        user = self._user[picks]
        offsets = self._rng.random((size, NEGATIVES)) * self._n_unclicked[user, None]
        negatives = self._unclicked[self._first[user, None] + offsets.astype(np.int64)]
        return user, np.concatenate([self._ad[picks, None], negatives], axis=1)

    def scores(self, log: AdLog) -> np.ndarray:
        """Return the cosine of user and ad for every pair in ``log``, float32, shape (places,).

        The embedding of an unknown category is zero.
        """
        with _one_thread():
            users = self._embeddings(self.users, log.user_features)
            ads = self._embeddings(self.ads, log.ad_features)
            owner = np.repeat(np.arange(len(users)), np.diff(log.starts))
            cosines = np.empty(len(owner), dtype=np.float32)
            for first in range(0, len(owner), _CHUNK):
                places = slice(first, first + _CHUNK)
                cosines[places] = np.einsum("ij,ij->i", users[owner[places]], ads[log.shown[places]])
        return np.clip(cosines, -1.0, 1.0)

    @staticmethod
    def _embeddings(tower: "Tower", features: np.ndarray) -> np.ndarray:
        distinct, place = np.unique(tower.encode(features), axis=0, return_inverse=True)
        parts = [tower.embed(distinct[i : i + _CHUNK]).numpy() for i in range(0, len(distinct), _CHUNK)]
        return np.concatenate(parts)[place.ravel()]  # NumPy 2.0 gives a column


class Tower:
    """Embeddings of categorical features, then fully connected layers with tanh, then scaling to norm 1.

    ``features`` are rows of categories, shape (n, features). Each value of a column has an embedding, and unknown
    values share an embedding of zeros.
    """

    def __init__(self, features: np.ndarray, embedding_dim: int, rng: np.random.Generator) -> None:
        import torch

        self._values = [np.unique(column) for column in features.T]
        counts = [1 + len(values) for values in self._values]
        self._offsets = np.cumsum([0, *counts[:-1]])
        table = rng.normal(0.0, 0.1, (sum(counts), embedding_dim))
        table[self._offsets] = 0.0
        weights = [table]
        n_inputs = len(counts) * embedding_dim
        for n_outputs in WIDTHS:
            limit = np.sqrt(6.0 / (n_inputs + n_outputs))
            weights += [rng.uniform(-limit, limit, (n_outputs, n_inputs)), np.zeros(n_outputs)]
            n_inputs = n_outputs
        self.parameters: list[Tensor] = [torch.from_numpy(array.astype(np.float32)) for array in weights]

    def encode(self, features: np.ndarray) -> np.ndarray:
        """Return the row of each category in the table of embeddings, int64, with the shape of ``features``."""
        codes = np.empty(features.shape, dtype=np.int64)
        for j, values in enumerate(self._values):
            place = np.minimum(np.searchsorted(values, features[:, j]), len(values) - 1)
            codes[:, j] = self._offsets[j] + np.where(values[place] == features[:, j], place + 1, 0)
        return codes

    def embed(self, codes: np.ndarray) -> "Tensor":
        """Return the outputs for encoded rows, shape (n, 128), each of norm 1."""
        import torch
        from torch.nn import functional

        table, *layers = self.parameters
        x = functional.embedding(torch.from_numpy(codes), table).flatten(start_dim=1)
        for weight, bias in zip(layers[::2], layers[1::2], strict=True):
            x = torch.tanh(functional.linear(x, weight, bias))
        return functional.normalize(x, dim=1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread, which fixes the order of sums, and set denormal numbers to zero.

    Adam's moments decay to denormal numbers, which are slow.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)
