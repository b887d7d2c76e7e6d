"""Tuners side by side: python -m runners.compare tuner=my_module.MyTuner,tl,cdt env=synthetic_linear jobs=2.

All words are those of ``runners.run``. Values with commas between them are compared: tuners as lines; all else, such as
``env=synthetic_linear,movielens`` or ``env.dim=5,25``, as panels. ``lines=algorithm`` makes lines of algorithms,
``lines=tuner,algorithm`` of all pairs. The first line is held against every other one. Tuners, environments and
algorithms may be your own classes, and take settings in parentheses: "tuner=cdt,cdt(radius_scale=0.5)", in quotes
because of the parentheses; ``tuner.radius_scale=0.5`` alone is for all of them. A name before a value is its label:
"tuner=Mine=my_module.MyTuner(threshold=0.9),tl" "env=Linear model=synthetic_linear,Films=movielens".

Besides: ``name``, the folder below ``results/compare/`` (default: made of what is compared), and ``column``, the column
of the trace that is compared (default: regret, or the mean reward per accepted round in a log, which has none; of
regret and seconds less is better, of others more).
``repetitions=until_decided`` adds repetitions where a verdict is open, up to ``max_repetitions`` (default: 400). A line
that cannot be run is left out, with ``strict=true`` it stops the others. ``y_scale=log``, ``x_scale=log`` and
``colors=TL:black,CDT:#d55e00`` say how it is drawn, ``rounds=500`` how many rounds of a curve are kept (default: 60).
``shard=3/40`` runs the third of forty shares of the repetitions and draws nothing: the same command without it collects
them. ``dry_run=true`` says how many repetitions are missing, and about how long they take.
``format=pdf,tex`` also writes the picture as PDF, with ``size=column`` or ``size=text`` as wide as that in a paper, and
the table as LaTeX. With each verdict stands whether it remains after Holm's correction for the number of verdicts.
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
    """Run what is missing of every combination, draw a figure, print what differs; return whether nothing failed."""
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
    """Return means with intervals, and how many rounds were ``accepted``; then the differences to the first tuner."""
    from bench.report.claims.judgement import MIN_REPETITIONS  # slow to import

    lines = []
    rows = table.to_dict("records")  # what iterates over rows makes one type of all columns
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
        if claim["repetitions_needed"] > 0 and claim["n"] >= MIN_REPETITIONS:  # fewer foretell nothing
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
