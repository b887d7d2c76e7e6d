"""Bandits that tune hyper-parameters: compare, run and reproduce from Python.

These names are the public interface; everything else in `bench` and `runners` may change in any version. See
``docs/library.md``.
"""

import importlib
import importlib.metadata
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bandit_bench._compare import compare
    from bandit_bench._comparison import ComparisonResult, load
    from bandit_bench._reproduce import reproduce
    from bandit_bench._run import RunResult, run, tuner
    from bandit_bench._tournament import TournamentResult, tournament
    from bench.algorithms.base import Algorithm
    from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
    from bench.component import component
    from bench.envs.base import Environment
    from bench.envs.contextual import ContextualEnvironment, RewardNoise
    from bench.envs.direct import DirectEnvironment
    from bench.errors import BenchError
    from bench.seeding import Seeds
    from bench.space import Configuration, HyperParameter, Space
    from bench.tasks.base import Outcome, Task
    from bench.tuners.base import CandidateTuner, Problem, Tuner
    from runners.execute.verify import verify

# tqdm's warning in a notebook without ipywidgets; pooch imports tqdm, but no bar is shown
warnings.filterwarnings("ignore", "IProgress not found")

_HOMES = {
    "bandit_bench._compare": ("compare",),
    "bandit_bench._comparison": ("ComparisonResult", "load"),
    "bandit_bench._reproduce": ("reproduce",),
    "bandit_bench._run": ("RunResult", "run", "tuner"),
    "bandit_bench._tournament": ("TournamentResult", "tournament"),
    "bench.algorithms.base": ("Algorithm",),
    "bench.algorithms.contextual": ("BanditInfo", "ContextualAlgorithm"),
    "bench.component": ("component",),
    "bench.envs.base": ("Environment",),
    "bench.envs.contextual": ("ContextualEnvironment", "RewardNoise"),
    "bench.envs.direct": ("DirectEnvironment",),
    "bench.errors": ("BenchError",),
    "bench.seeding": ("Seeds",),
    "bench.space": ("Configuration", "HyperParameter", "Space"),
    "bench.tasks.base": ("Outcome", "Task"),
    "bench.tuners.base": ("CandidateTuner", "Problem", "Tuner"),
    "runners.execute.verify": ("verify",),
}
"""The module of each name, imported at first use, because some take seconds."""

_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Algorithm",
    "BanditInfo",
    "BenchError",
    "CandidateTuner",
    "ComparisonResult",
    "Configuration",
    "ContextualAlgorithm",
    "ContextualEnvironment",
    "DirectEnvironment",
    "Environment",
    "HyperParameter",
    "Outcome",
    "Problem",
    "RewardNoise",
    "RunResult",
    "Seeds",
    "Space",
    "Task",
    "TournamentResult",
    "Tuner",
    "__version__",
    "compare",
    "component",
    "load",
    "reproduce",
    "run",
    "tournament",
    "tuner",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = importlib.metadata.version("bandit-tuning-bench")
    elif name in _MODULES:
        value = getattr(importlib.import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module 'bandit_bench' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
