"""Every class on one kind of processor, simulated by switching off the instructions that others lack.

As a script it prints digests: of arithmetic that follows the processor and, with ``all``, of the actions of each
environment, algorithm and tuner, and of a run of each task.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

_HASWELL = {"OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "avx2", "NUMBA_CPU_NAME": "haswell"}
_HASWELL["NUMBA_CPU_FEATURES"] = "+avx,+avx2,+fma,+bmi,+bmi2,+lzcnt,+popcnt"
_PRESCOTT = {"OPENBLAS_CORETYPE": "Prescott", "ATEN_CPU_CAPABILITY": "default", "NUMBA_CPU_NAME": "generic"}
KINDS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "as it is": ({}, ()),
    "without AVX-512": (_HASWELL, ("AVX512", "X86_V4")),
    "without AVX": (_PRESCOTT, ("AVX", "FMA", "X86_V3", "X86_V4")),
}
"""By kind of processor: environment variables, and beginnings of the names of NumPy's features that are disabled."""

RUNS = {
    "training": ("env=titanic", "algorithm=random_forest", "algorithm.space.n_estimators.candidates=[2, 3]",
                 "tuner=tl", "horizon=10"),
    "training, numbers": ("env=house_prices", "algorithm=random_forest", "tuner=gp_ucb", "horizon=40",
                          "algorithm.tune=[max_depth]", "algorithm.space.n_estimators.default=2"),
    "candidate generation": ("env=ali_display_ad", "algorithm=candidate_generation", "algorithm.steps=2",
                             "env.surrogate_users=300", "env.surrogate_ads=100", "env.surrogate_days=2",
                             "tuner=sd2me", "horizon=20"),
    "contextual bandit": ("env=synthetic_linear", "algorithm=linucb", "tuner=changepoint_gp", "horizon=200"),
    "copies": ("env=synthetic_logistic", "env.n_arms=5", "algorithm=laplace_ts", "task=copies", "tuner=best_forecast",
               "horizon=100"),
    "smoothed copies": ("env=synthetic_linear", "algorithm=linucb", "task=smoothed_copies", "tuner=stochastic_corral",
                        "horizon=100"),
    "direct": ("env=switching_sine", "algorithm=none", "tuner=gp_ucb", "horizon=400"),
    "lower bounds": ("env=synthetic_logged", "algorithm=softmax_policy", "task=lower_bounds", "tuner=fixed",
                     "env.n_test=5000", "horizon=20"),
    "off-policy learning": ("paper=opl_hpo", "env=synthetic_logged", "algorithm=softmax_policy", "tuner=tpe",
                            "env.beta0=20", "env.n_test=5000", "task.trial_contexts=2000", "horizon=120"),
    "off-policy learning, CIR-HPO, doubly robust, with products": (
        "paper=opl_hpo", "env=synthetic_logged", "algorithm=softmax_policy", "tuner=tpe", "tuner.multivariate=true",
        "algorithm.products=true", "env.n_test=5000", "task.estimator=dr", "task.objective=lower_bound",
        "task.imitation=true", "horizon=60"),
    "off-policy learning, Open Bandit": ("paper=opl_hpo", "env=open_bandit", "env.n_tuning=2000",
                                         "algorithm=softmax_policy", "tuner=optuna_random", "horizon=6"),
}  # fmt: skip
"""Each task, small."""

FEW = ("direct", "lower bounds", "off-policy learning")


def digests(kind: str, names: str) -> dict[str, str]:
    """Return the digests that this script prints in a process on a given kind of processor.

    ``names`` is all, few or none.
    """
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    variables, features = KINDS[kind]
    off = (
        [name for name in __cpu_dispatch__ if __cpu_features__[name] and name.startswith(features)] if features else []
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **variables}
    environ |= {"NPY_DISABLE_CPU_FEATURES": " ".join(off)} if off else {}
    words = [sys.executable, __file__, names]
    out = subprocess.run(words, capture_output=True, text=True, check=True, env=environ)
    found: dict[str, str] = json.loads(out.stdout.splitlines()[-1])
    return found


def _arithmetic() -> dict[str, str]:
    """Return digests of results that depend on the processor, such as sums in another order."""
    from bench.digest import digest

    matrix = np.random.default_rng(0).normal(size=(60, 60))
    return {
        "product of matrices": digest((matrix @ matrix).tobytes()),
        "order of equal values": digest(np.argsort(np.round(2 * matrix.ravel())).tobytes()),
    }


def _run(words: tuple[str, ...]) -> str:
    from bench.conformance.drive import digest_of
    from runners.config.compose import from_overrides
    from runners.config.experiment import run_repetition

    columns = run_repetition(from_overrides(words).experiment, 0).columns()
    return digest_of({name: column.tolist() for name, column in columns.items()})


def main(names: str) -> None:
    done = _arithmetic()
    for name in {"all": RUNS, "few": FEW}.get(names, ()):
        done[f"task/{name}"] = _run(RUNS[name])
    if names == "all":
        import conformance

        done |= conformance.all_digests()
    print(json.dumps(done))


if __name__ == "__main__":
    main(sys.argv[1])
