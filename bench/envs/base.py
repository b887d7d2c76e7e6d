from abc import ABC, abstractmethod

from bench.component import component
from bench.seeding import Seeds


@component
class Environment(ABC):
    """Where rewards come from."""

    @property
    def fingerprint(self) -> str | None:
        """Identity of the data in use (``surrogate`` for generated data), None for an environment without data."""
        return None

    def notes(self) -> tuple[str, ...]:
        """Return what is to be said of the data before a run, a line each."""
        return ()

    @abstractmethod
    def start(self, rounds: int, seeds: Seeds) -> None:
        """Forget everything and prepare for ``rounds`` rounds."""
