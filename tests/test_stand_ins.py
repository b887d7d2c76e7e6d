"""Missing data is named before any run, and stops runs of the papers' size."""

import pytest

from bench.errors import DataError
from runners.config.compose import from_overrides
from runners.config.figures import expand, load_figure
from runners.execute.stand_ins import missing_data, refuse


@pytest.fixture(autouse=True)
def nothing_at_hand(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.data.files.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)


@pytest.mark.parametrize(
    ("name", "data_sets"),
    [
        ("cdt/figure2", {"movielens"}),
        ("cdt/authors_factors", {"movielens", "cdt_factors"}),
        ("tournament/contextual_drifting", {"movielens"}),
        ("cdt/table2", {"yahoo_r6a"}),
        ("habo/figure2", {"titanic"}),
        ("online_hpo/table1", {"ali_display_ad"}),
        ("opl_hpo/table1", {"open_bandit"}),
        ("syndicated/early_late", set()),
    ],
)
def test_the_missing_data_of_a_figure(name, data_sets):
    assert set(missing_data(expand(load_figure(name), "smoke", []))) == data_sets


ENVS = "drifting_movielens", "drifting_linear"


def test_an_environment_that_drifts_reads_the_data_of_the_one_that_stands_still():
    lacking = {env: from_overrides([f"env={env}"]).experiment.missing_data() for env in ENVS}
    assert [[data.name for data in lacking[env]] for env in ENVS] == [["movielens"], []]


def test_available_data_is_not_missing(tmp_path, monkeypatch):
    (tmp_path / "titanic").mkdir()
    (tmp_path / "titanic" / "train.csv").write_text("")
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    assert not missing_data(expand(load_figure("habo/figure2"), "smoke", []))


def test_the_papers_size_needs_the_data_but_a_real_sample_is_accepted():
    refuse({"opl_hpo/table1": ["open_bandit"], "cdt/figure1": []})
    with pytest.raises(DataError, match=r"found no data set movielens, which cdt/a need.*add surrogate=yes"):
        refuse({"cdt/a": ["movielens"], "cdt/figure1": []})
