"""The page on the choice of a tuner: what it says follows from tables and verdicts, and comparisons name claims."""

from pathlib import Path

import pandas as pd
from test_prose import problem, tagged

from tools.docs import with_made_part
from tools.late import late_part, live_part
from tools.robust import robust_part
from tools.which_tuner import constants_part, which_tuner_page

CLAIMS = [
    ("UCB1", "all", "less", "holds"),
    ("Grid, then best", "all", "less", "tie"),
    ("Gaussian TS", "all", "less", "open"),
    ("OP", "all", "less", "fails"),
    ("best fixed", "all", "less", "fails"),
    ("random, UCB1", "all", "less", "holds"),
    ("random, OP", "all", "less", "open"),
    ("by family, UCB1", "arms", "less", "holds"),
    ("by family, OP", "arms", "less", "holds"),
    ("by family, Changepoint GP, rewards alone", "arms", "less", "no evidence"),
    ("by family, UCB1", "still peak", "less", "open"),
    ("by family, OP", "still peak", "less", "open"),
    ("Gaussian TS, UCB1", "arms", "less", "holds"),
    ("real data, UCB1", "all", "less", "fails"),
]


def results(folder: Path, claims=CLAIMS, pale=()) -> Path:
    own = folder / "tournament" / "ranks" / "paper"
    own.mkdir(parents=True)
    table = pd.DataFrame(claims, columns=["claim", "case", "expect", "verdict"])
    table.assign(holm=["no" if claim in pale else "yes" for claim in table["claim"]]).to_csv(
        own / "claims.csv", index=False
    )
    numbers = {"n": 30, "tasks": 2, "families": 2, "mean_rank": 1.25, "ci_low": 1.0, "ci_high": 1.5}
    ratios = {"relative": 0.5, "relative_low": 0.25, "relative_high": 0.75}
    methods = ["Changepoint GP", "UCB1"]
    rows = [{"method": method, **numbers, **ratios} for method in methods]
    pd.DataFrame(rows).to_csv(own / "ranks.csv", index=False)
    pd.DataFrame([{"part": "real data", **row} for row in rows]).to_csv(own / "apart.csv", index=False)
    families = ["arms", "still peak"]
    pd.DataFrame([{"family": family, **row} for family in families for row in rows]).to_csv(
        own / "table.csv", index=False
    )
    pd.DataFrame([{"family": family, "task": family, **row} for family in families for row in rows]).to_csv(
        own / "tasks.csv", index=False
    )
    return folder


def test_every_comparison_names_its_claim_and_is_no_stronger_than_its_verdict(tmp_path):
    page = which_tuner_page(results(tmp_path))
    found = tagged(page)
    assert len(found) == len(CLAIMS)
    assert [problem(one, tmp_path) for one in found] == [""] * len(CLAIMS)


def test_the_words_of_a_verdict(tmp_path):
    page = which_tuner_page(results(tmp_path))
    assert "- Changepoint GP against each of the others: less regret than UCB1 <!--" in page
    assert 'level with "Grid, then best" <!--' in page
    assert "more than OP, the best fixed configuration <!--" in page
    assert "less regret than UCB1, OP <!-- claim: tournament/ranks#by family, UCB1@arms: holds -->" in page
    assert "| UCB1 | `tuner=ucb1` | 1.2 (1.0 to 1.5) | 0.50 (0.25 to 0.75) |" in page


def test_what_does_not_remain_after_holms_correction_has_a_dagger(tmp_path):
    page = which_tuner_page(results(tmp_path, pale=["UCB1"]))
    assert "others: less regret than UCB1† <!--" in page
    assert page.count("†") == 2  # the other says what it is
    assert "Holm" in problem(tagged(page.replace("UCB1†", "UCB1"))[0], tmp_path)


def test_the_page_opens_with_what_to_type_for_each_kind_of_problem(tmp_path):
    folder = results(tmp_path)
    file = folder / "tournament" / "ranks" / "paper" / "table.csv"
    table = pd.read_csv(file).assign(relative=[0.5, 0.4, 0.2, 0.3])
    extra = table[:2].assign(method=["Changepoint GP, rewards alone", "Best fixed configuration"], relative=[0.41, 0.1])
    pd.concat([table, extra]).to_csv(file, index=False)
    lines = which_tuner_page(folder).splitlines()
    assert lines[2].startswith("| your problem")
    answers = {line.split(" | ")[0]: line for line in lines[4:12]}
    arms, still = answers["| A choice among a few arms"], answers["| One number, whose best value **stands still**"]
    assert arms.index("UCB1 `tuner=ucb1` 0.40") < arms.index("`tuner=changepoint_gp tuner.residual=null` 0.41")
    assert still.index("`tuner=changepoint_gp` 0.20") < still.index("`tuner=ucb1` 0.30")
    assert "`tuner=changepoint_gp` 0.50" not in arms  # of variants the better one
    assert "Best fixed" not in "".join(answers.values())


def test_many_names_are_counted_and_none_of_their_verdicts_is_lost(tmp_path):
    many = [(f"tuner {i}", "all", "less", "holds") for i in range(9)]
    page = which_tuner_page(results(tmp_path, many, pale=["tuner 3"]))
    assert "less regret than 9 of the others, 1 of which † <!--" in page
    assert len(tagged(page)) == 9
    assert "less regret than tuner 0, tuner 1," in which_tuner_page(results(tmp_path / "fewer", many[:8]))
    assert not list(filter(None, (problem(one, tmp_path) for one in tagged(page))))
    beside = which_tuner_page(results(tmp_path / "limit", [*many, ("best fixed", "all", "less", "holds")]))
    assert "less regret than 9 of the others and the best fixed configuration <!--" in beside


def test_without_results_it_says_so(tmp_path):
    page = which_tuner_page(tmp_path)
    assert "no results" in page
    assert not tagged(page)


def test_the_part_on_constants(tmp_path):
    own = tmp_path / "tournament" / "sensitivity" / "paper"
    own.mkdir(parents=True)
    rows = [("beta = 0.75", "holds"), ("level = 2", "tie"), ("every = 4", "open"), ("points = 40", "fails")]
    table = pd.DataFrame([(claim, "all", "greater", verdict) for claim, verdict in rows])
    table.set_axis(["claim", "case", "expect", "verdict"], axis=1).assign(holm="yes").to_csv(
        own / "claims.csv", index=False
    )
    part = constants_part(tmp_path)
    assert [problem(one, tmp_path) for one in tagged(part)] == [""] * 4
    assert "more regret with `beta = 0.75` <!--" in part
    assert "less regret with `points = 40` <!--" in part
    assert with_made_part("a\n<!-- made by make docs -->\nold\n<!-- end -->\nb\n", "new") == (
        "a\n<!-- made by make docs -->\nnew\n<!-- end -->\nb\n"
    )
    assert "no results" in constants_part(tmp_path / "nowhere")


def figure_of(folder: Path, name: str, rows: list[tuple[str, str, float]]) -> None:
    """Write the claims of a figure: id, verdict, and the share by which regret grows, with ends a tenth beside it."""
    own = folder / "tournament" / name / "paper"
    own.mkdir(parents=True)
    table = pd.DataFrame(
        [(claim, "all", "greater", verdict, "yes", x, x - 0.1, x + 0.1) for claim, verdict, x in rows],
        columns=["claim", "case", "expect", "verdict", "holm", "relative", "relative_low", "relative_high"],
    )
    table.to_csv(own / "claims.csv", index=False)


def test_the_parts_on_late_rewards_name_the_four_that_lose_least_and_most(tmp_path):
    assert "no results" in late_part(tmp_path)
    assert "no results" in live_part(tmp_path)
    conditions = ("delay 1", "delay 10", "delay 100", "batch 50", "hold 20")
    methods = [*(f"T{number}" for number in range(8)), "Changepoint GP"]
    figure_of(
        tmp_path,
        "late",
        [(f"{name}, {method}", "holds", 0.25 * place) for name in conditions for place, method in enumerate(methods)],
    )
    least, most = late_part(tmp_path).splitlines()[2].split("; and these the most: ")
    assert (
        least.split("add: ")[1]
        == "T0 (0 % (\u221210 to +10)), T1 (+25 % (+15 to +35)), T2 (+50 % (+40 to +60)), T3 (+75 % (+65 to +85))"
    )
    assert [word for word in most.split() if word[0] == "T" or word == "GP"] == ["GP", "T7", "T6", "T5"]
    told = ("a tenth of it", "ten times it")
    figure_of(tmp_path, "wrong_horizon", [(f"{name}, Changepoint GP", "tie", 0.0) for name in told])
    variants = ("Changepoint GP", "Changepoint GP, told 1 million", "Changepoint GP, told 1 million, 1,000 changes")
    figure_of(
        tmp_path,
        "new_best",
        [
            (variants[0], "holds", 0),
            (variants[1], "fails", 0),
            (variants[2], "open", 0),
            ("expecting changes", "open", 0),
        ],
    )
    part = live_part(tmp_path)
    assert "delay 1 +200 % (+190 to +210); delay 10 +200 %" in part
    assert "a tenth of it 0 % (\u221210 to +10)" in part
    assert [problem(one, tmp_path) for one in tagged(part)] == [""] * 3
    assert "more regret than the old best played throughout with a horizon of a million <!--" in part


def test_the_part_on_outliers_has_a_row_for_each_kind_of_noise(tmp_path):
    assert "no results" in robust_part(tmp_path)
    own = tmp_path / "tournament" / "robust" / "paper"
    own.mkdir(parents=True)
    (own / "claims.csv").write_text(
        "claim,case,verdict,holm,relative,relative_low,relative_high\n"
        '"Changepoint GP, robust",one off,holds,yes,-0.5,-0.6,-0.4\n'
        '"Changepoint GP, robust",none,open,,0.004,-0.1,0.2\n'
        '"TV-GP-UCB, estimated",one off,fails,no,0.3,0.1,0.5\n'
        '"TV-GP-UCB, estimated",none,open,,,,\n'
    )
    assert robust_part(tmp_path).splitlines() == [
        "| rewards | with `robust` | TV-GP-UCB, estimated |",
        "| --- | ---: | ---: |",
        "| one off | \u221250 % (\u221260 to \u221240) | +30 % (+10 to +50)† |",
        "| none | 0 % (\u221210 to +20) |  |",
    ]
