"""Random streams by named axes: (base seed, repetition, path of the component)."""

import hashlib
import json
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Seeds:
    """The source of all randomness of one repetition.

    Two parts with different paths never share a stream, and a stream depends on nothing but its three axes: the
    contexts of repetition 7 are the same whatever tuner or algorithm is run, so comparisons are paired.

    Parameters
    ----------
    base_seed
        The experiment's seed, a non-negative integer.
    repetition
        Number of the repetition, from 0.
    path
        Names from the outermost part inwards, such as ``("env", "contexts")``.
    """

    base_seed: int = 0
    repetition: int = 0
    path: tuple[str, ...] = ()

    def child(self, name: str) -> "Seeds":
        """Return the seeds of the part called ``name``."""
        return Seeds(self.base_seed, self.repetition, (*self.path, name))

    def generator(self, name: str) -> np.random.Generator:
        """Return a fresh generator at the start of the stream called ``name``."""
        label = json.dumps([*self.path, name]).encode()
        words = np.frombuffer(hashlib.sha256(label).digest(), dtype="<u4").tolist()
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.base_seed, self.repetition, *words])))
