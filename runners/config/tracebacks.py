"""Where in a user's own code an error arose."""

import sysconfig
import traceback
from pathlib import Path

from bench.errors import BenchError

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

    The message alone for an error of this project; else with the name of its class, such as
    ``ValueError: no such arm (my_tuner.py:7 in _ask)``.
    """
    text = str(error).strip().partition("\n")[0]
    if not isinstance(error, BenchError):
        text = f"{type(error).__name__}: {text}".removesuffix(": ")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_library(frame.filename)]
    if frames:
        text += f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})"
    return text


def _is_library(file: str) -> bool:
    return file.startswith(("<", *_NOT_THE_USERS))
