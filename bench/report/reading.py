"""A reading: settings for what a paper leaves open, or for what its authors' code does otherwise."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bench.report.labels import Selection, matches, selection

READING = "reading"
"""The label of runs under any but the first reading, and the column of tables that hold several."""


class Some(BaseModel):
    """Overrides for those of a figure's runs whose labels are in ``only``."""

    model_config = ConfigDict(extra="forbid")

    only: dict[str, Any]
    overrides: list[str]

    @property
    def selection(self) -> Selection:
        """The labels in `only`."""
        return selection(self.only)


class Reading(BaseModel):
    """One way to read a paper; its `text` is a sentence.

    Parameters
    ----------
    source
        ``stated``, ``code`` or ``assumed``, and the place; of code the repository, the commit and its date.
    overrides
        What it changes in all runs, or, as a mapping with ``only`` and ``overrides``, in some.
    same_draws
        Labels of the runs that draw what the authors' runs drew: the first of their repetitions may be those printed.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    source: tuple[Literal["stated", "code", "assumed"], Annotated[str, Field(min_length=1)]]
    text: Annotated[str, Field(min_length=1)]
    overrides: list[str | Some] = []
    same_draws: dict[str, Any] = {}

    def selections(self) -> Iterator[tuple[str, Selection]]:
        """Yield every selection of labels that it makes, with its key."""
        for part in self.overrides:
            if isinstance(part, Some):
                yield "overrides", part.selection
        yield "same_draws", selection(self.same_draws)

    def applied(self, labels: Mapping[str, str], overrides: list[str]) -> list[str]:
        """Return the overrides of a run under this reading; a key that it sets replaces the run's own."""
        changes: list[str] = []
        for part in self.overrides:
            if isinstance(part, str):
                changes.append(part)
            elif matches(labels, part.selection):
                changes += part.overrides
        keys = {_key(override) for override in changes}
        return [override for override in overrides if _key(override) not in keys] + changes


def _key(override: str) -> str:
    return override.lstrip("+").partition("=")[0]
