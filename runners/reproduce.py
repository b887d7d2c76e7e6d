"""The figures of the papers: python -m runners.reproduce paper=syndicated scale=quick jobs=2."""

import shlex
import sys
import time
from collections import Counter

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from bench.errors import ConfigError
from runners.cli import explicit_keys, main
from runners.compose import run_settings, runner_settings
from runners.figures import figure_names, load_figure
from runners.pool import workers
from runners.store import results_folder


def reproduce(cfg: DictConfig) -> bool:
    """Make the chosen figures; return whether no repetition failed."""
    from runners.gallery import write_gallery  # slow to import
    from runners.reproduce_figure import reproduce_figure

    choices = HydraConfig.get().runtime.choices
    names = [choices["figure"]] if choices["figure"] else figure_names(choices["paper"])
    if not names:
        raise ConfigError(f"paper: found '{choices['paper']}', which has no figures, expected another")
    run_settings({"horizon": 1, "repetitions": 1, "seed": cfg.seed, "jobs": cfg.jobs, "output": "text"})
    runner = runner_settings(cfg.runner)
    explicit = [key for key in explicit_keys() if key in ("horizon", "repetitions", "seed")]
    extra = [f"{key}={cfg[key]}" for key in explicit]
    scale = choices["scale"]
    complete, verdicts, start = True, Counter[str](), time.perf_counter()
    with workers(runner, cfg.jobs):
        for name in names:
            command = shlex.join(["python", "-m", "runners.reproduce", f"figure={name}", f"scale={scale}", *extra])
            where = f"{name}/{scale}{'-custom' if extra else ''}"
            made = reproduce_figure(
                load_figure(name), where, scale, extra, command=command, jobs=cfg.jobs, runner=runner
            )
            complete &= made.complete
            verdicts += Counter(made.claims["verdict"])
    gallery, _ = write_gallery(results_folder(), names)
    seconds = time.perf_counter() - start
    total = f"{verdicts['holds']} hold, {verdicts['fails']} fail, {verdicts['open']} stay open"
    number = f"{len(names)} figure{'s' if len(names) > 1 else ''}"
    print(f"{number} in {seconds:.0f} s; of their claims {total}; gallery: {gallery}")
    return complete


if __name__ == "__main__":
    sys.exit(main("reproduce", reproduce))
