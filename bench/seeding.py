"""Random streams identified by base seed, repetition and the path of the component."""

import hashlib
import json
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Seeds:
    """The source of all randomness in one repetition.

    Components with different paths never share a stream, and a stream depends only on base seed, repetition and path:
    repetition 7 has the same contexts for every tuner and algorithm, so comparisons are paired.

    Parameters
    ----------
    base_seed
        Seed of the experiment, a non-negative integer.
    repetition
        Index of the repetition, starting at 0.
    path
        Names of the components from the outermost inwards, such as ``("env", "contexts")``.
    """

    base_seed: int = 0
    repetition: int = 0
    path: tuple[str, ...] = ()

    def child(self, name: str) -> "Seeds":
        """Return the seeds of the component called ``name``."""
        return Seeds(self.base_seed, self.repetition, (*self.path, name))

    def generator(self, name: str) -> np.random.Generator:
        """Return a new generator at the start of the stream called ``name``."""
        label = json.dumps([*self.path, name]).encode()
        words = np.frombuffer(hashlib.sha256(label).digest(), dtype="<u4").tolist()
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.base_seed, self.repetition, *words])))
