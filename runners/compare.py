"""Tuners side by side: python -m runners.compare tuner=my_module.MyTuner,tl,cdt env=synthetic_linear jobs=2.

All words are those of ``runners.run``. Several values, separated by commas, are compared: tuners as lines; all others,
such as ``env=synthetic_linear,movielens`` or ``env.dim=5,25``, as panels. ``lines=algorithm`` makes lines of
algorithms, ``lines=tuner,algorithm`` of all pairs. The first line is compared with each of the others. Tuners,
environments and algorithms may be your own classes, and take settings in parentheses:
"tuner=cdt,cdt(radius_scale=0.5)", in quotes because of the parentheses; ``tuner.radius_scale=0.5`` applies to all
tuners. A name before a value is its label: "tuner=Mine=my_module.MyTuner(threshold=0.9),tl" "env=Linear
model=synthetic_linear,Films=movielens".

Further keys: ``name``, the folder below ``results/compare/`` (default: made from the compared parts), and ``column``,
the compared column of the trace (default: regret, or for a log, which has none, the mean reward per accepted round; of
regret and seconds less is better, of others more). ``repetitions=until_decided`` adds repetitions while a verdict is
open, up to ``max_repetitions`` (default: 400). A line that cannot be run is left out; with ``strict=true`` it stops the
others. ``y_scale=log``, ``x_scale=log`` and ``colors=TL:black,CDT:#d55e00`` affect the drawing, ``rounds=500`` is the
number of rounds of a curve (default: 60). ``shard=3/40`` runs the third of forty shares of the repetitions and draws
nothing: the same command without it collects them. ``dry_run=true`` prints the number of missing repetitions, and an
estimate of their time. ``format=pdf,tex`` also writes the picture as PDF, with ``size=column`` or ``size=text`` as wide
as that in a paper, and the table as LaTeX. Each verdict states whether it survives Holm's correction for the number of
verdicts.
"""

import math
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from runners.command import plain_command

if TYPE_CHECKING:  # slow to import
    import pandas as pd

METHOD = "method"
"""The axis whose labels are lines."""
_HOLM = {"yes": " (also after Holm's correction)", "no": " (not after Holm's correction)"}


def compare(words: list[str]) -> bool:
    """Run the missing repetitions of every combination, draw a figure, print differences; return whether all
    succeeded."""
    from bandit_bench._compare import compare as made  # slow to import
    from runners.comparison import arguments

    given = arguments(words)
    comparison = made(given.pop("tuners"), **given)
    if given.get("instead"):
        return True
    finals, table = comparison.finals, comparison.table
    panels = [axis for axis in table.columns[: table.columns.get_loc("n")] if axis != METHOD]
    accepted = finals.groupby([*panels, METHOD])["accepted"].mean().to_dict() if "accepted" in finals else {}
    print(_text(table, comparison.verdicts, panels, accepted))
    for line in comparison.notes:
        print(line)
    folder, name = comparison.folder, comparison.folder.name
    for suffix in ("png", *given["formats"]):
        print(f"table: {folder / 'table.tex'}" if suffix == "tex" else f"picture: {folder / name}.{suffix}")
    print(f"page: {folder / 'index.html'}")
    return comparison.is_complete


def _text(
    table: "pd.DataFrame", claims: "pd.DataFrame", panels: list[str], accepted: Mapping[Any, float] | None = None
) -> str:
    """Return means with intervals and numbers of ``accepted`` rounds, then the differences to the first tuner."""
    from bench.report.claims.judgement import MIN_REPETITIONS  # slow to import

    lines = []
    rows = table.to_dict("records")  # iterating over rows would give all columns one type
    places: dict[Any, int] = {}
    by_panel = [places.setdefault(tuple(row[panel] for panel in panels), len(places)) for row in rows]
    for _, row in sorted(zip(by_panel, rows, strict=True), key=lambda pair: pair[0]):
        labels = [row[axis] for axis in (*panels, METHOD)]
        where = ", ".join(f"{label:g}" if isinstance(label, float) else str(label) for label in labels)
        if not row["n"]:
            lines.append(f"  {where:<40} {'no results':>12}")
            continue
        interval = "" if math.isnan(row["ci_low"]) else f"   95 % interval {row['ci_low']:.4g} .. {row['ci_high']:.4g}"
        rounds = (accepted or {}).get(tuple(labels) if panels else row[METHOD])
        interval += "" if rounds is None else f"   {rounds:,.0f} accepted rounds"
        lines.append(f"  {where:<40} {row['mean']:>12.5g}{interval}")
    for _, claim in claims.iterrows():
        case = "" if claim["case"] in ("", "all") else f" ({claim['case']})"
        note = f"; {claim['note']}" if claim["note"] else ""
        if claim["repetitions_needed"] > 0 and claim["n"] >= MIN_REPETITIONS:  # fewer repetitions predict nothing
            note += f"; about {claim['repetitions_needed']:,.0f} repetitions would decide it"
        ends = "" if math.isnan(claim["ci_low"]) else f" [{claim['ci_low']:.4g}, {claim['ci_high']:.4g}]"
        difference = f", difference {claim['estimate']:.4g}{ends}"
        difference *= not math.isnan(claim["estimate"])
        verdict = claim["verdict"] + _HOLM.get(claim["holm"], "")
        lines.append(f"  {claim['text']}{case}: {verdict}{difference}{note}")
    return "\n".join(lines)


main = partial(plain_command, __doc__, compare)

if __name__ == "__main__":
    sys.exit(main())
