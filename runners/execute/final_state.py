"""Play repetitions with the code of some checkout, and tell what state its parts are in at the end.

Started as a program in the checkout, whose packages it imports: each line of the standard input is a JSON object with
the words of a command line of `runners.run` (``words``) and the largest number of plays (``plays``, null for all).
Each is answered by a JSON object: ``place``, the number of the line, and either ``error``, or ``run_id`` and, by
digest, ``trace``, the columns of its trace, and ``state``, a path to each distinct number or array of numbers that
tuner and task hold at the end and did not after the first play: a constant that matters shows in what it changes.
"""

import contextlib
import hashlib
import importlib
import json
import os
import random
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

_SLOW_TO_IMPORT = ("numba", "pandas", "scipy.stats", "hydra", "joblib", "pyarrow.parquet", "pydantic", "runners.run")


def state(parts: Mapping[str, Any]) -> dict[str, str]:
    """Return a path to each distinct number, or array of numbers, that objects hold, by its digest.

    Names, order and types of containers do not count, so that these may change between two versions of the code.
    """
    paths: dict[str, str] = {}
    seen: dict[int, Any] = {}
    stack = [(name, part) for name, part in parts.items()]
    while stack:
        path, value = stack.pop()
        array = _numbers(value)
        if array is not None:
            paths.setdefault(_digest(array.tobytes()), path)
        elif id(value) not in seen:
            seen[id(value)] = value  # kept alive, so that no other object gets its id
            stack += [(f"{path}{name}", item) for name, item in _items(value)]
    return paths


def trace(columns: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Return the columns of a trace, of numbers or words, by digests of their names and content."""

    def content(values: np.ndarray) -> bytes:
        numbers = _numbers(values)
        return repr(list(map(str, values))).encode() if numbers is None else numbers.tobytes()

    return {_digest(name.encode() + content(values)): name for name, values in columns.items()}


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=10).hexdigest()


def _numbers(value: Any) -> np.ndarray | None:
    """Return what consists of numbers as float64, shape (n,); None for anything else."""
    if isinstance(value, bool | np.bool_ | str | bytes):
        return None
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, int) and abs(value) >= 2**53:  # words of a random generator
        return np.frombuffer(str(value).encode(), dtype=np.uint8)
    if isinstance(value, list | tuple) and not all(type(item) in (int, float) for item in value):
        return None
    if isinstance(value, int | float | list | tuple | np.number | np.ndarray) and np.size(value):
        try:
            return np.ravel(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            return None
    return None


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a container or an object, with the words that lead to them."""
    if isinstance(value, np.random.Generator):
        yield ".state", value.bit_generator.state
    elif isinstance(value, random.Random):
        yield ".state", value.getstate()
    elif isinstance(value, Mapping):
        yield from ((f"[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, list | tuple | set | frozenset) or (isinstance(value, np.ndarray) and value.dtype == object):
        yield from ((f"[{place}]", item) for place, item in enumerate(value))
    elif not isinstance(value, type) and not callable(value):
        names = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
        fields = {name: getattr(value, name) for name in names if hasattr(value, name)} | getattr(value, "__dict__", {})
        yield from ((f".{name}", item) for name, item in fields.items())


def main() -> None:
    """Answer each line of the standard input in a process of its own."""
    loop = importlib.import_module("bench.loop")
    request: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    loop.run = _keeping(loop.run, request, kept)  # type: ignore[attr-defined]  # before others import it by name
    for name in _SLOW_TO_IMPORT:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for place, line in enumerate(sys.stdin):
        request.update(json.loads(line))
        with tempfile.TemporaryFile("w+") as answer:
            if process := os.fork():
                os.waitpid(process, 0)
                answer.seek(0)
                print(json.dumps({"place": place, **json.loads(answer.read() or '{"error": "it died"}')}), flush=True)
                continue
            with answer:
                json.dump(_answer(request["words"], kept), answer)
            os._exit(0)


def _keeping(run: Callable[..., Any], request: Mapping[str, Any], kept: dict[str, Any]) -> Callable[..., Any]:
    """Return the loop, ended after the plays requested as at the end of a log; its trace and state go to ``kept``."""

    def run_and_keep(task: Any, tuner: Any, **options: Any) -> Any:
        parts, constants = {"tuner": tuner, "task": task}, dict[str, str]()
        left = iter(range(request["plays"] or sys.maxsize))

        def counted(action: Callable[..., Any], is_play: bool) -> Callable[..., Any]:
            def act(*given: Any) -> Any:
                outcome = action(*given) if next(left, None) is not None else None
                if is_play and not constants:
                    constants.update(state(parts))
                return outcome

            return act

        for name in ("explore", "play"):
            object.__setattr__(task, name, counted(getattr(task, name), name == "play"))
        played = run(task, tuner, **options)
        kept["state"] = {digest: path for digest, path in state(parts).items() if digest not in constants}
        kept["trace"] = trace(played.columns())
        return played

    return run_and_keep


def _answer(words: list[str], kept: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as results, tempfile.TemporaryFile("w+") as output:
        os.environ["BENCH_RESULTS_DIR"] = results  # of its own: a run that was played before is not played again
        sys.argv = ["run", *words, "jobs=1", "output=json"]
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        try:
            runpy.run_module("runners.run", run_name="__main__")
        except SystemExit:
            pass
        except Exception as error:
            return {"error": repr(error)}
        sys.stdout.flush()
        sys.stderr.flush()
        output.seek(0)
        lines = output.read().splitlines()
    for line in lines:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return {"run_id": json.loads(line)["run_id"], "state": kept["state"], "trace": kept["trace"]}
    return {"error": " ".join(lines[-1:])}


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file, whose modules would hide others
    main()
