"""Bandits that tune hyper-parameters: compare, run and reproduce from Python.

These names are the public interface; everything else in `bench` and `runners` may change in any version. See
``docs/library.md``.
"""

import importlib
import importlib.metadata
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bandit_bench._compare import compare as compare
    from bandit_bench._comparison import ComparisonResult as ComparisonResult
    from bandit_bench._comparison import load as load
    from bandit_bench._reproduce import reproduce as reproduce
    from bandit_bench._run import RunResult as RunResult
    from bandit_bench._run import run as run
    from bandit_bench._run import tuner as tuner
    from bandit_bench._tournament import TournamentResult as TournamentResult
    from bandit_bench._tournament import tournament as tournament
    from bench.algorithms.base import Algorithm as Algorithm
    from bench.algorithms.contextual import BanditInfo as BanditInfo
    from bench.algorithms.contextual import ContextualAlgorithm as ContextualAlgorithm
    from bench.component import component as component
    from bench.envs.base import Environment as Environment
    from bench.envs.contextual import ContextualEnvironment as ContextualEnvironment
    from bench.envs.contextual import RewardNoise as RewardNoise
    from bench.envs.direct import DirectEnvironment as DirectEnvironment
    from bench.errors import BenchError as BenchError
    from bench.seeding import Seeds as Seeds
    from bench.space import Configuration as Configuration
    from bench.space import HyperParameter as HyperParameter
    from bench.space import Space as Space
    from bench.tasks.base import Outcome as Outcome
    from bench.tasks.base import Task as Task
    from bench.tuners.base import CandidateTuner as CandidateTuner
    from bench.tuners.base import Problem as Problem
    from bench.tuners.base import Tuner as Tuner
    from runners.execute.verify import verify as verify

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

__all__ = [*sorted(_MODULES), "__version__"]


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
