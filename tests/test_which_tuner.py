"""The answers of docs/which_tuner.md follow from the tables of the tournament's results."""

from pathlib import Path

import pandas as pd

from tools.which_tuner import answers_part, words_part


def results(folder: Path, relative: dict[tuple[str, str], float]) -> Path:
    """Write tables of the figure of ranks with the regret of each method in each family of tasks."""
    own = folder / "tournament" / "ranks" / "paper"
    own.mkdir(parents=True)
    (own / "manifest.json").write_text("{}")
    rows = [
        {"family": family, "method": method, "relative": x, "relative_low": x - 0.1, "relative_high": x + 0.1}
        for (family, method), x in relative.items()
    ]
    pd.DataFrame(rows).to_csv(own / "table.csv", index=False)
    for name in ("ranks", "apart"):
        pd.DataFrame(columns=["part", *rows[0]]).to_csv(own / f"{name}.csv", index=False)
    return folder


def test_each_kind_of_problem_is_answered_by_the_tuners_with_the_least_regret_in_it(tmp_path: Path) -> None:
    """The better variant of each tuner, and no method that cannot be chosen."""
    regret = {
        ("arms", "Changepoint GP"): 0.5, ("arms", "UCB1"): 0.4, ("arms", "Changepoint GP, rewards alone"): 0.41,
        ("arms", "Best fixed configuration"): 0.1, ("still peak", "Changepoint GP"): 0.2, ("still peak", "UCB1"): 0.3,
    }  # fmt: skip
    folder = results(tmp_path, regret)
    _, _, *rows = answers_part(folder).splitlines()
    assert [row.strip("| ").split(" | ")[1:] for row in rows] == [
        ["Changepoint GP 0.20 (0.10 to 0.30)", "UCB1 0.30 (0.20 to 0.40)", "`ranks`"],
        ["UCB1 0.40 (0.30 to 0.50)", "Changepoint GP, rewards alone 0.41 (0.31 to 0.51)", "`ranks`"],
    ]
    assert words_part(folder).splitlines()[2:] == [
        "| Changepoint GP | `tuner=changepoint_gp` |",
        "| Changepoint GP, rewards alone | `tuner=changepoint_gp tuner.residual=null` |",
        "| UCB1 | `tuner=ucb1` |",
    ]
