"""Compilation of numerical kernels; no other module of the project uses numba's decorators.

A kernel is compiled, or read from numba's disk cache, at its first call, so that commands without a run do not import
numba. The disk cache notices an edit of a compiled function, but not an edit of a function that the compiled function
calls. The cache folder is therefore named by a hash of all files with kernels. After an edit of one such file all
kernels are compiled again, once, by one process, while other processes wait.
"""

import hashlib
import logging
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from functools import cache, update_wrapper
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from bench.locks import one_at_a_time

Array: TypeAlias = np.ndarray
log = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile ``function`` with numba at its first call, without reassociation, so that sums keep the written order."""
    return cast(F, _Kernel(function))


class _Kernel:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._compiled: Callable[..., Any] | None = None
        self._call: Callable[..., Any] = self._first_call
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)

    def _first_call(self, *args: Any) -> Any:
        self._call = self.compiled()
        if self._call is not self._function:
            _compile_once(self._call, f"{self._function.__module__}.{self._function.__qualname__}", args)
        return self._call(*args)

    def compiled(self) -> Callable[..., Any]:
        """Return the compiled function; the kernels that it calls are compiled first."""
        if self._compiled is None:
            module = self._function.__globals__
            for name in self._function.__code__.co_names:
                if isinstance(called := module.get(name), _Kernel):
                    module[name] = called.compiled()
            self._compiled = _compile(self._function)
        return self._compiled


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    compiled = _numba().njit(error_model="numpy", fastmath=False)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT
        return function
    try:
        compiled.enable_caching()
    except RuntimeError:  # no folder is writable
        _warn_of_no_cache()
    return cast(Callable[..., Any], compiled)


def _compile_once(function: Any, name: str, args: Any) -> None:
    """Compile ``function`` for the types of ``args``, or read the code that another process has compiled."""
    numba = _numba()
    done = Path(numba.config.CACHE_DIR) / f"{name}.done"
    with nullcontext() if done.exists() else one_at_a_time(done.with_suffix(".lock")):
        function.compile(tuple(map(numba.typeof, args)))
        with suppress(OSError):
            done.touch()


@cache
def _warn_of_no_cache() -> None:
    log.warning(
        "found no writable folder for compiled code, so every process compiles it anew: set NUMBA_CACHE_DIR to "
        "a writable folder"
    )


@cache
def _numba() -> Any:
    import numba
    from platformdirs import user_cache_dir

    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source:
            digest.update(source)
    folder = os.environ.get("NUMBA_CACHE_DIR") or str(Path(user_cache_dir("bandit-tuning-bench")) / "numba")
    config: Any = numba.config
    config.CACHE_DIR = str(Path(folder) / digest.hexdigest()[:16])
    _say_when_new(Path(config.CACHE_DIR))
    return numba


def cache_apart(modules: Iterable[ModuleType], state: str) -> None:
    """Let numba cache functions of a user's modules in a folder named by the ``state`` of their files.

    After an edit of a function, its callers in other modules are therefore compiled again too.
    """
    if "numba" not in sys.modules:
        return
    from numba.core.dispatcher import Dispatcher

    config: Any = _numba().config
    folder = config.CACHE_DIR
    config.CACHE_DIR = apart = f"{folder}-{state}"
    try:
        for function in {id(value): value for module in modules for value in vars(module).values()}.values():
            if isinstance(function, Dispatcher) and not str(function.stats.cache_path or apart).startswith(apart):
                function.enable_caching()
                if function.signatures:  # compiled or loaded during the import
                    function.recompile()
    finally:
        config.CACHE_DIR = folder


def _say_when_new(folder: Path) -> None:
    """Print on a terminal, once per cache folder, why the first runs take longer."""
    try:
        folder.mkdir(parents=True)
    except OSError:  # another process has just made the folder, or it is not writable
        return
    if sys.stderr.isatty():
        print("Compiling numerical code: each method's first run takes some seconds longer, once", file=sys.stderr)
