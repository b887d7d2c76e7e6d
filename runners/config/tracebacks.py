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
        text = _played(error) + f"{type(error).__name__}: {text}".removesuffix(": ")
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", *_NOT_THE_USERS))
    ]
    if frames:
        text += f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})"
    return text


def _played(error: BaseException) -> str:
    """Return the round and configuration of the loop that was left by an error."""
    frames = {frame.f_code: frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)}
    loop = frames.get(bench.loop.run.__code__, {})
    asks, tells = Tuner.ask.__code__ in frames, Tuner.tell.__code__ in frames
    if "trace" not in loop or not (asks or "configuration" in loop):
        return ""
    configuration = "" if asks else f", {reprlib.repr(loop['configuration'])}"
    return f"round {loop['trace'].round + (not tells)}{configuration}: "
