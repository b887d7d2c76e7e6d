"""One experiment: python -m runners.run env=movielens algorithm=lints tuner=cdt repetitions=10 jobs=2."""

import json
import sys
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from bench.report.provenance import PACKAGED_WORDS
from bench.stats import mean_interval, standard_deviation
from runners.cli import main
from runners.compose import from_config
from runners.experiment import check
from runners.fanout import run_all
from runners.store import Store, results_folder


def run(cfg: DictConfig) -> bool:
    """Run what is missing of one experiment, report it, and return whether no repetition failed."""
    hydra = HydraConfig.get()
    job = from_config(cfg, hydra.runtime.choices, hydra.overrides.task)
    store = Store(results_folder())
    n = job.settings.repetitions
    if not set(range(n)) <= store.done(job.experiment.run_id):
        check(job.experiment)
    summary = run_all([(job.experiment, n)], store, jobs=job.settings.jobs, runner=job.runner)
    result = summary.results[0]
    report = {
        "run_id": job.experiment.run_id,
        "folder": str(store.folder(job.experiment.run_id)),
        "repetitions": len(result.done),
        "new": len(result.new),
        "failed": len(result.failed),
        "seconds": round(summary.seconds, 3),
        "surrogate": job.experiment.surrogate,
        "packaged": job.experiment.packaged,
        "metrics": metrics(store, job.experiment.run_id, sorted(result.done)),
    }
    for repetition, error in sorted(result.failed.items()):
        print(f"error: repetition {repetition} failed: {error}", file=sys.stderr)
    print(json.dumps(report) if job.settings.output == "json" else _text(report), flush=True)
    return not result.failed


def metrics(store: Store, run_id: str, repetitions: list[int]) -> dict[str, Any]:
    """Return mean, std, 95 % interval and values of every numeric column at the last round."""
    finals: dict[str, list[float]] = {}
    for repetition in repetitions:
        for name, value in store.last_round(run_id, repetition).items():
            if name != "round" and not isinstance(value, str):
                finals.setdefault(f"final_{name}", []).append(float(value))
    report = {}
    for name, values in finals.items():
        interval = mean_interval(values)
        report[name] = {
            "mean": interval.estimate,
            "std": _finite(standard_deviation(values)),
            "ci_low": _finite(interval.low),
            "ci_high": _finite(interval.high),
            "values": values,
        }
    return report


def _finite(value: float) -> float | None:
    return value if value == value else None


def _text(report: dict[str, Any]) -> str:
    data = ", surrogate data" if report["surrogate"] else f", {PACKAGED_WORDS}" if report["packaged"] else ""
    lines = [
        f"{report['repetitions']} repetitions ({report['new']} new, {report['failed']} failed) "
        f"in {report['seconds']:.1f} s{data}: {Path(report['folder'])}"
    ]
    for name, values in report["metrics"].items():
        low, high = values["ci_low"], values["ci_high"]
        interval = "" if low is None else f"   95 % interval {low:.4g} .. {high:.4g}"
        lines.append(f"  {name:<28} {values['mean']:>12.5g}{interval}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main("config", run))
