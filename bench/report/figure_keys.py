"""The keys of a figure's file, independent of results."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, field_validator

from bench.report.labels import canonical, labels_of
from bench.report.reading import Reading
from bench.report.style import Looks

Origin = Literal["stated", "theorem", "ours"]


def _words(raw: Any) -> Any:
    several = raw if isinstance(raw, list | tuple) else [raw]
    return [str(item) if isinstance(item, int | float) else item for item in several]


Several = Annotated[list[str], BeforeValidator(_words), Field(min_length=1)]
"""One word, or a list of them; a number, such as the id of a claim, is a word, too."""
Axes = dict[str, Annotated[dict[str, list[str]], BeforeValidator(labels_of)]]
"""Axis -> label -> overrides: a block of experiments, all combinations of which are run."""
Sources = dict[str, Annotated[list[str], Field(min_length=2, max_length=2)]]
"""Setting -> source and place."""


class Sourced(BaseModel):
    """The origin of a claim; the origin of a figure is the default for all its claims.

    The claim is ``stated`` in the paper, part of a ``theorem``, or ``ours``. ``place`` is the place in the paper, or
    the theorem with its constants and logarithms. If a claim or figure ``repeats`` the cases of another, these cases
    count only in the other.
    """

    origin: Origin = "ours"
    place: str = ""
    repeats: str = ""


class Scale(BaseModel):
    """The size of a figure at one scale; its search spaces are the same at all scales.

    ``max_horizon`` and ``max_repetitions`` are caps. If ``until_decided`` is set, repetitions are added until the
    claims are decided, up to this number, unless the command gives a number. Readings after the first have up to
    ``readings_up_to`` repetitions, by default as many as the first. ``overrides`` make the data of runs smaller unless
    the figure sets its size; ``leave_out`` are labels of an axis that are not run. Output and pages name these labels
    and the overrides.
    """

    model_config = ConfigDict(extra="forbid")

    max_horizon: PositiveInt | None = None
    max_repetitions: PositiveInt | None = None
    until_decided: PositiveInt | None = None
    readings_up_to: PositiveInt | None = None
    overrides: list[str] = []
    leave_out: dict[str, list[Any]] = {}

    @field_validator("overrides")
    @classmethod
    def _same_space(cls, overrides: list[str]) -> list[str]:
        for word in overrides:
            if ".space." in word.partition("=")[0]:
                raise ValueError(f"settings that make runs smaller, not their search space: {word}")
        return overrides

    def in_words(self) -> tuple[str, ...]:
        """Return the reductions of the scale, other than the horizon and the repetitions, as text."""
        left_out = (f"without {axis} {', '.join(map(canonical, labels))}" for axis, labels in self.leave_out.items())
        return (*self.overrides, *left_out)


class Unfold(BaseModel):
    """An axis made of trace columns, with the column of each label and the name of the values."""

    model_config = ConfigDict(extra="forbid")

    axis: str
    column: str
    labels: dict[str, str]


class FigureKeys(Sourced, BaseModel):
    """The keys of figures of every kind.

    ``column`` is the drawn trace column, and the default column of claims. ``runs`` are blocks of axes, all
    combinations of which are run; an axis is ``label: [overrides]``, or ``{values: [5, 25], override: "env.dim={}"}``,
    or ``all`` or a list of the paper's `labels`. ``common`` are overrides of all runs; ``horizon`` and ``repetitions``
    replace the paper's. Each label of the axes ``panels``, by default `panel`, has a panel. ``unfold`` makes an axis of
    several trace columns. ``like``, in a file, names a figure of the paper that provides all missing keys.

    ``published`` names the printed numbers shown with ours. A printed number is the mean of ``published_repetitions``,
    by default `repetitions` or the paper's; ``deviation`` states whether published deviations have the divisor n - 1,
    as ours do, or n. ``repetitions_of`` names the figure of the paper whose committed repetitions are drawn: all
    repetitions, or the repetitions that have this figure's labels.

    ``origin`` and ``place`` are defaults for the figure's claims: ``stated`` or ``theorem`` with the place, or
    ``ours``. ``repeats`` names the figure whose cases this figure judges again. ``sources`` give for a setting
    ``stated``, ``code`` or ``assumed``, and the place. The first of the ``readings`` is the figure unchanged. The
    ``note``, a line below the title, is hidden with surrogate data. ``colors`` are matplotlib's names of colours by
    label; ``looks`` are the looks of the paper.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    source: ClassVar[Literal["runs", "timing", "formula"]] = "runs"
    """Origin of the numbers: traces of runs, runs timed apart from other work, or a function."""
    published_whats: ClassVar[tuple[str, ...]] = ("mean", "std")
    """Statistics that a published number can be."""
    claim_kinds: ClassVar[dict[str, type[Any]]] = {}
    """Kinds of claims that this kind of figure alone has."""
    draws_finals: ClassVar[bool] = True
    """Whether it is drawn from final values; if not, from its tables and curves alone."""

    name: str = "?"
    paper: str = "none"
    title: str = ""
    kind: str
    column: str
    x_label: str = ""
    y_label: str = ""
    panels: list[str] | None = None
    runs: list[Axes] = []
    common: list[str] = []
    scales: dict[str, Scale] = {}
    horizon: PositiveInt | None = None
    repetitions: PositiveInt | None = None
    repetitions_of: str = ""
    unfold: Unfold | None = None
    published: list[dict[str, Any]] = []
    published_repetitions: PositiveInt | None = None
    deviation: Literal["sample", "population"] = "sample"
    claims: list[Any] = []
    sources: Sources = {}
    readings: list[Reading] = []
    note: str = ""
    colors: dict[str, str] = {}
    looks: Looks = Looks()

    def given(self) -> dict[str, Any]:
        """Return the content of the figure's file as plain containers, from which the figure can be built again."""
        return self.model_dump(mode="json", exclude_unset=True)

    def at(self, scale: str) -> Scale:
        """Return the figure's size at a scale, which is unchanged if the file does not mention the scale."""
        return self.scales.get(scale) or Scale()

    def with_source(self, claim: Mapping[str, Any]) -> dict[str, Any]:
        """Return a claim as written, with the figure's origin as default."""
        place = self.place if claim.get("origin", self.origin) == self.origin else ""
        return {"origin": self.origin, "place": place, "repeats": self.repeats, **claim}

    @property
    def where(self) -> str:
        return f"figure '{self.name}'"

    @property
    def heading(self) -> str:
        return self.title or self.name
