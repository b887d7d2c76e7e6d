"""Repetitions until every claim is decided: when they stop, which experiments continue, and that nothing runs twice."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import rendered

from bench.data_kind import DataKind
from bench.errors import ConfigError
from bench.report.figure import read_figure
from bench.report.provenance import Provenance
from bench.report.provenance import commands as commands_of
from bench.report.results import Results
from runners.config.compose import most_repetitions
from runners.config.figures import LabelledRun, expand
from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure, WrittenFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.results.until_decided import NextLook, look, with_repetitions

METHODS = ("A", "B", "C")
FIGURE = {
    "name": "made_up", "paper": "none", "kind": "curves", "column": "regret", "panels": ["panel"],
    "runs": [
        {
            "panel": {"near": ["horizon=10"], "far": ["horizon=20"]},
            "method": {name: [f"tuner={tuner}"] for name, tuner in zip(METHODS, ("tl", "op", "random"), strict=True)},
        }
    ],
    "claims": [
        {"id": "1", "text": "A has less than B", "kind": "paired_difference", "expect": "less", "per": ["panel"],
         "left": {"method": "A"}, "right": {"method": "B"}},
    ],
}  # fmt: skip


def drawn_of(figure, *numbers: int) -> list[LabelledRun]:
    drawn = expand(read_figure(figure), "paper", [])
    return with_repetitions(drawn, numbers or [20] * len(drawn))


def finals_of(drawn: Sequence[LabelledRun], means: dict[tuple[str, str], float], noise: float = 10.0) -> pd.DataFrame:
    """Final values around the means by panel and method."""
    rng, values = np.random.default_rng(1), {}
    for one in drawn:
        key = one.labels["panel"], one.labels["method"]
        values[key] = rng.normal(means.get(key, 100.0), noise, one.settings.repetitions)
    return rendered.finals_of(values, "panel", "method")


def look_at(drawn, finals, most=400, figure=FIGURE, done=None) -> NextLook:
    done = done or [list(range(one.settings.repetitions)) for one in drawn]
    return look(
        drawn, done, Results(read_figure(figure), finals=finals, provenance=Provenance(until_decided=most)), most
    )


NEAR_IS_OPEN = {("far", "A"): 50.0}


def test_only_the_experiments_of_open_cases_go_on():
    """No more repetitions of the panel far, or of the method C, are requested."""
    drawn = drawn_of(FIGURE)
    found = look_at(drawn, finals_of(drawn, NEAR_IS_OPEN))
    assert [one.labels["panel"] + one.labels["method"] for one in drawn] == [
        "nearA", "nearB", "nearC", "farA", "farB", "farC"
    ]  # fmt: skip
    assert found.open_cases == 1
    assert found.next == [40, 40, 20, 20, 20, 20]


def test_experiments_of_a_case_catch_up_with_each_other():
    drawn = drawn_of(FIGURE, 60, 20, 20, 20, 20, 20)
    assert look_at(drawn, finals_of(drawn, NEAR_IS_OPEN)).next == [60, 40, 20, 20, 20, 20]


def test_it_ends_at_the_largest_number_and_where_nothing_is_open():
    drawn = drawn_of(FIGURE)
    finals = finals_of(drawn, NEAR_IS_OPEN)
    assert look_at(drawn, finals, most=30).next[:2] == [30, 30]
    assert look_at(drawn, finals, most=20) == NextLook(0, [20] * 6)
    assert look_at(drawn, finals_of(drawn, {**NEAR_IS_OPEN, ("near", "B"): 200.0})) == NextLook(0, [20] * 6)


@pytest.mark.parametrize(("noise", "most", "goes_on"), [(10.0, 400, True), (20.0, 200, False), (2000.0, 200, False)])
def test_a_case_out_of_reach_is_given_up_at_the_second_look(noise, most, goes_on):
    """Equal means, a margin of 5 % of 100 and a deviation of 14 between pairs: a tie after 100 or more repetitions."""
    means = {("far", "A"): 50.0}
    for repetitions, expected in ((20, True), (40, goes_on)):
        drawn = drawn_of(FIGURE, *[repetitions] * 6)
        finals = finals_of(drawn, means, noise)
        far = finals["panel"] == "far"
        finals.loc[far, "regret"] = finals_of(drawn, means)["regret"][far]
        assert look_at(drawn, finals, most).open_cases == expected


def test_a_case_that_lacks_results_is_given_up():
    drawn = drawn_of(FIGURE)
    finals = finals_of(drawn, NEAR_IS_OPEN)
    failed = [[] if one.labels == {"panel": "near", "method": "B"} else list(range(20)) for one in drawn]
    rest = finals[(finals["panel"] != "near") | (finals["method"] != "B")]
    assert look_at(drawn, rest, done=failed).open_cases == 0
    left_out = [one for one in drawn if one.labels != {"panel": "near", "method": "B"}]
    assert look_at(left_out, rest).open_cases == 0
    assert look_at(drawn, pd.DataFrame()).open_cases == 0


@pytest.mark.parametrize(("panel", "open_cases"), [("near", 0), ("far", 1)])
def test_only_cases_on_stand_ins_are_given_up(panel, open_cases):
    drawn = [
        replace(run, experiment=run.experiment.on_data(DataKind.SURROGATE)) if run.labels["panel"] == panel else run
        for run in drawn_of(FIGURE)
    ]
    assert look_at(drawn, finals_of(drawn, NEAR_IS_OPEN)).open_cases == open_cases


@pytest.fixture
def no_pictures(monkeypatch):
    monkeypatch.setattr("runners.execute.write_figure._pictures", lambda *_: {})


@pytest.fixture
def undrawn(tmp_path, monkeypatch, no_pictures):
    """A folder of results whose pictures are not drawn."""
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    return tmp_path


def test_committed_repetitions_count(undrawn):
    """A reference result is made again, to the byte, from its committed repetitions."""
    figure = read_figure(FIGURE | {"common": ["env.dim=2", "env.n_arms=3"]})
    plan = AskedFigure(figure, "p/f/paper", "paper", [], "command", is_reference=True, until_decided=40)
    files = []
    for _ in range(2):
        made = reproduce_figure(plan, jobs=1, runner=Runner())
        shutil.rmtree(undrawn / "raw", ignore_errors=True)
        files.append({path.name: path.read_bytes() for path in made.folder.iterdir()})
        del files[-1]["environment.json"]
    assert files[0] == files[1]
    assert not (undrawn / "raw").exists()
    runs = json.loads(files[0]["manifest.json"])["runs"]
    assert {run["repetitions"] for run in runs} == {20, 40}


def test_each_reading_gets_as_many_repetitions_as_the_first(undrawn):
    """Or to the limit that the figure sets; the first reading's verdicts are the same in both cases.

    Where no look decides how far readings go, their intervals are those of a fixed number of repetitions.
    """
    source = ["assumed", "made up"]
    readings = [
        {"name": "first", "source": source, "text": "as it is"},
        {"name": "loud", "source": source, "text": "much noise", "overrides": ["env.noise_std=10"]},
    ]
    for limit in (20, None):  # the second finds the repetitions of the first
        scales = {"paper": {"until_decided": 40, "readings_up_to": limit}}
        asked = {"common": ["env.dim=2", "env.n_arms=3"], "readings": readings, "repetitions": 20, "scales": scales}
        plan = AskedFigure(read_figure(FIGURE | asked), "p/f/paper", "paper", [], "command", until_decided=40)
        made = reproduce_figure(plan, jobs=1, runner=Runner())
        runs = json.loads((made.folder / "manifest.json").read_text())["runs"]
        numbers = {(one["labels"].get("reading"), one["labels"]["panel"], one["labels"]["method"]): one for one in runs}
        numbers = {key: one["repetitions"] for key, one in numbers.items()}
        assert set(numbers.values()) == {20, 40}
        for (reading, panel, method), number in numbers.items():
            as_far = numbers[None, panel, method]
            assert number == (min(as_far, limit or as_far) if reading else as_far), reading
        claims, judged = (pd.read_csv(made.folder / f"{name}.csv") for name in ("claims", "readings"))
        first = judged[judged["reading"] == "first"].reset_index()
        assert first[["ci_low", "ci_high", "verdict"]].equals(claims[["ci_low", "ci_high", "verdict"]])
        assert plan.most_of([run for run in plan.experiments() if "reading" in run.labels]) == (None if limit else 40)


# the commands

SMALL = ("env=gaussian_arms", "algorithm=none", "horizon=400", "repetitions=until_decided")


COMMAND = "compare"


@pytest.fixture
def compare(here, monkeypatch, no_pictures, one_worker):
    """Call the command, without pictures and pages."""
    monkeypatch.setattr("runners.results.comparison_pages.write_comparisons", lambda *_: None)

    def call(*words):
        given = {word.partition("=")[0] for word in words}
        return here(*(word for word in (*SMALL, "name=comparison") if word.partition("=")[0] not in given), *words)

    return call


def test_a_large_difference_is_decided_at_the_first_look_and_equals_are_a_tie_later(compare):
    words = ("tuner=my_module.Often,my_module.AsOften,my_module.Never",)
    answer = compare(*words)
    assert answer.code == 0, answer.err
    folder = answer.results / "compare" / "comparison"
    claims = pd.read_csv(folder / "claims.csv").set_index("claim")
    assert claims.loc["Never", ["verdict", "n"]].tolist() == ["holds", 20]
    assert claims.loc["AsOften", "verdict"] == "tie"
    n = int(claims.loc["AsOften", "n"])
    assert 20 < n < 400
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["provenance"]["until_decided"] == 400
    assert {run["labels"]["method"]: run["repetitions"] for run in manifest["runs"]} == {
        "Often": n, "AsOften": n, "Never": 20
    }  # fmt: skip
    lines = commands_of(manifest)
    assert all(f"repetitions={run['repetitions']}" in line for run, line in zip(manifest["runs"], lines, strict=True))
    assert f"{2 * n + 20} repetitions  1 holds, 0 fail, 1 tie" in answer.out
    files = {
        path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("environment.json", "index.html")
    }
    again = compare(*words)
    assert f"{2 * n + 20} repetitions, 0 new" in again.out
    assert {name: (folder / name).read_bytes() for name in files} == files


@pytest.mark.parametrize(
    ("line", "where", "extra"),
    [
        ("scale=paper repetitions=until_decided", "paper", []),
        ("scale=paper repetitions=until_decided seed=3", "paper-custom", ["seed=3"]),
        ("scale=paper", "paper", []),
        ("scale=paper repetitions=30", "paper-custom", ["repetitions=30"]),
    ],
)
def test_at_scale_paper_it_is_a_reference_result(commands, monkeypatch, capsys, line, where, extra):
    plans = []

    def take(given, **_):
        plans.extend(given)
        return [WrittenFigure(asked, commands.results) for asked in plans]

    monkeypatch.setattr("runners.execute.reproduce_figure.reproduce_figures", take)
    monkeypatch.setattr("runners.results.pages.write_gallery", lambda *_: (commands.results, 0))
    answer = commands.here(
        monkeypatch, capsys, "reproduce", "figure=syndicated/figure2", "surrogate=yes", *line.split()
    )
    assert (answer.code, answer.err) == (0, "")
    (plan,) = plans
    assert (plan.where, list(plan.extra)) == (f"syndicated/figure2/{where}", extra)
    assert plan.is_reference == (plan.scale == "paper")
    of_figure = 200 if line == "scale=paper" else None
    assert plan.until_decided == (400 if "until" in line else of_figure)
    assert set(line.split()) <= set(plan.command.split())


@pytest.mark.parametrize(("given", "is_taken"), [(9, False), (10, True), (1_000_000, True), (1_000_001, False)])
def test_the_largest_number_is_limited_as_its_error_states(given, is_taken):
    if is_taken:
        assert most_repetitions("until_decided", given) == given
        return
    with pytest.raises(ConfigError, match=f"^max_repetitions: found {given}, expected .* from 10 .* to 1000000$"):
        most_repetitions("until_decided", given)
