"""Keys of a figure's configuration besides its runs: settings of a scale, and trace columns as an axis."""

import pandas as pd

from bench.report.figure import read_figure
from bench.report.provenance import Provenance
from bench.report.results import Results
from runners.config.figures import expand, other_than_published, unfold
from runners.execute.manifest import settings_table
from runners.results.derive import Derived

FIGURE = {
    "name": "made_up",
    "paper": "syndicated",
    "kind": "curves",
    "column": "value",
    "unfold": {"axis": "quantity", "column": "value", "labels": {"measured": "regret", "random": "random_regret"}},
    "scales": {"quick": {"max_horizon": 50, "overrides": ["env.dim=3"]}},
    # As loaded: the unfolded axis stands among the others
    "runs": [{"method": {"TL": ["tuner=tl"], "OP": ["tuner=op"]}, "quantity": {"measured": [], "random": []}}],
}


def test_settings_of_a_scale_count_at_that_scale_only_and_are_named():
    quick, paper = (expand(read_figure(FIGURE), scale, []) for scale in ("quick", "paper"))
    assert {one.experiment.settings["env"]["dim"] for one in quick} == {3}
    assert {one.settings.horizon for one in quick} == {50}
    assert {one.experiment.settings["env"]["dim"] for one in paper} == {10}
    sources = {
        scale: {row["key"]: row["source"] for row in settings_table(read_figure(FIGURE), drawn, scale)}
        for scale, drawn in (("quick", quick), ("paper", paper))
    }
    assert sources["quick"]["env.synthetic_linear.dim"] == "scale"
    assert sources["paper"]["env.synthetic_linear.dim"] == "stated"
    assert all("env.dim=3" in one.overrides for one in quick)


def test_a_value_that_the_figure_sets_is_not_the_papers():
    """In a separate row beside the paper's value; with the figure's own source if it names one."""
    runs = [{"method": {"TL": ["tuner=tl"], "Wide": ["tuner=tl", "env.dim=25", "env.features=fixed"]}}]
    given = {key: value for key, value in FIGURE.items() if key not in ("unfold", "scales")} | {"runs": runs}
    for sources, of_other in (({}, "the figure sets it"), ({"env.dim": ["code", "run.py"]}, "run.py")):
        figure = read_figure(given | {"column": "regret", "sources": sources})
        rows = settings_table(figure, expand(figure, "paper", []))
        places = {str(value): row["where"] for row in rows for value in row["values"] if row["key"].endswith(".dim")}
        assert places["25"] == of_other
        assert places["10"] == ("section 6" if not sources else "run.py")
    assert [row["source"] for row in rows if row["key"].endswith(".features")] == ["stated", "assumed"]


def test_published_numbers_belong_to_the_runs_of_scale_paper():
    given = {key: value for key, value in FIGURE.items() if key not in ("unfold", "scales")} | {"kind": "dots"}
    runs, published = [{"method": {"TL": ["tuner=tl"]}}], [{"method": "TL", "what": "mean", "value": 300.0}]
    figure = read_figure(given | {"column": "regret", "runs": runs, "published": published})

    def why(scale, *extra, figure=figure):
        return other_than_published(figure, expand(figure, scale, list(extra)))

    assert why("paper") == why("reduced") == why("paper", "repetitions=2") == why("paper", "seed=7") == ""
    assert why("quick") == "the published numbers are for 10,000 rounds, and not judged here"
    assert why("quick", "horizon=10000") == ""
    assert why("paper", "env.dim=3") == "the published numbers are for the settings of scale=paper, and not judged here"
    finals = pd.DataFrame({"method": "TL", "repetition": range(3), "rounds": 1000, "regret": [1.0, 2.0, 3.0]})
    for reason in ("", why("quick")):
        provenance = Provenance(scale="quick", repetitions=(3,), horizons=(1000,), other_than_published=reason)
        derived = Derived({"": Results(figure, finals=finals, provenance=provenance)})
        table = derived.tables["table"]
        assert table["published_mean"].tolist() == [300.0]
        assert ("ratio_mean" in table) == ("numbers.csv" in derived.files()) == (not reason)
        assert derived.plot.note.endswith(reason)


def test_labels_that_a_scale_leaves_out_are_run_at_other_scales():
    figure = read_figure(FIGURE | {"scales": {"quick": {"leave_out": {"method": ["TL"]}}}})
    assert [one.labels["method"] for one in expand(figure, "quick", [])] == ["OP"]
    assert [one.labels["method"] for one in expand(figure, "paper", [])] == ["TL", "OP"]


def test_unfolded_tables_have_a_row_for_each_label():
    finals = pd.DataFrame({"method": ["TL", "OP"], "repetition": 0, "regret": [1.0, 2.0], "random_regret": [3.0, 4.0]})
    table = unfold(read_figure(FIGURE), finals)
    assert table.set_index(["quantity", "method"])["value"].to_dict() == {
        ("measured", "TL"): 1.0,
        ("measured", "OP"): 2.0,
        ("random", "TL"): 3.0,
        ("random", "OP"): 4.0,
    }
    data = Results(read_figure(FIGURE), finals=table)
    assert data.axes == ("method", "quantity")
    assert all(len(data.rows(key)) == 1 for key in data.experiments)

    curves = pd.DataFrame({"method": "TL", "column": ["regret", "other", "random_regret"], "mean": [1.0, 2.0, 3.0]})
    curves = pd.concat([curves, curves[:1].assign(column="regret@3", mean=4.0)])
    table = unfold(read_figure(FIGURE), curves)
    assert table[["quantity", "column", "mean"]].to_numpy().tolist() == [
        ["measured", "value", 1.0],
        ["measured", "value@3", 4.0],
        ["random", "value", 3.0],
    ]
