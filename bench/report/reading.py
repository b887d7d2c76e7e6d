"""A reading: settings for what a paper leaves open, or for what its authors' code does otherwise."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from bench.report.labels import Selection, canonical, matches, selection

READING = "reading"
"""The label of runs under any but the first reading, and the column of tables that hold several."""


class Some(BaseModel):
    """Overrides for some of a figure's runs: those whose labels are in ``only``."""

    model_config = ConfigDict(extra="forbid")

    only: dict[str, Any]
    overrides: list[str]

    @property
    def selection(self) -> Selection:
        """The labels, as written everywhere."""
        return selection(self.only)


class Reading(BaseModel):
    """One way to read a paper; its `text` is a sentence.

    Parameters
    ----------
    source
        ``stated``, ``code`` or ``assumed``, and the place; of code the repository, the commit and its date.
    overrides
        What it changes in all runs, or, as a mapping with ``only`` and ``overrides``, in some.
    axes
        Labels whose overrides it replaces, by axis.
    published_repetitions
        How many repetitions a published number would be the mean of under this reading; by default the figure's.
    same_draws
        Labels of the runs that draw what the authors' runs drew: the first of their repetitions may be those printed.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    source: tuple[Literal["stated", "code", "assumed"], Annotated[str, Field(min_length=1)]]
    text: Annotated[str, Field(min_length=1)]
    overrides: list[str | Some] = []
    axes: dict[str, dict[str, list[str]]] = {}
    published_repetitions: PositiveInt | None = None
    same_draws: dict[str, Any] = {}

    def selections(self) -> Iterator[tuple[str, Selection]]:
        """Yield every selection of labels that it makes, with its key."""
        for part in self.overrides:
            if isinstance(part, Some):
                yield "overrides", part.selection
        yield "same_draws", selection(self.same_draws)
        for axis, labels in self.axes.items():
            yield "axes", {axis: tuple(canonical(label) for label in labels)}

    def of_label(self, axis: str, label: str, overrides: list[str]) -> list[str]:
        """Return the overrides of a label: those of the reading where it has any, else the given ones."""
        own = {canonical(name): words for name, words in self.axes.get(axis, {}).items()}
        return own.get(label, overrides)

    def applied(self, labels: Mapping[str, str], overrides: list[str]) -> list[str]:
        """Return the overrides of a run under this reading; a key that it sets replaces the run's own."""
        more: list[str] = []
        for part in self.overrides:
            if isinstance(part, str):
                more.append(part)
            elif matches(labels, part.selection):
                more += part.overrides
        keys = {_key(override) for override in more}
        return [override for override in overrides if _key(override) not in keys] + more


def _key(override: str) -> str:
    return override.lstrip("+").partition("=")[0]
