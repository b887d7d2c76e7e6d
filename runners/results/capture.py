"""The environment of a run: versions and hardware, without data that identifies the user or machine."""

import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from bench.packages import DISTRIBUTION
from runners.config.classes import OPTIONAL, version
from runners.config.identity import COMPUTING

_ROOT = Path(__file__).resolve().parents[2]
_LIBRARY_KEYS = ("user_api", "internal_api", "version", "architecture", "threading_layer", "num_threads")


@lru_cache(maxsize=1)
def environment() -> dict[str, Any]:
    """Return Python, package versions, processor, numerical libraries and git commit, collected once per process.

    The result has no paths, and no names of users or machines. ``packages`` holds the versions of the direct
    dependencies and extras, None for a package that is not installed. ``libraries`` are BLAS and OpenMP. ``git``
    (``commit``, ``dirty``) is None outside a checkout.
    """
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": {"all": os.cpu_count(), "usable": _usable_cores()},
        "packages": _packages(),
        "libraries": [{key: library.get(key) for key in _LIBRARY_KEYS} for library in threadpool_info()],
        "git": _git(),
    }


def kind_of_machine(of: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an environment that, besides the code, affect the last digits of results.

    These are ``cpu`` and ``python`` as in `environment`, the ``packages`` that compute, and ``blas``, the processors
    for which OpenBLAS chose its kernels; they may differ between machines with the same processor name. A dict returned
    by this function is returned unchanged.
    """
    openblas = [library for library in of.get("libraries") or [] if library.get("internal_api") == "openblas"]
    blas = of.get("blas", sorted({str(library.get("architecture")) for library in openblas}))
    packages = of.get("packages") or {}
    computing = {name: packages[name] for name in COMPUTING if name in packages}
    return {"cpu": of.get("cpu"), "python": of.get("python"), "packages": computing, "blas": blas}


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _usable_cores() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _packages() -> dict[str, str | None]:
    """Return the versions of the direct dependencies, including optional packages."""
    try:
        requirements = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        requirements = []
    names = [re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in requirements if "extra ==" not in text]
    return {name: version(name) for name in sorted([*names, *OPTIONAL])}


def _git() -> dict[str, Any] | None:
    """Return the commit, and whether tracked files differ from it; None outside a git checkout."""
    if _ask_git("ls-files", "--error-unmatch", str(Path(__file__).resolve())) is None:
        return None
    commit = _ask_git("rev-parse", "HEAD")
    changes = _ask_git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!results")  # being written
    return None if commit is None else {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _ask_git(*arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(_ROOT), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
