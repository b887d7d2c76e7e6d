"""One interpretation of the open points of a paper."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bench.report.labels import Selection, matches, selection
from bench.report.provenance import key_of

READING = "reading"
"""The label of runs under any but the first reading, and the column of tables that hold several."""


class Some(BaseModel):
    """Overrides for the runs of a figure whose labels are in ``only``."""

    model_config = ConfigDict(extra="forbid")

    only: dict[str, Any]
    overrides: list[str]

    @property
    def selection(self) -> Selection:
        return selection(self.only)


class Reading(BaseModel):
    """One interpretation of a paper, described by the sentence ``text``.

    ``source`` is ``stated``, ``code`` or ``assumed`` with the place; for code the place is the repository, the commit
    and its date. Runs with the labels ``same_draws`` have the authors' random draws, so their first repetitions may be
    the printed ones.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    source: tuple[Literal["stated", "code", "assumed"], Annotated[str, Field(min_length=1)]]
    text: Annotated[str, Field(min_length=1)]
    overrides: list[str | Some] = []
    same_draws: dict[str, Any] = {}

    def selections(self) -> Iterator[tuple[str, Selection]]:
        for part in self.overrides:
            if isinstance(part, Some):
                yield "overrides", part.selection
        yield "same_draws", selection(self.same_draws)

    def applied(self, labels: Mapping[str, str], overrides: list[str]) -> list[str]:
        """Return the overrides of a run under this reading, whose keys replace the run's own."""
        changes: list[str] = []
        for part in self.overrides:
            if isinstance(part, str):
                changes.append(part)
            elif matches(labels, part.selection):
                changes += part.overrides
        keys = {key_of(override) for override in changes}
        return [override for override in overrides if key_of(override) not in keys] + changes
