"""Where in a user's own code an error arose."""

import reprlib
import sysconfig
import traceback
from pathlib import Path

import bench.loop
from bench.errors import BenchError
from bench.tuners.base import Tuner

_NOT_THE_USERS = tuple(
    str(path)
    for path in (
        Path(__file__).parents[2] / "bench",
        Path(__file__).parents[1],
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    )
)


def describe(error: BaseException) -> str:
    """Return the first line of what went wrong, with the last line of a user's own file where it passed through one.

    The message alone for an error of this project; else with round, configuration and the name of its class, such as
    ``round 3, {'x': 0.5}: ValueError: no such arm (my_tuner.py:7 in _ask)``.
    """
    text = str(error).strip().partition("\n")[0]
    if not isinstance(error, BenchError):
        text = f"{type(error).__name__}: {text}".removesuffix(": ")
        text = _played(error) + text
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_library(frame.filename)]
    if frames:
        text += f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})"
    return text


def _played(error: BaseException) -> str:
    """Return the round and configuration of the loop that was left by an error."""
    place = ""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    asks, tells = (any(frame.f_code is step.__code__ for frame in frames) for step in (Tuner.ask, Tuner.tell))
    for frame in frames:
        known = frame.f_locals
        if frame.f_code is bench.loop.run.__code__ and (asks or "configuration" in known):
            of = "" if asks else f", {reprlib.repr(known['configuration'])}"
            place = f"round {known['trace'].round + (not tells)}{of}: "
    return place


def _is_library(file: str) -> bool:
    return file.startswith(("<", *_NOT_THE_USERS))
