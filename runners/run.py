"""One experiment: python -m runners.run env=movielens algorithm=lints tuner=cdt repetitions=10 jobs=2."""

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.data_kind import DataKind
from bench.errors import BenchError
from bench.rewards import finite
from bench.stats import MIN_REPETITIONS
from runners.command import PLAIN, cut, hydra_command
from runners.config.folders import user_folder

if TYPE_CHECKING:  # slow to import
    from omegaconf import DictConfig

    from runners.config.compose import Run

_WORD = re.compile(rf"[\w.]+=({PLAIN})", re.ASCII | re.IGNORECASE)


def _run_plain(words: list[str]) -> bool:
    """Run the arguments if they need no Hydra, whose import takes half a second; return whether they were run."""
    from runners.config.compose import KEYS, from_overrides  # slow to import

    if user_folder() or not all(_WORD.fullmatch(word) for word in words):
        return False
    keys = [word.partition("=")[0] for word in words]
    if len(set(keys)) < len(keys) or not {key.partition(".")[0] for key in keys} <= {*KEYS}:
        return False
    try:
        composed = from_overrides(words)
    except BenchError:  # Hydra reports the error
        return False
    run_and_report(composed, words)
    return True


def run(config: "DictConfig") -> None:
    """Run the configuration that Hydra has composed. Raises BenchError if a repetition fails."""
    from hydra.core.hydra_config import HydraConfig  # slow to import
    from omegaconf import OmegaConf

    from runners.config.compose import run_of

    composed = HydraConfig.get()
    words: Any = OmegaConf.to_container(composed.overrides.task)
    settings: Any = OmegaConf.to_container(config, resolve=True)
    added = {word.removeprefix("+").partition("=")[0] for word in words if word.startswith("+")}
    settings = {key: value for key, value in settings.items() if key not in added}  # other keys may refer to them
    run_and_report(run_of(settings, composed.runtime.choices), words)


def run_and_report(composed: "Run", changes: Sequence[str] = ()) -> None:
    """Run the missing repetitions of one experiment and report the result. Raises BenchError if a repetition fails."""
    from bandit_bench._run import run_composed  # slow to import

    experiment, is_json = composed.experiment, composed.settings.output == "json"
    result = run_composed(composed, says_data=not is_json)
    report = {
        "choices": {
            group: choice for group, choice in composed.choices.items() if group in ("env", "algorithm", "tuner")
        },
        "overrides": list(changes),
        "run_id": result.run_id,
        "folder": str(result.folder),
        "repetitions": len(result.done),
        "new": len(result.new),
        "failed": len(result.failed),
        "reused": result.reused(),
        "seconds": round(result.seconds, 3),
        "surrogate": experiment.data_kind is DataKind.SURROGATE,
        "altered": experiment.data_kind is DataKind.ALTERED,
        "packaged": experiment.data_kind is DataKind.PACKAGED,
        "metrics": result.metrics if len(result.done) >= (1 if is_json else MIN_REPETITIONS) else result.means,
    }
    for repetition, error in result.failed.items():
        print(f"error: repetition {repetition} failed: {cut(error)}", file=sys.stderr)
    print(json.dumps(finite(report), allow_nan=False) if is_json else _text(report), flush=True)
    if result.failed:
        record = result.folder / f"rep-{min(result.failed):05d}.failed.json"
        count = len(result.failed) + len(result.done)
        raise BenchError(f"{len(result.failed)} of {count} repetitions failed; the first's traceback is in {record}")


def _text(report: dict[str, Any]) -> str:
    data = "".join(f", {kind} data" for kind in ("surrogate", "altered") if report[kind])
    if report["packaged"]:
        from bench.report.provenance import PACKAGED_WORDS  # slow to import

        data += f", {PACKAGED_WORDS}"
    count, again = report["repetitions"], f"; {report['reused']}" if report["reused"] else ""
    lines = [
        f"{count} repetition{'s' * (count != 1)} ({report['new']} new, {report['failed']} failed{again}) "
        f"in {report['seconds']:.1f} s{data}: {Path(report['folder'])}",
        "  " + " ".join(f"{group}={choice}" for group, choice in report["choices"].items()),
    ]
    for name, values in report["metrics"].items():
        if "mean" not in values:
            words = [f"{value:.5g}" if isinstance(value, float) else str(value) for value in values["values"]]
            counts = [f"{word} ({count})" for word, count in Counter(words).items()]
            lines.append(f"  {name:<28} {', '.join(counts):>12}")
            continue
        low, high = values.get("ci_low"), values.get("ci_high")  # missing for few repetitions
        interval = "" if low is None else f"   95 % interval {low:.4g} .. {high:.4g}"
        lines.append(f"  {name:<28} {values['mean']:>12.5g}{interval}")
    if 1 < count < MIN_REPETITIONS:
        lines.append(f"  (intervals need at least {MIN_REPETITIONS} repetitions)")
    return "\n".join(lines)


main = partial(hydra_command, "config", run, __doc__, plainly=_run_plain)

if __name__ == "__main__":
    sys.exit(main())
