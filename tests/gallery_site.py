"""Made-up results of figures of all kinds, for the tests of the gallery."""

import json
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rendered import render

from bench.audit.published import PublishedOverview
from bench.gallery.build import build
from bench.gallery.papers import read_papers
from bench.report.figure import read_figure
from bench.report.pictures import content, draw
from bench.report.provenance import Provenance
from bench.report.results import Results
from bench.report.tables import to_csv

EVIL = "<script>alert('&')</script>\"'><x-evil onclick=alert(1)>${7*7}{{7*7}}"
METHODS = ["TL", 'OP & "co" <b>']
PANELS = ["LinUCB, simulation", "LinTS: 50 %"]
ROUNDS = np.arange(1, 200, 20)
LAST = int(ROUNDS[-1])
REPETITIONS = 6
_EXP3 = {"name": "exp3", "n_arms": 5}
_BLOCK: dict[str, Any] = {"panel": {label: [] for label in PANELS}, "method": {label: [] for label in METHODS}}


def _figure(name: str, kind: str, **keys: Any) -> dict[str, Any]:
    return {
        "name": name,
        "title": f"A figure of kind {kind}",
        "kind": kind,
        "column": "regret",
        "runs": [_BLOCK],
    } | keys


def _grid(values: list[float], axis: str) -> list[dict[str, Any]]:
    return [
        {"panel": {"fixed": []}, "method": {"Fixed": []}, axis: {"values": values, "override": "a={}"}},
        {"panel": {"fixed": []}, "method": {"Theory": []}},
    ]


CURVES = _figure(
    "figure2",
    "curves",
    title=f"Regret {EVIL}",
    published=[{"panel": PANELS[0], "method": "TL", "what": "mean", "value": 40.0}],
    bounds=[{"measured": {"method": "TL"}, "formula": _EXP3}],
    claims=[
        {"id": "1", "text": f"TL is better {EVIL}", "kind": "paired_difference", "column": "regret", "expect": "less",
         "left": {"method": "TL"}, "right": {"method": METHODS[1]}, "per": ["panel"]},
    ],
)  # fmt: skip
GRID = _figure(
    "table1",
    "grid",
    title="Grid",
    axis="alpha",
    runs=_grid([0, 0.5, 1], "alpha"),
    published=[{"panel": "fixed", "method": "Fixed", "what": what, "value": value}
               for what, value in (("best", 0.5), ("mean", 44.0))],
)  # fmt: skip
FIGURES_MADE = {
    "syndicated/figure2": CURVES,
    "syndicated/table1": GRID,
    "syndicated/unmade": _figure("unmade", "curves", title="Not yet"),
    "habo/longer": _figure(
        "longer",
        "grid",
        axis="horizon",
        best="none",
        runs=_grid([100, 200, 400], "horizon")[:1],
        bounds=[{"label": "bound of EXP3", "formula": _EXP3}],
    ),
    "habo/dots": _figure(
        "dots",
        "dots",
        reference_line=60,
        reference_label="a line",
        published=[{"panel": PANELS[0], "method": "TL", "what": "mean", "value": 55.0}],
    ),
    "habo/spread": _figure("spread", "dots", quantiles=True, reference_line=60, reference_label="a line"),
    "habo/limits": _figure(
        "limits",
        "bench.papers.syndicated.Cases",
        reference_line=1,
        claims=[{"id": "b", "text": "Under the bound", "kind": "bound", "column": "regret", "per": ["panel"],
                 "measured": {"method": "TL"}, "formula": _EXP3}],
    ),
    "habo/seconds": _figure(
        "seconds",
        "timing",
        column="seconds",
        reference={"method": "TL"},
        published=[{"panel": PANELS[0], "method": "TL", "what": "mean", "value": 2.0}],
    ),
    "habo/smooth": _figure("smooth", "bench.papers.cdt.lipschitz.Lipschitz", blocks=2, x_label="rate"),
    "habo/ranks": _figure(
        "ranks",
        "ranking",
        runs=[{"task": {label: [] for label in PANELS}, "method": {label: [] for label in METHODS}}],
        reference={"method": "TL"},
    ),
    "habo/examples": {
        "name": "examples", "title": "Examples", "kind": "bench.papers.habo.worked_examples.WorkedExamples",
        "caption": "Words.",
    },
}  # fmt: skip
"""All figures by name; all but one have results."""


def made_up(figure: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return made-up mean curves and final values of a figure."""
    if figure["kind"] == "bench.papers.habo.worked_examples.WorkedExamples":
        return pd.DataFrame(), pd.DataFrame()
    rng = np.random.default_rng(0)
    data = Results(read_figure(figure))
    curves, finals = [], []
    for place, key in enumerate(data.experiments):
        labels = data.as_dict(key)
        rounds = int(labels.get("horizon") or LAST)
        ends = 50.0 + 20 * place + rng.normal(size=REPETITIONS)
        columns = {"regret": ends, "random_regret": rounds / 1.2, "seconds": ends / 20}
        finals.append(pd.DataFrame({**labels, "repetition": range(REPETITIONS), "rounds": rounds, **columns}))
        if figure["kind"] == "curves":
            parts = {"regret": ends.mean(), "random_regret": 150.0}
        elif figure["kind"] == "bench.papers.cdt.lipschitz.Lipschitz":
            parts = {f"probe_{value}": 10 * value + place for value in (1, 2, 3)}
        else:
            parts = {}
        for column, end in parts.items():
            mean = end * np.sqrt(ROUNDS / LAST)
            band = {"mean": mean, "std": 1.0, "ci_low": mean - 1, "ci_high": mean + 1, "n": REPETITIONS}
            curves.append(pd.DataFrame({**labels, "column": column, "round": ROUNDS, **band}))
    return pd.concat(curves) if curves else pd.DataFrame(), pd.concat(finals)


def write(folder: Path, figure: dict[str, Any], *, surrogate: bool = False, data: str = "06416e597f82b734") -> None:
    """Write the made-up files of a figure."""
    curves, finals = made_up(figure)
    provenance = Provenance(
        scale="quick", repetitions=(REPETITIONS,), horizons=(LAST,), surrogate=("movielens",) if surrogate else ()
    )
    made = render(figure, curves, finals, provenance=provenance)
    folder.mkdir(parents=True)
    found = {**made.tables, "claims": made.claims, "finals": finals, "curves": curves}
    for name, table in found.items():
        if len(table) or name == "claims":
            (folder / f"{name}.csv").write_text(to_csv(table))
    run = {"key": "0" * 20, "repetitions": REPETITIONS, "horizon": LAST, "labels": {}}
    manifest = {
        "command": f"python -m runners.reproduce figure=syndicated/{figure['name']} '{EVIL}'",
        "settings": [
            {"key": "env.dim", "values": [10, EVIL], "source": "stated", "where": f"section 6 {EVIL}"},
            {"key": "horizon", "values": [LAST], "source": "scale", "where": "as the scale says"},
        ],
        "published": figure.get("published", []),
        "provenance": provenance.model_dump(mode="json"),
        "runs": [{**run, "data": "surrogate" if surrogate else data}, {**run, "key": "1" * 20, "data": None}],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "environment.json").write_text(json.dumps({"seconds_per_repetition": {"0" * 20: 20.0, "1" * 20: 20.0}}))
    if made.plot:
        (folder / f"{figure['name']}.svg").write_bytes(_drawn(pickle.dumps(made.plot)))
        (folder / f"{figure['name']}.png").write_bytes(b"\x89PNG")  # which no page shows


@cache
def _drawn(plot: bytes) -> bytes:
    """Return the picture of a plot; it is cached, because the same results have the same picture at every scale."""
    return content(draw(pickle.loads(plot)), "svg")


def write_site(root: Path) -> None:
    """Write the pages, and results of all figures, of which the first figure has several scales."""
    for name, figure in FIGURES_MADE.items():
        if name != "syndicated/unmade":
            write(root / name / ("paper" if name == "habo/limits" else "quick"), figure)
    write(root / "syndicated/figure2/paper-surrogate", CURVES, surrogate=True)
    write(root / "syndicated/figure2/smoke", CURVES, data="packaged-7e57c0de")
    write_pages(root)


def write_pages(root: Path) -> None:
    """Write the pages."""
    for page, text in build(read_papers(root, FIGURES_MADE)).items():
        (root / page).write_text(text)


def made_up_published() -> PublishedOverview:
    """Return made-up published numbers of a paper, with every verdict."""
    row = {"paper": "habo", "reading": "near", "figure": "dots"}
    verdicts = ("inside, under assumptions", "possible", "possible", "outside", "not run", "not run")
    shared = {
        **row,
        "panel": "",
        "method": "HABO",
        "published": 1.0,
        "ours": 2.5,
        "low": 2.0,
        "high": 3.0,
        "possible": 1,
        "tried": 3,
    }
    ours = {"what": "mean", "published": 1.0, "estimate": 2.5, "further_low": 2.0, "further_high": 3.0, "n": 3}
    ours |= {**row, "table": "figure4", "panel": "", "method": "HABO", "is_of_paper": True}
    placebo = {"numbers": 4, "exact": 0, "within": 3, "swapped": "1.0 [0, 2]", "times 0.8": 0, "reaches": "yes"}
    return PublishedOverview(
        pd.DataFrame([ours]),
        pd.DataFrame([{**shared, "cell": f"cell {i}", "verdict": verdict} for i, verdict in enumerate(verdicts)]),
        pd.DataFrame([{"paper": "habo", "reading": "near", **placebo}]),
        {("habo", "trees"): pd.DataFrame({"reading": ["far", "near"], "HABO": ["1.50 [1.4, 1.6]", "0.99 [0.9, 1.1]"]})},
    )
