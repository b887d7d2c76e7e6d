"""The figures of the papers: python -m runners.reproduce paper=syndicated scale=quick jobs=2."""

import sys
from typing import TYPE_CHECKING

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from bench.errors import ConfigError
from runners.cli import main
from runners.config.compose import runner_settings
from runners.config.figures import figure_names
from runners.config.folders import CHECKOUT

if TYPE_CHECKING:  # slow to import
    from bandit_bench._reproduce import ReproductionPlan

_COMMITTED = CHECKOUT / "results" / "claims.md" if CHECKOUT else None


def reproduce(cfg: DictConfig) -> bool:
    """Make the chosen figures; return whether no repetition failed and all figures were written."""
    from bandit_bench._reproduce import reproduce_as_planned  # slow to import
    from bench.report.claims.tallies import added_up, spell_by_origin

    plan = _plan(cfg)
    made, of_figures, of_pages, gallery, pages = reproduce_as_planned(plan)
    claims = spell_by_origin(added_up(figure.tallies for figure in made)) or "none"
    total = f"their claims, each counted once: {claims}; " if len(made) > 1 else ""  # of one its line says it
    count = f"{len(made)} figure{'s' if len(made) > 1 else ''}"
    print(f"{count} in {of_figures:.0f} s, {pages} pages in {of_pages:.0f} s; {total}gallery: {gallery}")
    if plan.scale != "paper" or plan.horizon or plan.repetitions or plan.seed:
        verdicts = f"; those of the committed results: {_COMMITTED}" if _COMMITTED else ""
        print(f"A few repetitions of short runs are a look, not a verdict{verdicts}")
    for figure in made:
        if figure.error:
            print(f"error: {'/'.join(figure.folder.parts[-3:])} could not be written: {figure.error}", file=sys.stderr)
    return all(figure.complete for figure in made)


def _plan(cfg: DictConfig) -> "ReproductionPlan":
    """Return what the command line asks for. Raises ConfigError naming the key that is wrong."""
    from bandit_bench._reproduce import ReproductionPlan, read_only  # slow to import
    from bench.report.formats import extra_formats, print_size

    choices = HydraConfig.get().runtime.choices
    names = [choices["figure"]] if choices["figure"] else figure_names(choices["paper"])
    if not names:
        raise ConfigError(f"paper: found '{choices['paper']}', which has no figures, expected another")
    if not isinstance(cfg.readings, bool | None):
        raise ConfigError(f"readings: found '{cfg.readings}', expected true, false or null")
    if not isinstance(cfg.renew, bool):
        raise ConfigError(f"renew: found '{cfg.renew}', expected true or false")
    if cfg.surrogate not in ("yes", "no", True, False):
        raise ConfigError(f"surrogate: found '{cfg.surrogate}', expected yes or no")
    formats = extra_formats(cfg.format)
    return ReproductionPlan(
        names,
        choices["scale"],
        read_only(cfg.only or ""),
        cfg.horizon,
        cfg.repetitions,
        cfg.max_repetitions,
        cfg.seed,
        cfg.readings,
        cfg.surrogate in ("yes", True),
        cfg.renew,
        cfg.jobs,
        runner_settings(cfg.runner),
        formats,
        print_size(cfg.size, formats),
    )


if __name__ == "__main__":
    sys.exit(main("reproduce", reproduce))
