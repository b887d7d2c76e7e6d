"""Tuners side by side: python -m runners.compare tuner=my_module.MyTuner,tl,cdt env=synthetic_linear jobs=2.

All words are those of ``runners.run``. Values with commas between them are compared: tuners, also classes of one's own,
as lines; all else, such as ``env=synthetic_linear,movielens`` or ``env.dim=5,25``, as panels. The first tuner is held
against every other one. A tuner's own settings follow its name: "tuner=cdt,cdt(radius_scale=0.5)", in quotes because of
the parentheses; ``tuner.radius_scale=0.5`` alone is for all of them. A name before a value is the label of its line or
panel: "tuner=Mine=my_module.MyTuner(threshold=0.9),tl" "env=Linear model=synthetic_linear,Films=movielens".

Besides: ``name``, the folder below ``results/compare/`` (default: comparison), and ``column``, the column of the trace
that is compared (default: regret; of regret and seconds less is better, of others more).
``repetitions=until_decided`` adds repetitions where a verdict is open, up to ``max_repetitions`` (default: 400).
``format=pdf,tex`` also writes the picture as PDF, with ``size=column`` or ``size=text`` as wide as that in a paper, and
the table as LaTeX. With each verdict stands whether it remains after Holm's correction for the number of verdicts.
"""

import json
import math
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from runners.command import plain_command
from runners.comparison import METHOD, plan
from runners.config.compose import Run, from_overrides
from runners.execute.stand_ins import announcement, missing_data
from runners.results.store import alone, results_folder, write_text

if TYPE_CHECKING:  # slow to import
    import pandas as pd

COMPARISON = "comparison.json"
"""The figure of a comparison, beside its results."""
_HOLM = {"yes": " (also after Holm's correction)", "no": " (not after Holm's correction)"}


def main() -> int:
    """Compare what the command line names; return the exit code."""
    return plain_command(__doc__, compare)


def compare(words: list[str]) -> bool:
    """Run what is missing of every combination, draw a figure, print what differs; return whether nothing failed."""
    content, scale, sizes, machine, until, formats, size = plan(words)
    from bench.report.figure import read_figure
    from bench.report.tables import from_csv
    from runners.execute.figure_run import FigureRun
    from runners.execute.reproduce_figure import reproduce_figure
    from runners.results.pages import write_gallery

    figure, name = read_figure(content), content["name"]
    (block,) = content["runs"]
    first = [override for labels in block.values() for override in next(iter(labels.values()))]
    run = from_overrides([f"scale={scale}", f"paper={figure.paper}", *first, *figure.common, *sizes, *machine])
    for line in announcement({name: missing_data(figure)}):
        print(line, flush=True)
    n_repetitions = math.prod(map(len, block.values())) * (until or run.settings.repetitions)
    command_line = shlex.join(["python", "-m", "runners.compare", *words])
    where = f"compare/{name}"
    with alone(results_folder() / where, "name"):
        result = reproduce_figure(
            FigureRun(figure, where, scale, sizes, command_line, until_decided=until, formats=formats, size=size),
            jobs=min(run.settings.jobs, n_repetitions),
            runner=run.runner,
        )
        write_text(result.folder / COMPARISON, json.dumps(content, indent=1) + "\n")
        write_gallery(results_folder())
        table = from_csv(result.folder / "table.csv")
    print(_text(table, result.claims, content["panels"]))
    for line in _unequal_spaces(run):
        print(line)
    for suffix in ("png", *formats):
        print(
            f"table: {result.folder / 'table.tex'}" if suffix == "tex" else f"picture: {result.folder / name}.{suffix}"
        )
    print(f"page: {result.folder / 'index.html'}")
    return result.complete


def _unequal_spaces(run: Run) -> Iterator[str]:
    """Yield what to say of hyper-parameters whose candidates lie outside of the interval that other tuners search."""
    from bench.algorithms.contextual import ContextualAlgorithm  # slow to import
    from runners.config.classes import construct
    from runners.config.experiment import part_classes

    settings = run.experiment.settings
    cls = part_classes(settings).get("algorithm")
    algorithm = construct("algorithm", cls, settings["algorithm"]) if cls else None
    for parameter in algorithm.tuned.parameters if isinstance(algorithm, ContextualAlgorithm) else ():
        candidates = [value for value in parameter.candidates if isinstance(value, int | float)]
        low, high = parameter.low, parameter.high
        if low is not None and high is not None and not all(low <= value <= high for value in candidates):
            listed = ", ".join(f"{value:g}" for value in candidates)
            yield (
                f"{parameter.name}: the candidates are {listed}, the interval is {low:g} to {high:g}, and a tuner may "
                "use one of the two alone; with paper=tournament they have the same range"
            )


def _text(table: "pd.DataFrame", claims: "pd.DataFrame", panels: list[str]) -> str:
    """Return means with intervals, then the differences to the first tuner."""
    from bench.report.claims.judgement import in_words  # slow to import

    lines = []
    for _, row in table.iterrows():
        where = ", ".join(str(row[axis]) for axis in (*panels, METHOD))
        if not row["n"]:
            lines.append(f"  {where:<40} {'no results':>12}")
            continue
        interval = f"   95 % interval {row['ci_low']:.4g} .. {row['ci_high']:.4g}" * (row["ci_low"] == row["ci_low"])
        lines.append(f"  {where:<40} {row['mean']:>12.5g}{interval}")
    for _, claim in claims.iterrows():
        case = "" if claim["case"] in ("", "all") else f" ({claim['case']})"
        note = f"; {claim['note']}" if claim["note"] else ""
        if claim["needs"] > 0:
            note += f"; about {claim['needs']:,.0f} repetitions would decide it"
        difference = f", difference {claim['estimate']:.4g} [{claim['ci_low']:.4g}, {claim['ci_high']:.4g}]"
        difference *= not math.isnan(claim["estimate"])
        verdict = in_words(claim["verdict"]) + _HOLM.get(claim["holm"], "")
        lines.append(f"  {claim['text']}{case}: {verdict}{difference}{note}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
