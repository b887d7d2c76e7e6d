"""The figures of the papers: python -m runners.reproduce paper=syndicated scale=quick jobs=2."""

import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from bench.errors import ConfigError
from runners.cli import explicit_keys, main
from runners.config.compose import run_settings, runner_settings
from runners.config.figures import figure_names, load_figure
from runners.config.tree import CHECKOUT
from runners.execute.pool import spread, workers
from runners.execute.progress import phase
from runners.execute.stand_ins import announcement, drawn_from_committed, lacks_data, missing_data, refuse
from runners.results.store import results_folder

if TYPE_CHECKING:
    from bench.report.figure import Figure
    from bench.report.page import Size
    from runners.results.plan import FigurePlan

_COMMITTED = (CHECKOUT or Path.cwd()) / "results" / "claims.csv"


def reproduce(cfg: DictConfig) -> bool:
    """Make the chosen figures; return whether no repetition failed and all figures were written."""
    with phase("importing"):
        from bench.report.claims import added_up, spell_by_origin  # slow to import
        from runners.execute.redraw import redraw_figures, with_committed
        from runners.execute.reproduce_figure import reproduce_figures
        from runners.results.pages import write_gallery

    choices = HydraConfig.get().runtime.choices
    names = [choices["figure"]] if choices["figure"] else figure_names(choices["paper"])
    if not names:
        raise ConfigError(f"paper: found '{choices['paper']}', which has no figures, expected another")
    request = _request(cfg, choices["scale"])
    runner = runner_settings(cfg.runner)
    figures = {name: load_figure(name) for name in names}
    missing = {name: missing_data(figure, readings=request.readings) for name, figure in figures.items()}
    start = time.perf_counter()
    plans = [_plan(name, figures[name], request, lacks=lacks_data(missing[name])) for name in names]
    is_strict = request.scale == "paper" and cfg.surrogate in ("no", False)
    stored = with_committed(
        plan for plan in plans if is_strict and not request.sizes and lacks_data(missing[plan.name])
    )
    for plan, folder in stored:
        print(drawn_from_committed(plan.name, missing.pop(plan.name), folder), flush=True)
    if is_strict:
        refuse(missing)
    for line in announcement(missing):
        print(line, flush=True)
    with workers(runner, cfg.jobs):
        made = list(redraw_figures(stored, jobs=cfg.jobs, runner=runner))
        made += reproduce_figures([plan for plan in plans if plan.name in missing], jobs=cfg.jobs, runner=runner)
        with phase("drawing the pages of the gallery", runner.progress):
            gallery, _ = write_gallery(results_folder(), spread(runner, cfg.jobs))
    claims = spell_by_origin(added_up(one.tallies for one in made)) or "none"
    seconds = time.perf_counter() - start
    count = f"{len(names)} figure{'s' if len(names) > 1 else ''}"
    print(f"{count} in {seconds:.0f} s; their claims: {claims}; gallery: {gallery}")
    for line in _caution(request.scale, request.extra, names):
        print(line)
    for one in made:
        if one.error:
            print(f"error: {'/'.join(one.folder.parts[-3:])} could not be written: {one.error}", file=sys.stderr)
    return all(one.complete for one in made)


class _Request(NamedTuple):
    """What the command line asks of every figure: ``extra`` goes to its runs, ``sizes`` into its command."""

    scale: str
    sizes: list[str]
    extra: list[str]
    until: int | None
    repetitions: int | str | None
    readings: bool
    formats: Sequence[str]
    size: "Size"


def _request(cfg: DictConfig, scale: str) -> _Request:
    """Check the keys of the command line.

    Raises
    ------
    ConfigError
        Naming the key.
    """
    from bench.report.saving import extra_formats, print_size  # slow to import
    from runners.results.until_decided import most_repetitions

    until = most_repetitions(cfg.repetitions, cfg.max_repetitions)
    checked = ("horizon", "seed", "jobs", *(["repetitions"] if until is None else []))
    run_settings({key: cfg[key] for key in checked if cfg[key] is not None})
    formats = extra_formats(cfg.format)
    explicit = [key for key in explicit_keys() if key in ("horizon", "repetitions", "seed", "max_repetitions")]
    sizes = [f"{key}={cfg[key]}" for key in explicit]
    extra = [size for size in sizes if until is None or "repetitions=" not in size]
    readings = cfg.scale.readings if cfg.readings is None else cfg.readings
    if not isinstance(readings, bool):
        raise ConfigError(f"readings: found '{readings}', expected true, false or null")
    if cfg.surrogate not in ("yes", "no", True, False):
        raise ConfigError(f"surrogate: found '{cfg.surrogate}', expected yes or no")
    sizes += [f"readings={str(readings).lower()}"] * (readings != cfg.scale.readings)
    size = print_size(cfg.size, formats)
    return _Request(scale, sizes, extra, until, cfg.repetitions, readings, formats, size)


def _plan(name: str, figure: "Figure", request: _Request, *, lacks: bool) -> "FigurePlan":
    from runners.results.plan import FigurePlan  # slow to import

    scale, sizes, extra, until, repetitions, readings, formats, size = request
    words = ["python", "-m", "runners.reproduce", f"figure={name}", f"scale={scale}", *sizes]
    words += ["surrogate=yes"] * (scale == "paper" and lacks)
    is_custom = bool(extra) or (scale == "paper" and not readings) or (until is not None and scale != "paper")
    where = f"{name}/{scale}{'-custom' if is_custom else ''}"
    of_figure = figure.scales.get(scale)
    most = of_figure.until_decided if of_figure and repetitions is None else until
    is_reference = scale == "paper" and readings
    return FigurePlan(figure, where, scale, extra, shlex.join(words), is_reference, most, formats, readings, size)


def _caution(scale: str, extra: Sequence[str], names: Sequence[str]) -> list[str]:
    """Say what results smaller than the papers' are worth, and what the committed ones say."""
    if scale == "paper" and not extra:
        return []
    import pandas as pd  # slow to import

    from bench.report.claims import spell_by_origin
    from bench.report.gallery import counted

    look = "A few repetitions of short runs are a look, not a verdict."
    try:
        table = pd.read_csv(_COMMITTED)
        claims = spell_by_origin(counted(table[(table["paper"] + "/" + table["figure"]).isin(names)]))
    except (OSError, ValueError, KeyError):
        claims = ""
    return [f"{look} The committed results' claims, {claims}: {_COMMITTED.with_suffix('.md')}" if claims else look]


if __name__ == "__main__":
    sys.exit(main("reproduce", reproduce))
