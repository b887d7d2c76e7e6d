"""The figures of the papers: python -m runners.reproduce paper=syndicated scale=quick jobs=2."""

import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from bench.data.catalogue import CATALOGUE
from bench.errors import ConfigError
from runners.cli import explicit_keys, main
from runners.compose import run_settings, runner_settings
from runners.config_tree import CHECKOUT
from runners.figures import figure_names, load_figure
from runners.pool import spread, workers
from runners.store import results_folder

if TYPE_CHECKING:  # slow to import
    from runners.reproduce_figure import Reproduced

_COMMITTED = (CHECKOUT or Path.cwd()) / "results" / "claims.csv"


def reproduce(cfg: DictConfig) -> bool:
    """Make the chosen figures; return whether no repetition failed and all figures were written."""
    from bench.report.claims import spell  # slow to import
    from bench.report.saving import extra_formats
    from runners.gallery import write_gallery
    from runners.reproduce_figure import FigurePlan, reproduce_figures
    from runners.until_decided import most_repetitions

    choices = HydraConfig.get().runtime.choices
    names = [choices["figure"]] if choices["figure"] else figure_names(choices["paper"])
    if not names:
        raise ConfigError(f"paper: found '{choices['paper']}', which has no figures, expected another")
    until = most_repetitions(cfg.repetitions, cfg.max_repetitions)
    run_settings({"horizon": 1, "repetitions": 1, "seed": cfg.seed, "jobs": cfg.jobs, "output": "text"})
    runner = runner_settings(cfg.runner)
    formats = extra_formats(cfg.format)
    explicit = [key for key in explicit_keys() if key in ("horizon", "repetitions", "seed", "max_repetitions")]
    sizes = [f"{key}={cfg[key]}" for key in explicit]
    extra = [size for size in sizes if until is None or "repetitions=" not in size]
    scale = choices["scale"]
    readings = cfg.scale.readings if cfg.readings is None else cfg.readings
    if not isinstance(readings, bool):
        raise ConfigError(f"readings: found '{readings}', expected true, false or null")
    sizes += [f"readings={str(readings).lower()}"] * (readings != cfg.scale.readings)
    is_custom = bool(extra) or (scale == "paper" and not readings) or (until is not None and scale != "paper")
    start = time.perf_counter()
    plans = []
    for name in names:
        command = shlex.join(["python", "-m", "runners.reproduce", f"figure={name}", f"scale={scale}", *sizes])
        where = f"{name}/{scale}{'-custom' if is_custom else ''}"
        figure, is_reference = load_figure(name), scale == "paper" and readings
        own = figure.scales.get(scale)
        most = own.until_decided if own and cfg.repetitions is None else until
        plans.append(FigurePlan(figure, where, scale, extra, command, is_reference, most, formats, readings))
    with workers(runner, cfg.jobs):
        made = list(reproduce_figures(plans, jobs=cfg.jobs, runner=runner))
        gallery, _ = write_gallery(results_folder(), spread(runner, cfg.jobs))
    verdicts = sum((Counter(one.claims["verdict"]) for one in made), Counter[str]())
    seconds = time.perf_counter() - start
    number = f"{len(names)} figure{'s' if len(names) > 1 else ''}"
    print(f"{number} in {seconds:.0f} s; of their claims {spell(verdicts)}; gallery: {gallery}")
    for line in (*_caution(scale, extra, names), *_stand_ins(made)):
        print(line)
    for one in made:
        if one.error:
            print(f"error: {'/'.join(one.folder.parts[-3:])} could not be written: {one.error}", file=sys.stderr)
    return all(one.complete for one in made)


def _caution(scale: str, extra: Sequence[str], names: Sequence[str]) -> list[str]:
    """Say what results smaller than the papers' are worth, and what the committed ones say."""
    if scale == "paper" and not extra:
        return []
    import pandas as pd  # slow to import

    from bench.report.claims import VERDICTS, spell

    look = "A few repetitions of short runs are a look, not a verdict."
    try:
        table = pd.read_csv(_COMMITTED)
        own = table[(table["paper"] + "/" + table["figure"]).isin(names)]
        own = own[~own["data"].astype(str).str.contains("surrogate|altered|packaged")]
        counts = {verdict: int(own[verdict].sum()) for verdict in VERDICTS if verdict in own}
    except (OSError, ValueError, KeyError):
        return [look]
    if not any(counts.values()):
        return [look]
    return [f"{look} Of the committed results' claims {spell(counts)}: {_COMMITTED.with_suffix('.md')}"]


def _stand_ins(made: "Sequence[Reproduced]") -> list[str]:
    """Name what rests on data that stands in for other data, and the command that fetches what may be fetched."""
    found: dict[str, list[str]] = {}
    for one in made:
        panels: dict[str, list[str]] = {}
        for data_set, panel in one.stand_ins:
            panels.setdefault(data_set, []).append(panel)
        for data_set, own in panels.items():
            which = ", ".join(dict.fromkeys(filter(None, own)))
            figure = "/".join(one.folder.parts[-3:-1])
            found.setdefault(data_set, []).append(f"{figure} ({which})" if which else figure)
    if not found:
        return []
    lines = ["Data that is not here was replaced by stand-ins, which say nothing about the papers:"]
    lines += [f"  {data_set}: {'; '.join(figures)}" for data_set, figures in found.items()]
    commands = [
        CATALOGUE[data_set].how_to_get for data_set in found if data_set in CATALOGUE and CATALOGUE[data_set].download
    ]
    if commands:
        lines.append(f"To fetch what may be downloaded: {' && '.join(commands)} (for the rest see docs/data.md)")
    return lines


if __name__ == "__main__":
    sys.exit(main("reproduce", reproduce))
