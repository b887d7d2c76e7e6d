"""The figures of the papers: python -m runners.reproduce paper=syndicated scale=quick jobs=2."""

import shlex
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from bench.errors import ConfigError
from runners.cli import main
from runners.config.compose import run_settings, runner_settings
from runners.config.figures import figure_names, load_figure
from runners.config.tree import CHECKOUT
from runners.execute.pool import spread, workers
from runners.execute.stand_ins import announcement, drawn_from_committed, lacks_data, missing_data, refuse
from runners.results.store import results_folder

if TYPE_CHECKING:
    from runners.execute.figure_run import AskedFigure

_COMMITTED = CHECKOUT / "results" / "claims.md" if CHECKOUT else None


def reproduce(cfg: DictConfig) -> bool:
    """Make the chosen figures; return whether no repetition failed and all figures were written."""
    from bench.audit.tallies import added_up, spell_by_origin  # slow to import
    from runners.config.headlines import load_headlines
    from runners.execute.reproduce_figure import reproduce_figures
    from runners.execute.write_figure import committed_folder, redraw
    from runners.results.pages import write_gallery

    choices = HydraConfig.get().runtime.choices
    names = [choices["figure"]] if choices["figure"] else figure_names(choices["paper"])
    if not names:
        raise ConfigError(f"paper: found '{choices['paper']}', which has no figures, expected another")
    runner = runner_settings(cfg.runner)
    runs = [_asked(cfg, choices["scale"], name) for name in names]
    load_headlines(names[0].partition("/")[0])
    missing = {run.name: missing_data(run.figure, readings=run.readings) for run in runs}
    start = time.perf_counter()
    is_strict = choices["scale"] == "paper" and cfg.surrogate in ("no", False)
    lacking = {run.name for run in runs if run.scale == "paper" and lacks_data(missing[run.name])}
    runs = [replace(run, command=f"{run.command} surrogate=yes") if run.name in lacking else run for run in runs]
    stored = []
    for run in [run for run in runs if run.name in lacking]:
        if committed := committed_folder(run) if is_strict else None:
            stored.append((run, *committed))
            print(drawn_from_committed(run.name, missing.pop(run.name), committed[0]), flush=True)
    if is_strict:
        refuse(missing)
    for line in announcement(missing):
        print(line, flush=True)
    with workers(runner, cfg.jobs):
        made = [run.tell() for run in spread(runner, cfg.jobs)(redraw, stored)]
        made += reproduce_figures([run for run in runs if run.name in missing], jobs=cfg.jobs, runner=runner)
        of_figures = time.perf_counter() - start
        gallery, pages = write_gallery(results_folder(), spread(runner, cfg.jobs))
    claims = spell_by_origin(added_up(run.tallies for run in made)) or "none"
    total = f"their claims, each counted once: {claims}; " if len(names) > 1 else ""  # of one its line says it
    of_pages = time.perf_counter() - start - of_figures
    count = f"{len(names)} figure{'s' if len(names) > 1 else ''}"
    print(f"{count} in {of_figures:.0f} s, {pages} pages in {of_pages:.0f} s; {total}gallery: {gallery}")
    if unconfirmed := [run for run in made if run.unconfirmed]:
        words = f"FIGURE={unconfirmed[0].name}" if len(unconfirmed) == 1 else f"PAPER={names[0].partition('/')[0]}"
        print(
            f"Other code or packages made runs of {len(unconfirmed)} of them: drawn as they are, nothing added; "
            f"`make verify ACCEPT=1 {words}` confirms what comes out equal, `renew=true` runs them again"
        )
    if runs[0].scale != "paper" or runs[0].extra:
        verdicts = f"; those of the committed results: {_COMMITTED}" if _COMMITTED else ""
        print(f"A few repetitions of short runs are a look, not a verdict{verdicts}")
    for run in made:
        if run.error:
            print(f"error: {'/'.join(run.folder.parts[-3:])} could not be written: {run.error}", file=sys.stderr)
    return all(run.complete for run in made)


def _asked(cfg: DictConfig, scale: str, name: str) -> "AskedFigure":
    """Return a figure as the command line asks for it. Raises ConfigError naming the key that is wrong."""
    from bench.report.saving import extra_formats, print_size  # slow to import
    from runners.execute.figure_run import AskedFigure
    from runners.results.until_decided import most_repetitions

    until = most_repetitions(cfg.repetitions, cfg.max_repetitions)
    checked = ("horizon", "seed", "jobs", *(["repetitions"] if until is None else []))
    run_settings({key: cfg[key] for key in checked if cfg[key] is not None})
    formats = extra_formats(cfg.format)
    sizes = [f"{key}={cfg[key]}" for key in ("horizon", "repetitions", "seed", "max_repetitions") if cfg[key]]
    extra = [size for size in sizes if until is None or "repetitions=" not in size]
    readings = cfg.scale.readings if cfg.readings is None else cfg.readings
    if not isinstance(readings, bool):
        raise ConfigError(f"readings: found '{readings}', expected true, false or null")
    if not isinstance(cfg.renew, bool):
        raise ConfigError(f"renew: found '{cfg.renew}', expected true or false")
    if cfg.surrogate not in ("yes", "no", True, False):
        raise ConfigError(f"surrogate: found '{cfg.surrogate}', expected yes or no")
    sizes += [f"readings={str(readings).lower()}"] * (readings != cfg.scale.readings)
    is_paper = scale == "paper"
    is_custom = extra or (is_paper and not readings) or (until is not None and not is_paper)
    figure = load_figure(name)
    at_scale = figure.scales.get(scale)
    return AskedFigure(
        figure,
        f"{name}/{scale}{'-custom' if is_custom else ''}",
        scale,
        extra,
        shlex.join(["python", "-m", "runners.reproduce", f"figure={name}", f"scale={scale}", *sizes]),
        is_reference=is_paper and readings,
        until_decided=at_scale.until_decided if at_scale and cfg.repetitions is None else until,
        formats=formats,
        readings=readings,
        size=print_size(cfg.size, formats),
        renew=cfg.renew,
    )


if __name__ == "__main__":
    sys.exit(main("reproduce", reproduce))
