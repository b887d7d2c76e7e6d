"""Readings: their runs, and the claims and published numbers under each."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from rendered import finals_of, render
from scipy import stats

from bench.audit.readings import AS_PRINTED, claims_table, numbers_table
from bench.report.claims.check import verdicts_on
from bench.report.figure import read_figure
from bench.report.provenance import Provenance
from bench.report.results import Results
from runners.config.figures import by_reading, expand, without_reading
from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure

PRINTED = {"name": "as printed", "source": ["stated", "section 6"], "text": "The figure unchanged"}
QUIET = {
    "name": "less noise",
    "source": ["code", "github.com/owner/name, run.py at 0123456 (2021-05-26)"],
    "text": "The noise is smaller",
    "overrides": [{"only": {"method": ["TL"]}, "overrides": ["env.noise_std=0.01"]}],
}
FIGURE = {
    "name": "made_up",
    "paper": "syndicated",
    "kind": "dots",
    "column": "regret",
    "horizon": 40,
    "common": ["env=synthetic_linear", "algorithm=linucb", "env.dim=3", "env.n_arms=5"],
    "scales": {"smoke": {"max_horizon": 40, "max_repetitions": 2}},
    "runs": [{"method": {"TL": ["tuner=tl"], "OP": ["tuner=op"]}}],
    "published": [{"method": "TL", "what": "mean", "value": 12.0}, {"method": "OP", "what": "mean", "value": 500.0}],
    "claims": [
        {"id": "1", "text": "TL ends with less regret than OP", "kind": "paired_difference",
         "left": {"method": "TL"}, "right": {"method": "OP"}, "expect": "less",
         "origin": "theorem", "place": "theorem 1: sqrt(T)"},
    ],
    "readings": [PRINTED, QUIET],
}  # fmt: skip
PLAIN = {key: value for key, value in FIGURE.items() if key != "readings"}
SIZE = Provenance(scale="paper", repetitions=(6,), horizons=(100,))


def with_readings(*readings):
    return FIGURE | {"readings": list(readings)}


def finals(tl, op):
    return finals_of({"TL": tl, "OP": op}, "method", rounds=100)


def results(figure, finals, provenance=SIZE):
    return Results(figure, finals=finals, provenance=provenance)


def under_both(figure, first, second):
    """Return a figure's results under two readings, given the final values under each."""
    finals = {"as printed": first, "less noise": second}
    return {name: results(figure, table) for name, table in finals.items()}


LOW, HIGH = [9.0, 10.0, 11.0, 9.5, 10.5, 10.0], [19.0, 20.0, 22.0, 19.5, 20.5, 21.0]


def test_runs_that_a_reading_does_not_change_are_the_same_experiments():
    drawn = expand(read_figure(FIGURE), "smoke", [])
    plain = expand(read_figure(PLAIN), "smoke", [])
    same = [(one.labels, one.overrides, one.experiment.run_id) for one in drawn[: len(plain)]]
    assert same == [(one.labels, one.overrides, one.experiment.run_id) for one in plain]
    positions = by_reading(read_figure(FIGURE), drawn)
    assert {name: len(own) for name, own in positions.items()} == {"as printed": 2, "less noise": 2}
    (tl, op), (quiet_tl, quiet_op) = ([drawn[i].experiment for i in own] for own in positions.values())
    assert quiet_op.run_id == op.run_id
    assert quiet_tl.run_id != tl.run_id
    assert quiet_tl.settings["env"]["noise_std"] == 0.01
    assert drawn[2].labels == {"method": "TL", "reading": "less noise"}
    assert without_reading(drawn[2]).labels == drawn[0].labels


def test_a_reading_replaces_keys_and_groups():
    theory = {"only": {"method": "TL"}, "overrides": ["tuner=theory"]}
    reading = QUIET | {"overrides": ["env=synthetic_linear_legacy", "env.dim=4", theory]}
    drawn = expand(read_figure(with_readings(PRINTED, reading)), "smoke", [])
    assert [one.choices["tuner"] for one in drawn] == ["tl", "op", "theory", "op"]
    assert [one.choices["env"] for one in drawn[2:]] == ["synthetic_linear_legacy"] * 2
    assert [one.experiment.settings["env"]["dim"] for one in drawn] == [3, 3, 4, 4]
    assert "env.dim=3" not in drawn[2].overrides
    assert "env=synthetic_linear" not in drawn[2].overrides


def test_a_claim_turns_under_a_reading():
    figure = read_figure(FIGURE)
    found = under_both(figure, finals(LOW, HIGH), finals(HIGH, LOW))
    table = claims_table({name: verdicts_on(under) for name, under in found.items()})
    assert table.set_index("reading")["verdict"].to_dict() == {"as printed": "holds", "less noise": "fails"}
    alone = render(figure, pd.DataFrame(), finals(LOW, HIGH), provenance=SIZE)
    assert alone.claims["verdict"].tolist() == ["holds"]


def test_published_numbers_are_inside_possible_or_outside():
    figure = read_figure(FIGURE | {"published": [
        {"method": "TL", "what": "mean", "value": 10.1},
        {"method": "TL", "what": "std", "value": 0.01},
        {"method": "OP", "what": "mean", "value": 10.9},
    ]})  # fmt: skip
    numbers = numbers_table(under_both(figure, finals(LOW, HIGH), finals(LOW, LOW)), 5)
    verdicts = {(row["method"], row["what"]): row["verdict"] for row in numbers.to_dict("records")}
    assert verdicts == {("TL", "mean"): "inside", ("TL", "std"): "outside", ("OP", "mean"): "possible"}
    op = numbers[numbers["method"] == "OP"].set_index("reading")
    assert op["inside"].to_dict() == {"as printed": "no", "less noise": "no"}
    assert op["predicted"].to_dict() == {"as printed": "no", "less noise": "yes"}
    # By hand: mean 10, std sqrt(0.5), n = 6, t = 2.570582 with 5 degrees of freedom, a further 5
    reach = 2.5705818 * np.sqrt(0.5) * np.sqrt(1 / 6 + 1 / 5)
    row = op.loc["less noise"]
    assert [row["further_low"], row["further_high"]] == pytest.approx([10 - reach, 10 + reach])


def test_surrogate_results_are_shown_without_published_numbers():
    surrogate = SIZE.model_copy(update={"surrogate": ("made_up",)})
    figure = read_figure(FIGURE)
    one = results(figure, finals(LOW, HIGH), surrogate)
    assert numbers_table({"as printed": one, "less noise": one}, 6).empty


def test_the_first_reading_is_the_figure_unchanged(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    folders = []
    for figure, where in ((FIGURE, "mine/with/paper"), (PLAIN, "mine/without/paper")):
        plan = AskedFigure(read_figure(figure), where, "smoke", [], "command", is_reference=True)
        folders.append(reproduce_figure(plan, jobs=1, runner=Runner()).folder)
    plain, readings = ({path.name: path for path in folder.iterdir()} for folder in reversed(folders))
    assert set(readings) - set(plain) == {"readings.csv"}
    for name in {name for name in plain if name.endswith((".svg", ".csv"))} - {"seconds.csv", "numbers.csv"}:
        assert plain[name].read_bytes() == readings[name].read_bytes(), name
    manifest = json.loads(readings["manifest.json"].read_text())
    assert [reading["name"] for reading in manifest["readings"]] == ["as printed", "less noise"]
    assert "readings" not in json.loads(plain["manifest.json"].read_text())
    op = [run["key"] for run in manifest["runs"] if run["labels"]["method"] == "OP"]
    assert len(op) == 2
    assert op[0] == op[1]

    # With fewer of them, nothing of the others is left
    plan = AskedFigure(read_figure(FIGURE), "mine/with/paper", "smoke", [], "command", True, readings=False)
    files = {path.name: path.read_bytes() for path in folders[0].iterdir()}
    reproduce_figure(plan, jobs=1, runner=Runner())
    assert {path.name for path in folders[0].iterdir()} == set(files) - {"readings.csv"}
    assert pd.read_csv(folders[0] / "numbers.csv")["reading"].unique().tolist() == ["as printed"]
    reproduce_figure(
        AskedFigure(read_figure(FIGURE), "mine/with/paper", "smoke", [], "command", True), jobs=1, runner=Runner()
    )
    assert (folders[0] / "readings.csv").read_bytes() == files["readings.csv"]


@pytest.mark.parametrize(("deviation", "divisor"), [("sample", 3), ("population", 4)])
def test_the_best_of_few_repetitions_is_predicted_from_many(deviation, divisor):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(2000, 3))
    means = np.array([1.0, 0.0, 5.0])  # at the grid values 0, 1, 2
    table = finals_of(dict(enumerate((means + noise).T)), "x", rounds=100)
    grid = {
        "name": "grid", "paper": "syndicated", "kind": "grid", "column": "regret", "axis": "x", "repetitions": 4,
        "best": "lowest", "runs": [{"x": {"values": [0, 1, 2], "override": "env.noise_std={}"}}],
        "deviation": deviation,
        "published": [{"what": "best", "value": 0}, {"what": "mean", "value": -1.0}, {"what": "std", "value": 9.0}],
    }  # fmt: skip
    figure = read_figure(grid)
    numbers = numbers_table({AS_PRINTED: results(figure, table)}, 4).set_index("what")
    # Of four repetitions the mean at 0 is below that at 1 with probability Phi(-1 / sqrt(1/2)) = 7.9 %
    assert numbers.loc["best", ["further_low", "further_high"]].tolist() == [0, 1]
    assert (numbers.loc["best", "inside"], numbers.loc["best", "verdict"]) == ("no", "possible")
    # The least of both means: quantiles from draws of their own
    draws = np.random.default_rng(4).normal([1.0, 0.0], 0.5, size=(100_000, 2)).min(axis=1)
    wanted = np.quantile(draws, (0.025, 0.975))
    assert numbers.loc["mean", ["further_low", "further_high"]].to_numpy(float) == pytest.approx(wanted, abs=0.08)
    # Of normal values the deviation is independent of the mean: chi with 3 degrees of freedom, over sqrt(3) or sqrt(4)
    wanted = stats.chi(3).ppf((0.025, 0.975)) / math.sqrt(divisor)
    assert numbers.loc["std", ["further_low", "further_high"]].to_numpy(float) == pytest.approx(wanted, abs=0.06)
    assert numbers.loc["std", "verdict"] == "outside"


def test_a_number_is_reached_within_half_a_unit_of_its_last_digit():
    published = [{"method": "TL", "what": "mean", "value": 9.7}, {"method": "OP", "what": "mean", "value": 9.71}]
    figure = read_figure({**PLAIN, "published": published})
    same = [9.74] * 6
    found = numbers_table({AS_PRINTED: results(figure, finals(same, same))}, 6)
    assert found["inside"].tolist() == ["yes", "no"]


def test_the_same_runs_say_the_same_of_a_number_under_a_reading_that_stops_earlier():
    """TL has some of the runs of the first reading, OP has others."""
    figure = read_figure(FIGURE | {"published": [{"method": m, "what": "mean", "value": 12.5} for m in ("TL", "OP")]})
    many = [*LOW, 30.0, 10.0, 10.0]
    found = numbers_table(under_both(figure, finals(many, many), finals(many[:7], many[1:7])), 5)
    rows = found.set_index(["method", "reading"])[["estimate", "std", "n", "ci_low", "further_high", "predicted"]]
    assert rows.loc["TL", "less noise"].tolist() == rows.loc["TL", "as printed"].tolist()
    assert rows["n"].to_dict() == {
        ("TL", "as printed"): 9, ("TL", "less noise"): 9, ("OP", "as printed"): 9, ("OP", "less noise"): 6,
    }  # fmt: skip


def test_a_number_is_exact_if_the_first_repetitions_give_it_and_the_draws_are_the_authors():
    value = round(float(np.std(HIGH[:4])), 2)
    published = [{"method": m, "what": "std", "value": value, "cell": f"table: {m}"} for m in ("TL", "OP")]
    same = {**QUIET, "same_draws": {"method": "TL"}}
    figure = read_figure({**with_readings(PRINTED, same), "published": published, "deviation": "population"})
    found = numbers_table(under_both(figure, finals(LOW, LOW), finals(HIGH, HIGH)), 4)
    first = found.set_index(["method", "reading"])["first"]
    assert round(first["TL", "less noise"], 2) == value
    assert first.drop(("TL", "less noise")).isna().all()
    assert found.drop_duplicates("cell").set_index("method")["verdict"].to_dict()["TL"] == "exact"
    assert (found[found["method"] == "OP"]["verdict"] != "exact").all()
    one_less = numbers_table(under_both(figure, finals(LOW, LOW), finals(HIGH, HIGH)), 5)
    assert not (one_less["verdict"] == "exact").any()
    too_few = numbers_table(under_both(figure, finals(LOW, LOW), finals(HIGH, HIGH)), 7)
    assert too_few["first"].isna().all()
