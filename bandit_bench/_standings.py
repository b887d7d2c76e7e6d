"""A user's own tuners in the tournament: the figure with the committed results, its page, wins and losses."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bandit_bench._comparison import ComparisonResult
from bandit_bench._plan import METHOD
from bench.report.provenance import Provenance
from runners.config.figures import LabelledRun, load_figure
from runners.config.filled import filled

if TYPE_CHECKING:  # slow to import
    import pandas as pd

    from bench.report.kinds.ranking import Ranking

TASK, FAMILY, REFERENCE = "task", "family", "Random each round"
_PARTS = {"": "over all", FAMILY: "by family", TASK: "by task"}
"""Words for cases, by the axis whose labels make them."""


class TournamentResult(ComparisonResult):
    @property
    def standings(self) -> "pd.DataFrame":
        """The standing of each of your tuners over all families, in each family, and on each task.

        ``relative`` is the mean final regret divided by that of random configurations, with a 95 % interval, averaged
        over the tasks of a family and then over the families. ``wins`` and ``losses`` are the numbers of other tuners
        with more and less regret according to the paired difference; ``open`` is the number of undecided comparisons.
        """
        return self._csv("standings.csv", METHOD, "by", "part")


def task_of(labels: Mapping[str, str]) -> tuple[str, str]:
    return labels[FAMILY], labels[TASK]


def written(
    name: str,
    about: dict[str, Any],
    committed: Path,
    others: list[dict[str, Any]],
    runs: Sequence[LabelledRun],
    done: Mapping[str, Sequence[int]],
    notes: Sequence[str],
    *,
    is_complete: bool,
) -> TournamentResult:
    """Write and judge the figure of a user's runs and of the committed runs.

    ``about`` is the manifest without its runs. ``others`` holds the entries of the runs in the manifest of the folder
    ``committed``. ``done`` lists the repetitions of each run by id.
    """
    from bench.report.figure import read_figure  # slow to import
    from bench.report.folder import COMPARISON
    from bench.report.pictures import content, draw
    from bench.report.tables import to_csv
    from runners.results.aggregate import Repetitions, read_run
    from runners.results.capture import environment
    from runners.results.comparison_pages import write_comparisons
    from runners.results.derive import derive, long_tables, thinning
    from runners.results.folder import ResultFolder
    from runners.results.store import Store, results_folder

    own = list(dict.fromkeys(run.labels[METHOD] for run in runs))
    labels = [*(entry["labels"] for entry in others), *(run.labels for run in runs)]
    figure = cast("Ranking", read_figure(_figure(name, "/".join(committed.parts[-3:-1]), own, labels)))
    kept = ResultFolder(committed).repetitions(thinning(figure), {entry["key"] for entry in others})
    results, entries, store = [], list(others), Store(results_folder())
    for entry in others:
        of_run = sorted(kept[entry["key"]].items())[: entry["repetitions"]]
        results.append(Repetitions(entry["labels"], dict(of_run)))
    for run in runs:
        run_id, numbers = run.experiment.run_id, done[run.experiment.run_id]
        results.append(read_run(run.labels, run_id, numbers, store))
        entry = {"labels": run.labels, "overrides": run.overrides, "key": run.experiment.key}
        size = {"repetitions": len(numbers), "horizon": run.settings.horizon, "data": run.experiment.fingerprint}
        entries.append(entry | size)
    manifest = about | {"title": figure.heading, "runs": entries}
    provenance = Provenance.of_manifest(manifest).model_copy(update={"scale": ""})
    derived = derive(figure, results, {"": provenance})
    files: dict[str, bytes | None] = {**derived.files(), **long_tables(derived.results)}
    of_tasks = figure.on_tasks(derived.results)
    over_all = {method: of_tasks.over_tasks_of(method) for method in own}
    standings = _standings(derived.tables, over_all, derived.claims)
    files["standings.csv"] = to_csv(standings).encode()
    if derived.plot:
        page = draw(derived.plot)
        files |= {f"{name}.{kind}": content(page, kind) for kind in ("png", "svg")}
    shown = figure.given() | {"note": f"{_in_words(standings)} {figure.note}"}
    files[COMPARISON] = (json.dumps(shown, indent=1) + "\n").encode()
    folder = ResultFolder(results_folder() / "compare" / name)
    folder.write(files, manifest | {"provenance": provenance.model_dump(mode="json")}, environment())
    write_comparisons(results_folder(), name)
    return TournamentResult(folder.path, figure, is_complete=is_complete, notes=notes)


def _figure(name: str, committed: str, own: Sequence[str], labels: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the tournament's figure for the given labels, with claims that compare each own tuner with every other."""
    others = list(dict.fromkeys(of_run[METHOD] for of_run in labels if of_run.get(METHOD, "") not in ("", *own)))
    claims = [
        {
            "id": _id(mine, other, part),
            "text": f"{mine} has less regret than {other}, {words}",
            "kind": "relative_difference",
            "expect": "less",
            "over": [FAMILY, TASK],
            "reference": {METHOD: REFERENCE},
            "left": {METHOD: mine},
            "right": {METHOD: other},
            "per": [part] if part else [],
        }
        for part, words in _PARTS.items()
        for mine in own
        for other in others
    ]
    given = {
        "name": name,
        "paper": "tournament",
        "kind": "ranking",
        "title": f"{', '.join(own)} in the tournament: regret relative to a random configuration in each round",
        "note": f"All others are the committed results of {committed}, of the same seeds",
        "column": "regret",
        "reference": {METHOD: REFERENCE},
        "duplicates": filled(committed).get("duplicates", []),
        "runs": [{axis: {label: []} for axis, label in of_run.items()} for of_run in labels],
        "claims": claims,
    }
    return load_figure(committed).restrict(given, {label for of_run in labels for label in of_run.values()})


def _in_words(standings: "pd.DataFrame") -> str:
    """Return a sentence with the standings over all families and in each family."""
    parts = [
        f"{row[METHOD]}, {row['part']}: {row['relative']:.2f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}] of random's "
        f"regret, {row['wins']} wins, {row['losses']} losses, {row['open']} open"
        for row in standings[standings["by"] != _PARTS[TASK]].to_dict("records")
    ]
    return f"{'; '.join(parts)}."


def _id(mine: str, other: str, part: str) -> str:
    return f"{mine}, {other}, {_PARTS[part]}"


def _standings(
    tables: Mapping[str, "pd.DataFrame"], over_all: Mapping[str, "pd.DataFrame"], claims: "pd.DataFrame"
) -> "pd.DataFrame":
    """Return the table of `TournamentResult.standings`.

    ``tables`` holds the tables of the figure. ``over_all`` holds, for each of a user's tuners, the means over the tasks
    that the tuner plays; the table ``ranks`` of the figure leaves out families that some tuners cannot play, such as
    the arms.
    """
    import pandas as pd

    ends = {"relative_low": "ci_low", "relative_high": "ci_high"}
    whole = pd.concat([table[table[METHOD] == method] for method, table in over_all.items()])
    means, families = (table.drop(columns=[*ends.values()]).rename(columns=ends) for table in (whole, tables["table"]))
    everyone = {"": tables["ranks"], FAMILY: families, TASK: tables["tasks"]}
    rows = []
    for part, table in {"": means, FAMILY: families, TASK: tables["tasks"]}.items():
        for row in table[table[METHOD].isin(over_all)].to_dict("records"):
            ids = [_id(row[METHOD], other, part) for other in everyone[part][METHOD].unique()]
            cases = claims[claims["claim"].isin(ids)]
            verdicts = (cases[cases["case"] == row[part]] if part else cases)["verdict"]
            wins, losses = int((verdicts == "holds").sum()), int((verdicts == "fails").sum())
            counted = {"wins": wins, "losses": losses, "open": len(verdicts) - wins - losses}
            shown = {key: row[key] for key in ("n", "relative", "ci_low", "ci_high")}
            where = row[part] if part else "all families"
            rows.append({METHOD: row[METHOD], "by": _PARTS[part], "part": where, **shown, **counted})
    return pd.DataFrame(rows)
