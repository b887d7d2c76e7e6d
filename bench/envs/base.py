from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from bench.component import component
from bench.seeding import Seeds


@component
class Environment(ABC):
    """Where rewards come from."""

    reads: ClassVar[tuple[str, ...]] = ()
    """Names of data sets of `bench.data.catalogue` that it reads."""

    @property
    def fingerprint(self) -> str | None:
        """Identity of the data in use (``surrogate`` for generated data), None for an environment without data."""
        return None

    @classmethod
    def data_sets(cls, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the data sets of the catalogue that it reads with some of its settings."""
        return cls.reads

    def notes(self) -> tuple[str, ...]:
        """Return notes on the data that are shown before a run, a line each."""
        return ()

    def notes_on(self, rounds: int) -> tuple[str, ...]:
        """Return `notes` for runs of at most ``rounds`` rounds. For a log they give the number of rounds of a run."""
        return self.notes()

    @property
    def rounds_there(self) -> int | None:
        """The expected number of rounds of data that ends; None if it has no end, or the number is unknown."""
        return None

    @abstractmethod
    def start(self, rounds: int, seeds: Seeds) -> None:
        """Forget everything and prepare for ``rounds`` rounds."""
