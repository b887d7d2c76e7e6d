"""What a figure's manifest and environment say; everything has a default, since results may be unfinished."""

from typing import Any

from pydantic import BaseModel

from bench.report.provenance import Provenance


class Setting(BaseModel):
    """A setting with its values, its source (stated, code, assumed, scale) and the place."""

    key: str
    values: list[Any] = []
    source: str = "assumed"
    where: str = ""


class Run(BaseModel):
    """An experiment of the figure."""

    run_id: str = ""
    labels: dict[str, str] = {}
    overrides: list[str] = []
    command: str = ""
    repetitions: int = 0
    horizon: int | None = None
    data: str | None = None


class Manifest(BaseModel):
    """What was asked for, and what the numbers rest on."""

    command: str = ""
    scale: str = ""
    provenance: Provenance | None = None
    settings: list[Setting] = []
    published: list[Any] = []
    overrides: dict[str, Any] = {}
    runs: list[Run] = []


class Made(BaseModel):
    """With what a figure was made, and how long its runs took: what differs whenever it is made."""

    python: str = ""
    cpu: str = ""
    git: dict[str, Any] | None = None
    seconds_per_repetition: dict[str, float] = {}
