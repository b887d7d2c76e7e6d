"""The estimates of a figure's claims, with a row per case on one axis."""

from collections.abc import Mapping

import pandas as pd

from bench.errors import ConfigError
from bench.report.claims.check import verdicts_on
from bench.report.claims.judgement import NO_EVIDENCE
from bench.report.plot import INTERVAL, Look, Plot, row_panel, wrapped
from bench.report.results import Results
from bench.report.rows import Rows
from bench.report.style import CHARCOAL

_ROW, _WIDTH, _LETTERS = 0.3, 8.4, 34


class Cases(Rows):
    """The estimate of every case of the figure's claims, in one unit, with its interval.

    ``reference_line`` is the reference of the estimates, such as 1 for ratios of regret to a bound.
    """

    def check(self, results: Results) -> None:
        super().check(results)
        if not self.claims:
            raise ConfigError(f"{self.where}: found no claims, expected some, because kind 'cases' draws their cases")

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        cases = verdicts_on(results).to_dict("records")
        names = [wrapped(f"{case['claim']}: {case['case']}", _LETTERS) for case in cases]
        panel = row_panel("", self.x_label or cases[0]["unit"], names, 0.55)
        plot = self.blank(results, (case["claim"] for case in cases))
        plot.panels.append(panel)
        for row, case in enumerate(cases):
            if pd.notna(case["estimate"]):
                fill = "none" if case["verdict"] == NO_EVIDENCE else ""
                look = plot.look(case["claim"], dash="none", marker="o", size=6.5, width=2.2, fill=fill, order=5)
                numbers = {"low": case["ci_low"], "high": case["ci_high"], "interval": "segment", "part": f"case {row}"}
                panel.add_in_row(row, case["claim"], case["estimate"], look, case=case["case"], **numbers)
        plot.explain("estimate", Look(CHARCOAL, "none", "o", size=6.5))
        plot.explain("no evidence", Look(CHARCOAL, "none", "o", size=6.5, fill="none"))
        plot.explain(INTERVAL, Look(CHARCOAL, width=2.2))
        if panel.marks:
            self.scale(plot, panel)
        self.fit(plot, _WIDTH, _ROW)
        return plot
