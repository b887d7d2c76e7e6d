"""The figures of the papers: python -m runners.reproduce paper=syndicated scale=quick jobs=2."""

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from bench.errors import BenchError, ConfigError
from runners.command import hydra_command, instead_of_figures
from runners.config.folders import CHECKOUT, results_folder

if TYPE_CHECKING:  # slow to import
    from omegaconf import DictConfig

    from bandit_bench._reproduce import ReproductionPlan

_COMMITTED = CHECKOUT / "docs" / "findings.md" if CHECKOUT else None
_BOOLS: dict[str, tuple[Any, ...]] = {"readings": (True, False, None), "renew": (True, False), "dry_run": (True, False)}
_BOOLS |= {"surrogate": ("yes", "no", True, False)}
_KEYS = ("horizon", "repetitions", "max_repetitions", "seed", "readings", "renew", "jobs")
"""The keys that the command passes to a plan unchanged."""


def reproduce(cfg: "DictConfig") -> None:
    """Make the chosen figures. Raises BenchError if a repetition failed, or a figure could not be written."""
    from bandit_bench._reproduce import make  # slow to import
    from bench.report.claims.tallies import added_up, spell_by_origin
    from runners.results.pages import write_gallery

    plan, start = _plan(cfg), time.perf_counter()
    made, middle = make(plan), time.perf_counter()
    if plan.instead:
        return
    gallery, pages = write_gallery(results_folder())
    of_figures, of_pages = middle - start, time.perf_counter() - middle
    claims = spell_by_origin(added_up(figure.tallies for figure in made)) or "none"
    total = f"their claims, each counted once: {claims}; " if len(made) > 1 else ""  # a single figure has its line
    count = f"{len(made)} figure{'s' if len(made) > 1 else ''}"
    print(f"{count} in {of_figures:.0f} s, {pages} pages in {of_pages:.0f} s; {total}gallery: {gallery}")
    if plan.scale != "paper" or plan.horizon or plan.repetitions or plan.seed:
        verdicts = f"; those of the committed results: {_COMMITTED}" if _COMMITTED else ""
        print(f"These runs are too few and too short for verdicts{verdicts}")
    for figure in made:
        if figure.error:
            print(f"error: {'/'.join(figure.folder.parts[-3:])} could not be written: {figure.error}", file=sys.stderr)
    if bad := [figure.name for figure in made if not figure.complete]:
        raise BenchError(f"{len(bad)} of {count} not complete: {', '.join(bad)}")


def _plan(cfg: "DictConfig") -> "ReproductionPlan":
    """Return the figures that the command line requests. Raises ConfigError naming the wrong key."""
    from hydra.core.hydra_config import HydraConfig  # slow to import
    from omegaconf import OmegaConf

    from bandit_bench._reproduce import plan_of
    from runners.config.compose import runner_settings

    choices = HydraConfig.get().runtime.choices
    for key, valid in _BOOLS.items():
        if type(cfg[key]) is int or cfg[key] not in valid:
            raise ConfigError(f"{key}: found '{cfg[key]}', expected one of: {', '.join(map(str, valid))}")
    return plan_of(
        choices["figure"],
        choices["paper"],
        OmegaConf.to_container(cfg.only) if OmegaConf.is_config(cfg.only) else cfg.only,
        cfg.format,
        cfg.size,
        scale=choices["scale"],
        surrogate=cfg.surrogate in ("yes", True),
        runner=runner_settings(cfg.runner),
        instead=instead_of_figures(cfg.shard, dry_run=cfg.dry_run),
        **{key: cfg[key] for key in _KEYS},
    )


main = partial(hydra_command, "reproduce", reproduce, __doc__)

if __name__ == "__main__":
    sys.exit(main())
