"""One experiment: python -m runners.run env=movielens algorithm=lints tuner=cdt repetitions=10 jobs=2."""

import json
import sys
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from bench.data_kind import DataKind
from runners.cli import main

if TYPE_CHECKING:  # slow to import
    from runners.config.compose import Run
    from runners.results.store import Store


def run(_: DictConfig) -> bool:
    """Run what the command line asks for."""
    from runners.config.compose import from_overrides  # slow to import

    return play(from_overrides(HydraConfig.get().overrides.task))


def play(job: "Run") -> bool:
    """Run what is missing of one experiment, report it, and return whether no repetition failed."""
    from runners.execute.fanout import check, run_all  # slow to import
    from runners.execute.pool import workers
    from runners.execute.stand_ins import replaced
    from runners.results.store import Store, results_folder

    store = Store(results_folder())
    n = job.settings.repetitions
    is_missing = not set(range(n)) <= store.done(job.experiment.run_id)
    with workers(job.runner, min(job.settings.jobs, n)) if is_missing else nullcontext():
        if is_missing:
            check(job.experiment, job.runner)
        if job.settings.output == "text":
            for line in replaced(job.choices["env"], job.experiment.settings["env"]):
                print(line, flush=True)
        start = time.perf_counter()
        result = run_all([job.experiment], n, store, jobs=job.settings.jobs, runner=job.runner)[job.experiment.run_id]
    report = {
        "choices": {group: choice for group, choice in job.choices.items() if group in ("env", "algorithm", "tuner")},
        "run_id": job.experiment.run_id,
        "folder": str(store.folder(job.experiment.run_id)),
        "repetitions": len(result.done),
        "new": len(result.new),
        "failed": len(result.failed),
        "seconds": round(time.perf_counter() - start, 3),
        "surrogate": job.experiment.data_kind is DataKind.SURROGATE,
        "altered": job.experiment.data_kind is DataKind.ALTERED,
        "packaged": job.experiment.data_kind is DataKind.PACKAGED,
        "metrics": metrics(store, job.experiment.run_id, sorted(result.done)),
    }
    for repetition, error in sorted(result.failed.items()):
        print(f"error: repetition {repetition} failed: {error}", file=sys.stderr)
    if result.failed:
        record = store.path(job.experiment.run_id, min(result.failed), ".failed.json")
        print(f"error: the traceback of repetition {min(result.failed)} is in {record}", file=sys.stderr)
    print(json.dumps(report) if job.settings.output == "json" else _text(report), flush=True)
    return not result.failed


def metrics(store: "Store", run_id: str, repetitions: list[int]) -> dict[str, Any]:
    """Return the values of every column at the last round, and of numbers mean, std and 95 % interval.

    A setting that is a word, or is not set in some repetition (None), has its values alone.
    """
    from bench.stats import mean_interval, standard_deviation  # slow to import

    rounds = [store.last_round(run_id, repetition) for repetition in repetitions]
    report: dict[str, Any] = {}
    for name in dict.fromkeys(name for last in rounds for name in last if name != "round"):
        finals = [last[name] for last in rounds if name in last]
        values: list[Any] = [None if value in ("None", None) or value != value else value for value in finals]
        values = [value if isinstance(value, str | None) else float(value) for value in values]
        summary: dict[str, Any] = {}
        if all(isinstance(value, float) for value in values):
            interval = mean_interval(values)
            ends = {"std": standard_deviation(values), "ci_low": interval.low, "ci_high": interval.high}
            summary = {"mean": interval.estimate} | {key: end if end == end else None for key, end in ends.items()}
        report[f"final_{name}"] = summary | {"values": values}
    return report


def _text(report: dict[str, Any]) -> str:
    from bench.report.provenance import PACKAGED_WORDS  # slow to import

    kinds = {"surrogate": "surrogate data", "altered": "altered data", "packaged": PACKAGED_WORDS}
    data = "".join(f", {words}" for kind, words in kinds.items() if report[kind])
    lines = [
        f"{report['repetitions']} repetitions ({report['new']} new, {report['failed']} failed) "
        f"in {report['seconds']:.1f} s{data}: {Path(report['folder'])}",
        "  " + " ".join(f"{group}={choice}" for group, choice in report["choices"].items()),
    ]
    for name, values in report["metrics"].items():
        if "mean" not in values:
            words = [f"{value:.5g}" if isinstance(value, float) else str(value) for value in values["values"]]
            counts = [f"{word} ({count})" for word, count in Counter(words).items()]
            lines.append(f"  {name:<28} {', '.join(counts):>12}")
            continue
        low, high = values["ci_low"], values["ci_high"]
        interval = "" if low is None else f"   95 % interval {low:.4g} .. {high:.4g}"
        lines.append(f"  {name:<28} {values['mean']:>12.5g}{interval}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main("config", run))
