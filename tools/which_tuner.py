"""The page docs/which_tuner.md, made from the tables and verdicts of the tournament's reference results."""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined

from bench.report.tables import from_csv
from bench.report.tasks import BEST_FIXED, FAMILY, METHOD
from runners.config.tree import read

SCALES = ("paper", "paper-surrogate", "paper-custom")
"""Folders of reference results, the one that counts first."""
_PREFIXES = ("by family, ", "random, ", "real data, ", "Gaussian TS, ", "expecting changes")
"""How claims other than those of changepoint GP over all families begin."""
_WORDS = {
    "holds": "less regret than {}",
    "tie": "level with {}",
    "open": "cannot be told from {}",
    "fails": "more than {}",
    "no evidence": "no evidence against {}, where both are the same",
}
_AGAINST_RANDOM = {
    "holds": "less than them: {}",
    "tie": "level with them {}",
    "open": "cannot be told from them {}",
    "fails": "more than them: {}",
}
_OF_CONSTANTS = {
    "fails": "less regret with {}",
    "tie": "level with the default, within 10 %, {}",
    "open": "{} cannot be told from the default",
    "holds": "more regret with {}",
    "no evidence": "no evidence on {}, where nothing changes",
}
_PLAIN = {"holds": "less regret: {}", "tie": "level: {}", "open": "open: {}", "fails": "more: {}"}
_OF_HORIZONS = {
    "fails": "less regret than told the horizon: {}",
    "tie": "level with it, within 5 %: {}",
    "open": "cannot be told from it: {}",
    "holds": "more regret: {}",
    "no evidence": "no evidence, as they play the same: {}",
}
_OF_NEW_BEST = {
    "holds": "less regret: {}",
    "tie": "level with it: {}",
    "open": "cannot be told from it: {}",
    "fails": "more regret: {}",
}
_LIMIT = "best fixed"
_NAMES = {
    _LIMIT: "the best fixed configuration",
    "Random each round": "random configurations",
    "rewards alone": "the same from rewards alone",
    "Changepoint GP, rewards alone": "the same from rewards alone",
}
_PROBLEMS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("One number, whose best value **jumps**", "ranks", "table", {FAMILY: "moving peak"}),
    ("One number, whose best value **wanders**", "forgetting", "table", {FAMILY: "wandering peak"}),
    ("One number, whose best value **stands still**", "ranks", "table", {FAMILY: "still peak"}),
    (
        "A rate of a contextual bandit where contexts or rewards **drift** in any way",
        "contextual_drifting",
        "ranks",
        {},
    ),
    ("A rate of LinUCB, LinTS or another linear bandit", "ranks", "table", {FAMILY: "contextual linear"}),
    ("A setting of a generalised linear bandit", "ranks", "table", {FAMILY: "contextual GLM"}),
    ("A choice among a few arms", "ranks", "table", {FAMILY: "arms"}),
    ("Each round **trains** a model: 100 rounds", "ranks", "table", {FAMILY: "training tables"}),
    ("Each round is a trial on logged data: 100 rounds", "ranks", "table", {FAMILY: "off-policy"}),
    ("**Few rounds**: 2,000, type of problem unknown", "short", "ranks", {}),
    ("Many rounds: 10,000, type of problem unknown", "ranks", "ranks", {}),
    ("Exploration on **labelled data**: 2,000 rounds", "labelled", "ranks", {}),
    ("Rewards come **100 rounds late**, type of problem unknown: 2,000 rounds", "late", "table", {FAMILY: "delay 100"}),
    ("Rewards come in **batches** of 50", "late", "table", {FAMILY: "batch 50"}),
    ("A configuration is **held** for 20 rounds", "late", "table", {FAMILY: "hold 20"}),
    (
        "Another setting **becomes better**, while the one in use stays as good",
        "new_best",
        "table",
        {FAMILY: "new best, midway"},
    ),
    ("**Real data**: MovieLens, Titanic, house prices", "ranks", "apart", {"part": "real data"}),
)
"""Kinds of problems, each with the figure, the table and the rows that speak of it."""
_MANY = 8
"""More names than these are counted, not listed: their tags say which they are."""
_OTHERS = {
    "short": "2,000 rounds",
    "long": "50,000 rounds",
    "held_out": "Tasks that were held out",
    "unseen": "Unseen tables and families",
    "contextual_drifting": "Contextual bandits that drift",
    "forgetting": "Gaussian processes that forget",
    "labelled": "Labelled data",
}


def which_tuner_page(results: Path) -> str:
    """Return the page as Markdown, from a folder of results."""
    pages = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    ranks = reference_figure(results, "ranks")
    return pages.from_string(Path(__file__).with_name("which_tuner.md.j2").read_text(encoding="utf-8")).render(
        ranks=ranks if ranks and "families" in ranks.table("ranks") else None,
        others=[(figure, title) for name, title in _OTHERS.items() if (figure := reference_figure(results, name))],
        profiles=reference_figure(results, "profiles"),
        late=reference_figure(results, "late"),
        horizon=reference_figure(results, "wrong_horizon"),
        new_best=reference_figure(results, "new_best"),
        of_horizons=_OF_HORIZONS,
        of_new_best=_OF_NEW_BEST,
        yoked=reference_figure(results, "yoked"),
        forgetting=reference_figure(results, "forgetting"),
        answers=list(_answers(results)),
        keys=_keys(),
        has_costs=(results / "benchmark" / "tuners.md").is_file(),
        against_random=_AGAINST_RANDOM,
        interval=_interval,
        ratio=_ratio,
    )


def _answers(results: Path) -> Iterator[tuple[str, list[dict[Any, Any]]]]:
    """Yield each kind of problem with the three tuners that have the least regret in it; of variants the first."""
    keys = _keys()
    for problem, name, file, chosen in _PROBLEMS:
        if figure := reference_figure(results, name):
            table = figure.table(file)
            for column, value in chosen.items():
                table = table[table[column] == value]
            table = table[table[METHOD].isin(keys)].sort_values("relative", kind="stable")
            tuners = table[METHOD].map(lambda method: keys[method].partition(" ")[0])
            if len(table):
                yield problem, table[~tuners.duplicated()].head(3).to_dict("records")


def _keys() -> dict[str, str]:
    """Return what is typed for each tuner of the tournament."""
    figures = [read(f"figure/tournament/{name}")["runs"][0][METHOD] for name in ("late", "forgetting", "ranks")]
    return {str(label): " ".join(words) for methods in figures for label, words in methods.items()}


def constants_part(results: Path) -> str:
    """Return what docs/changepoint_gp.md says of the figure of its constants: the picture, and the claims."""
    figure, told = reference_figure(results, "sensitivity"), reference_figure(results, "told")
    if figure is None:
        return "On all families of the tournament: `figure=tournament/sensitivity`, of which there are no results yet."
    parts = "; ".join(figure.parts(figure.claims, _OF_CONSTANTS, "`{}`".format))
    title = "How much depends on being told the number of changes, for the tuners that want it"
    return (
        f"![Each constant halved and doubled, on all families]({figure.link('sensitivity.svg')})\n\n"
        f"On all families of the tournament, each counted once († not after Holm's correction): {parts}."
        + (f"\n\n![{title}]({told.link('told.svg')})" if told else "")
    )


def reference_figure(results: Path, name: str) -> "ReferenceFigure | None":
    """Return the reference results of a figure of the tournament, None if there are none."""
    folders = [results / "tournament" / name / scale for scale in SCALES]
    folder = next((folder for folder in folders if (folder / "claims.csv").is_file()), None)
    return ReferenceFigure(name, folder) if folder else None


class ReferenceFigure:
    """The reference results of a figure of the tournament."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.claims = pd.read_csv(folder / "claims.csv", dtype=str, keep_default_na=False)

    def table(self, name: str) -> pd.DataFrame:
        return from_csv(self.folder / f"{name}.csv")

    def link(self, file: str) -> str:
        return f"../results/tournament/{self.name}/{self.folder.name}/{file}"

    def grid(self, name: str, column: str = FAMILY, cell: Callable[[Any], str] = "{relative:.2f}".format_map) -> str:
        """Return a table with a row for each method and a column for each value of ``column``."""
        table = self.table(name)
        return _grid(table, METHOD, column, list(table[column].unique()), cell)

    def estimates(self) -> str:
        """Return what the algorithm's estimate is worth, as a table of the tasks that have one."""
        tasks = self.table("tasks")
        methods = ["Changepoint GP", "Changepoint GP, rewards alone", BEST_FIXED]
        tasks = tasks[tasks[METHOD].isin(methods) & tasks[FAMILY].str.startswith("contextual")]
        return _grid(
            tasks, "task", METHOD, methods, lambda row: _interval(row["relative"], row["ci_low"], row["ci_high"])
        )

    def lowest(self, family: str) -> str:
        """Return the method with the lowest mean in a family, and its ratio."""
        table = self.table("table")
        rows = table[(table[FAMILY] == family) & (table[METHOD] != BEST_FIXED)]
        first = rows.sort_values("relative").iloc[0]
        return f"{first[METHOD]}, {_ratio(first)}"

    def leaders(self) -> str:
        """Return a table of the least mean in each family, and of the methods whose interval overlaps its own."""
        table = self.table("table")
        lines = ["| family | least regret | intervals overlap |", "| --- | --- | --- |"]
        for family, rows in table[table[METHOD] != BEST_FIXED].groupby(FAMILY, sort=False):
            first, *others = rows.sort_values("relative", kind="stable").to_dict("records")
            tied = [row for row in others if row["relative_low"] <= first["relative_high"]]
            names = ", ".join(f"{_quoted(row[METHOD])} {row['relative']:.2f}" for row in tied) or "none"
            names = names if len(tied) <= _MANY else f"{len(tied)} of {len(others)} others"
            lines.append(f"| {family} | {first[METHOD]} {_ratio(first)} | {names} |")
        return "\n".join(lines)

    def families(self, prefix: str) -> list[str]:
        return list(self.claims[self.claims["claim"].str.startswith(prefix)]["case"].unique())

    def said(
        self, subject: str, prefix: str = "", case: str = "all", words: Mapping[str, str] = _WORDS, most: int = _MANY
    ) -> str:
        """Return a line on what the claims with a prefix say of one tuner against others; "" without any."""
        claim = self.claims["claim"]
        is_meant = claim.str.startswith(prefix) if prefix else ~claim.str.startswith(_PREFIXES)
        rows = self.claims[is_meant & (self.claims["case"] == case)]
        most = most if prefix in ("", "random, ") else len(rows)
        parts = self.parts(rows, words, lambda name: _name(name.removeprefix(prefix)), most)
        return f"- {subject} {'; '.join(parts)}.\n" if parts else ""

    def row(self, case: str, *prefixes: str) -> str:
        """Return a row of a table on a case: a cell for the claims with each prefix."""
        return f"| {case} | {' | '.join(self._cell(case, prefix) for prefix in prefixes)} |\n"

    def _cell(self, case: str, prefix: str) -> str:
        rows = self.claims[self.claims["claim"].str.startswith(prefix) & (self.claims["case"] == case)]
        return "; ".join(self.parts(rows, _PLAIN, lambda name: name.removeprefix(prefix)))

    def parts(
        self, claims: pd.DataFrame, words: Mapping[str, str], name: Callable[[str], str], most: int = 99
    ) -> list[str]:
        """Return for each verdict its words and the claims' tags: tags in a row belong to the same words.

        A name whose verdict does not remain after Holm's correction has a dagger; more than ``most`` are counted.
        """
        parts = []
        for verdict, rows in claims[claims["verdict"].isin(words)].groupby("verdict"):
            pale = rows["holm"].eq("no")
            names = ", ".join(f"{name(claim)}{'†' * no}" for claim, no in zip(rows["claim"], pale, strict=True))
            if len(rows) > most:
                is_limit = rows["claim"] == _LIMIT
                names = f"{(~is_limit).sum()} of the others{f', {pale.sum()} of which †' if pale.any() else ''}"
                names += f" and {_NAMES[_LIMIT]}" * bool(is_limit.any())
            cases = rows["case"].map(lambda case: "" if case == "all" else f"@{case}")
            tags = f"<!-- claim: tournament/{self.name}#" + rows["claim"] + cases + f": {verdict!s} -->"
            parts.append((list(words).index(str(verdict)), f"{words[str(verdict)].format(names)} {' '.join(tags)}"))
        return [text for _, text in sorted(parts)]


def _grid(table: pd.DataFrame, row: str, column: str, columns: list[str], cell: Callable[[Any], str]) -> str:
    head = "task" if row == "task" else "tuner"
    lines = [f"| {head} | {' | '.join(columns)} |", "| --- |" + " ---: |" * len(columns)]
    for name, group in table.groupby(row, sort=False):
        cells = {record[column]: cell(record) for record in group.to_dict("records")}
        lines.append(f"| {name} | {' | '.join(cells.get(key, '') for key in columns)} |")
    return "\n".join(lines)


def _name(claim: str) -> str:
    return _NAMES.get(claim, _quoted(claim))


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name


def _ratio(row: Any) -> str:
    return _interval(row["relative"], row["relative_low"], row["relative_high"])


def _interval(value: float, low: float, high: float, digits: int = 2) -> str:
    if math.isnan(value):
        return ""
    ends = f" ({low:.{digits}f} to {high:.{digits}f})" if math.isfinite(low) else ""
    return f"{value:.{digits}f}{ends}"
