import hashlib
import json
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from bench.errors import ConfigError


@dataclass(frozen=True)
class Seeds:
    """Random streams identified by base seed, repetition (from 0) and the path of the component, outermost first.

    Components with different paths never share a stream, and a stream depends only on these three values. Repetition 7
    therefore has the same contexts for every tuner and algorithm, and comparisons are paired.
    """

    base_seed: int = 0
    repetition: int = 0
    path: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in (("seed", self.base_seed), ("repetition", self.repetition)):
            if not isinstance(value, Integral) or value < 0:
                raise ConfigError(f"{name}: found {value!r}, expected a whole number, at least 0")

    def child(self, name: str) -> "Seeds":
        return Seeds(self.base_seed, self.repetition, (*self.path, name))

    def generator(self, name: str) -> np.random.Generator:
        label = json.dumps([*self.path, name]).encode()
        words = np.frombuffer(hashlib.sha256(label).digest(), dtype="<u4").tolist()
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.base_seed, self.repetition, *words])))
