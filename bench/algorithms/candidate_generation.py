import math
import sys
from importlib.metadata import version
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

import bench.algorithms.dssm
import bench.seeding
from bench.algorithms.base import Algorithm
from bench.algorithms.dssm import Dssm
from bench.component import component
from bench.data.ali_log import AdLog
from bench.data.cache import Cache
from bench.seeding import Seeds


@component
class CandidateGeneration(Algorithm):
    """Candidate generation by vectors: ads whose cosine with the user is at least ``threshold`` are candidates.

    The vectors come from DSSM, which is trained once. The cosines of all pairs of a log and the loss of every step are
    cached, in the folder ``dssm``, under a hash of the log, the settings and the code. Source: online_hpo, sections 6
    and 7.1, with its 10,000 epochs read as steps. Assumed: the width of the embeddings, Adam's usual learning rate, and
    a smoothing of 1, because the paper states no factor. With a smoothing of 5, the cosines of clicked and unclicked
    ads of the generated log are further apart, and F-scores depend more on the threshold.

    Parameters
    ----------
    embedding_dim
        Dimension of the embedding of each categorical feature.
    steps
        Steps of Adam.
    batch_size
        Number of clicked pairs in a batch.
    learning_rate
        Learning rate of Adam.
    smoothing
        Factor of the cosines in the softmax of the loss.
    model_seed
        Seed of weights and batches, independent of the experiment's seed, so that all repetitions share the model.
    """

    trains_first: ClassVar[bool] = True

    requires: ClassVar[tuple[str, ...]] = ("torch",)
    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "threshold": {"candidates": tuple(i / 10 for i in range(11)), "low": 0.0, "high": 1.0, "default": 0.5}
    }

    embedding_dim: PositiveInt = 16
    steps: PositiveInt = 10_000
    batch_size: PositiveInt = 1024
    learning_rate: Annotated[float, Field(gt=0)] = 0.001
    smoothing: Annotated[float, Field(gt=0)] = 1.0
    model_seed: NonNegativeInt = 0

    def scores(self, log: AdLog) -> np.ndarray:
        """Return the cosine of user and ad for every pair in ``log``, float32, shape (places,).

        Raises DataError if no pair is clicked.
        """
        fit = self.steps, self.batch_size, self.learning_rate, self.smoothing
        settings = self.embedding_dim, *fit, self.model_seed, version("torch")

        def train() -> dict[str, np.ndarray]:
            low, high = (math.ceil(minutes * self.steps / 10_000) for minutes in _MINUTES)
            time = f"{low} to {high} minutes" if high > 1 else "about a minute or less"
            print(f"DSSM is trained, once; {self.steps:,} steps take {time}", file=sys.stderr)
            model = Dssm(log, self.embedding_dim, Seeds(self.model_seed).child("dssm"))
            losses = model.fit(*fit)
            return {"scores": model.scores(log), "losses": losses}

        return _cache.get(log.identity, *settings, compute=train, build=_read)


_MINUTES = 15, 30
"""Minutes of 10,000 steps on one processor; the time is proportional to the number of steps."""

_cache: Cache[np.ndarray] = Cache("dssm", "", bench.algorithms.dssm, bench.seeding)


def _read(arrays: dict[str, np.ndarray]) -> np.ndarray:
    arrays["scores"].flags.writeable = False
    return arrays["scores"]
