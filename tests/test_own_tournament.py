"""A user's own tuners in the tournament, beside the committed results."""

import pandas as pd
import pytest
from commands import ROOT, assert_one_sentence

import bandit_bench as bb

COMMAND = "tournament"


@bb.component
class Arm(bb.Tuner):
    """Play one arm."""

    arm: int = 0

    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        pass

    def _ask(self) -> bb.Configuration:
        return {"arm": self.arm}

    def _tell(self, reward: float, outcome: object) -> None:
        pass


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))


def test_a_tuner_of_the_suite_entered_as_a_users_has_the_committed_numbers(capsys):
    made = bb.tournament("ucb1", scale="reduced", only={"task": ["Bernoulli arms", "close arms"]})
    committed = pd.read_csv(ROOT / "results/tournament/short/paper/tasks.csv").set_index(["task", "method"])
    own = pd.read_csv(made.folder / "tasks.csv").set_index(["task", "method"])
    for task in ("Bernoulli arms", "close arms"):
        expected = committed.loc[(task, "UCB1"), ["n", "mean", "relative", "ci_low", "ci_high"]].astype(float)
        pd.testing.assert_series_equal(own.loc[(task, "UCB1 (yours)"), expected.index].astype(float), expected,
                                       check_names=False, rtol=1e-6)  # fmt: skip
        pd.testing.assert_series_equal(own.loc[task]["relative"].drop("UCB1 (yours)"), committed.loc[task]["relative"])
    against = made.verdicts[made.verdicts["text"].str.contains("than UCB1,")]
    assert set(against["verdict"]) == {"no evidence"}
    assert "minutes" in (said := capsys.readouterr().out) or " s with jobs=1" in said


def test_wins_and_losses_are_counted_over_all_by_family_and_by_task():
    """On Gaussian arms the third is best: no tuner has less regret than one that always plays it."""
    made = bb.tournament({"Best": Arm(arm=2), "Worst": Arm(arm=0)}, only={"task": "Gaussian arms"})
    assert (made.folder / "index.html").is_file()
    standings = made.standings.set_index(["method", "by"])
    assert list(standings.loc["Best"]["part"]) == ["all families", "arms", "Gaussian arms"]
    others = standings[["wins", "losses", "open"]].sum(axis=1)
    assert set(others) == {31}
    assert set(standings.loc["Best"]["relative"]) == {0.0}
    assert set(standings.loc["Best"]["losses"]) == set(standings.loc["Worst"]["wins"]) == {0}
    assert standings.loc["Best"]["wins"].min() >= 25  # five repetitions leave some open
    assert standings.loc["Worst"]["losses"].min() >= 25
    assert made.is_complete


def test_the_regret_over_all_counts_families_that_some_of_the_others_cannot_play():
    """Sixteen of the tournament's tuners need an interval, and have no results on arms."""
    made = bb.tournament("gaussian_ts", only={"task": ["close arms", "triangle"]}, repetitions=2)
    relative = made.standings.set_index("part")["relative"]
    assert relative["arms"] != relative["moving peak"]
    assert relative["all families"] == pytest.approx((relative["arms"] + relative["moving peak"]) / 2, rel=1e-9)


def test_tasks_that_cannot_be_played_are_left_out_and_named(capsys):
    made = bb.tournament(Arm(), only={"task": ["Gaussian arms", "triangle"]}, repetitions=2)
    assert not made.is_complete
    assert set(made.standings["part"]) == {"all families", "arms", "Gaussian arms"}
    assert "left out: triangle: Arm: " in capsys.readouterr().out
    with pytest.raises(bb.BenchError, match="Arm"):
        bb.tournament(Arm(), only={"task": "triangle"})


def test_a_dry_run_prints_the_expected_time_and_runs_nothing(tmp_path, capsys):
    assert bb.tournament("ucb1", only={"family": "arms"}, dry_run=True) is None
    assert "25 of 25 repetitions are missing: about " in capsys.readouterr().out
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["tuner=ucb1", "only={family: legs}"], ["only", "family=legs", "arms"]),
        (["tuner=ucb1", "only=arms"], ["only", "'arms'", "{family: arms}"]),
        (["tuner=ucb1", "repetitions=31"], ["repetitions", "31", "5"]),
        (["tuner=cdtt"], ["cdtt"]),
        (["only={family: arms}"], ["tuner=my_module.MyTuner"]),
        (["tuner=ucb1", "tasks=all"], ["tasks", "only", "scale"]),
    ],
)
def test_wrong_settings_are_named_before_anything_is_run(words, fragments, here):
    assert_one_sentence(here(*words), *fragments)
