"""The one way in which the project compiles numerical kernels.

Numba's disk cache notices an edit of a compiled function, but not of a function that it calls. The cache folder
therefore carries a hash of all files that hold kernels: after an edit of one, all are compiled anew, once.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import pooch

F = TypeVar("F", bound=Callable[..., Any])


def _code_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source:
            digest.update(source)
    return digest.hexdigest()[:16]


_settings: Any = numba.config
_base = os.environ.get("NUMBA_CACHE_DIR") or str(Path(pooch.os_cache("bandit-tuning-bench")) / "numba")
_settings.CACHE_DIR = str(Path(_base) / _code_hash())


def kernel(function: F) -> F:
    """Compile ``function`` with numba, without reassociation: a sum is added in the order in which it is written."""
    compiled: Any = numba.njit(cache=True, error_model="numpy", fastmath=False)(function)
    return compiled
