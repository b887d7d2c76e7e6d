from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from bench.component import component
from bench.seeding import Seeds


@component
class Environment(ABC):
    """A source of rewards."""

    reads: ClassVar[tuple[str, ...]] = ()
    """Names of the data sets of `bench.data.catalogue` that it reads."""

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the data in use (``surrogate`` for generated data), or None if there is no data."""
        return None

    @classmethod
    def data_sets(cls, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the data sets of the catalogue that the environment reads with the given ``settings``."""
        return cls.reads

    def notes(self) -> tuple[str, ...]:
        """Return notes on the data, shown before a run, one per line."""
        return ()

    def notes_on(self, rounds: int) -> tuple[str, ...]:
        """Return `notes` for runs of at most ``rounds`` rounds.

        For a log, the notes state the number of rounds of a run.
        """
        return self.notes()

    @property
    def rounds_there(self) -> int | None:
        """The expected number of rounds of finite data, or None if the data has no end or the number is unknown."""
        return None

    @abstractmethod
    def start(self, rounds: int, seeds: Seeds) -> None:
        """Forget everything and prepare for ``rounds`` rounds."""
