import io
import json
import os
import warnings
import zipfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

import numpy as np

from bench.data.files import cache_folder, write_whole
from bench.digest import digest
from bench.locks import one_at_a_time

T = TypeVar("T")


class Cache(Generic[T]):
    """Slow results, kept as ``.npz`` files, with the ``n_in_memory`` latest results in memory.

    Everything that a result depends on is part of its key and file name: the parts passed, NumPy's version and the
    source of ``modules``. A damaged file is recomputed with a warning. A file that cannot be read or written also gives
    a warning and is left unchanged. Processes may share the folder: one computes a result, and the others wait for it.
    """

    def __init__(self, folder: str, prefix: str, *modules: ModuleType, n_in_memory: int = 1) -> None:
        self._folder = folder
        self._prefix = prefix
        self._modules = modules
        self._n_in_memory = n_in_memory
        self._memory: dict[tuple[Any, ...], T] = {}

    def key(self, *parts: Any) -> str:
        """Return the hash of everything that the result for ``parts``, hashable and valid JSON, depends on."""
        sources = [digest(Path(str(module.__file__)).read_bytes()) for module in self._modules]
        return digest(json.dumps([*parts, np.__version__, *sources], default=str).encode())

    def path(self, *parts: Any) -> Path:
        return cache_folder() / self._folder / f"{self._prefix}{self.key(*parts)[:32]}.npz"

    def get(
        self, *parts: Any, compute: Callable[[], Mapping[str, Any]], build: Callable[[dict[str, np.ndarray]], T]
    ) -> T:
        """Return the result for ``parts`` from memory or from the cache folder, or compute the result.

        ``compute`` returns arrays (or strings) by name; ``build`` turns the arrays into the result. Any exception of
        ``build`` on arrays from a file marks the file as damaged.
        """
        if parts not in self._memory:
            path = self.path(*parts)
            with nullcontext() if os.path.isfile(path) else one_at_a_time(path.with_suffix(".lock")):
                result = _read_or_make(path, compute, build)
            while len(self._memory) >= self._n_in_memory:
                del self._memory[next(iter(self._memory))]
            self._memory[parts] = result
        return self._memory[parts]

    def forget(self) -> None:
        self._memory.clear()


def _read_or_make(
    path: Path, compute: Callable[[], Mapping[str, Any]], build: Callable[[dict[str, np.ndarray]], T]
) -> T:
    try:
        result, is_replaced = _read(path, build), True
    except OSError as error:
        warnings.warn(f"{path}: cannot be read ({error.strerror}); it is computed again", stacklevel=4)
        result, is_replaced = None, False
    if result is None:
        arrays = {name: np.asarray(array) for name, array in compute().items()}
        result = build(arrays.copy())
        if is_replaced:
            _write(path, arrays)
    return result


def _read(path: Path, build: Callable[[dict[str, np.ndarray]], T]) -> T | None:
    if not path.is_file():
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is not None:  # a damaged header may hide the rest of an array from NumPy
                raise ValueError("damaged")
        with np.load(path, allow_pickle=False) as file:
            return build({name: file[name] for name in file.files})
    except OSError:
        raise
    except Exception:  # a damaged file may raise any error; the result is recomputed
        warnings.warn(f"{path}: found a damaged cache file; it is computed again", stacklevel=5)
        return None


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    try:
        write_whole(path, content.getvalue())
    except OSError as error:
        warnings.warn(f"{path}: cannot be written ({error.strerror}); it will be computed again", stacklevel=5)
