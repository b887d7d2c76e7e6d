"""Published numbers of all papers: each once, with its verdict, and their agreement with each reading."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bench.audit.published import counted, published_overview, published_text, reached
from bench.audit.readings import NUMBERS
from bench.report.figure import read_figure
from runners.config.papers import compared, published
from runners.config.tree import suite_choices

ROOT = Path(__file__).resolve().parent.parent
PANELS = ("P1", "P2", "P3")
FIGURE = {
    "name": "made_up", "paper": "syndicated", "kind": "dots", "column": "regret",
    "common": ["env=synthetic_linear", "algorithm=linucb"],
    "runs": [{"panel": {panel: [] for panel in PANELS}, "method": {"TL": ["tuner=tl"], "OP": ["tuner=op"]}}],
    "readings": [
        {"name": "as printed", "source": ["stated", "section 6"], "text": "The figure unchanged"},
        {"name": "other", "source": ["code", "run.py"], "text": "Less noise", "overrides": ["env.noise_std=0.01"]},
    ],
}  # fmt: skip
PRINTED = {("P1", "TL"): 100.0, ("P1", "OP"): 200.0, ("P2", "TL"): 110.0, ("P2", "OP"): 210.0,
           ("P3", "TL"): 120.0, ("P3", "OP"): 220.0}  # fmt: skip


def figure(name="made_up", **more):
    published = [
        {"panel": panel, "method": method, "what": "mean", "value": value, "cell": f"t: {panel}: {method}: mean"}
        for (panel, method), value in PRINTED.items()
    ]
    return read_figure({**FIGURE, "published": published, "name": name, **more})


def rows(ours, reading="as printed", n=20, std=10.0, reach=8.0, first=math.nan):
    """Return the rows of a reading under which our number is ``ours`` (a function) of the printed one."""
    lines = []
    for (panel, method), printed in PRINTED.items():
        estimate = ours(panel, method, printed)
        inside, predicted = ("yes" if abs(estimate - printed) <= most else "no" for most in (reach / 2, reach))
        line = {"panel": panel, "method": method, "what": "mean", "cell": f"t: {panel}: {method}: mean"}
        line |= {"published": printed, "reading": reading, "estimate": estimate, "std": std, "n": n, "first": first}
        line |= {"ci_low": estimate - reach / 2, "ci_high": estimate + reach / 2}
        line |= {"further_low": estimate - reach, "further_high": estimate + reach}
        lines.append(line | {"inside": inside, "predicted": predicted, "verdict": ""})
    return pd.DataFrame(lines)[["panel", "method", *NUMBERS]]


def write(folder, name, *tables, manifest=None):
    scale = folder / "p" / name / "paper"
    scale.mkdir(parents=True)
    (scale / "manifest.json").write_text(json.dumps(manifest or {}))
    pd.concat(tables).to_csv(scale / "numbers.csv", index=False)


def test_a_number_is_exact_inside_possible_or_outside(tmp_path):
    def ours(panel, method, printed):
        return printed + {"TL": {"P1": 3, "P2": 6, "P3": 50}, "OP": {"P1": 50, "P2": 50, "P3": 50}}[method][panel]

    def others(panel, method, printed):
        return printed + (5 if (panel, method) == ("P1", "OP") else 60)

    exact = rows(others, "other")
    exact.loc[exact["cell"] == "t: P2: OP: mean", "first"] = 210.0
    write(tmp_path, "made_up", rows(ours), exact)
    numbers = published_overview({"p/made_up": figure()}, tmp_path).numbers.set_index(["panel", "method"])
    assert numbers["verdict"].to_dict() == {
        ("P1", "TL"): "inside", ("P2", "TL"): "possible", ("P3", "TL"): "outside",
        ("P1", "OP"): "possible", ("P2", "OP"): "exact", ("P3", "OP"): "outside",
    }  # fmt: skip
    assert (numbers["tried"] == 2).all()
    assert numbers["possible"].to_dict() == {
        ("P1", "TL"): 1, ("P2", "TL"): 1, ("P3", "TL"): 0, ("P1", "OP"): 1, ("P2", "OP"): 0, ("P3", "OP"): 0,
    }  # fmt: skip
    columns = ["ours", "low", "high", "reading"]
    assert numbers.loc[("P2", "OP"), columns].tolist() == [210.0, 262.0, 278.0, "other"]
    assert numbers.loc[("P1", "OP"), columns].tolist() == [250.0, 242.0, 258.0, "as printed"]


@pytest.mark.parametrize(
    ("manifest", "more", "verdict"),
    [
        ({"settings": [{"key": "a", "source": "stated"}, {"key": "b", "source": "code"}]}, {}, "inside"),
        ({"settings": [{"key": "a", "source": "assumed"}]}, {}, "inside, under assumptions"),
        ({}, {"readings": [{**FIGURE["readings"][0], "source": ["assumed", "-"]}]}, "inside, under assumptions"),
        ({}, {"readings": [{**FIGURE["readings"][0], "source": ["code", "run.py"]}]}, "possible"),
    ],
)  # fmt: skip
def test_inside_refers_to_the_papers_settings(tmp_path, manifest, more, verdict):
    write(tmp_path, "made_up", rows(lambda *_: _[-1]), manifest=manifest)
    published = published_overview({"p/made_up": figure(**more)}, tmp_path)
    assert set(published.numbers["verdict"]) == {verdict}
    assert list(counted(published, "p").values()) == [6]


def test_of_the_same_reading_in_several_figures_that_with_most_repetitions_counts(tmp_path):
    write(tmp_path, "few", rows(lambda *_: _[-1], n=3))
    write(tmp_path, "many", rows(lambda *_: _[-1] + 30, n=24))
    figures = {f"p/{name}": figure(name) for name in ("few", "many")}
    for names, verdict in (("few", "inside"), ("many", "outside"), ("few many", "outside")):
        numbers = published_overview({f"p/{name}": figures[f"p/{name}"] for name in names.split()}, tmp_path).numbers
        assert len(numbers) == 6
        assert set(numbers["verdict"]) == {verdict}
        assert set(numbers["figure"]) == {names.split()[-1]}
    assert (numbers["tried"] == 1).all()


def test_a_reading_that_does_not_change_our_number_is_no_second_try(tmp_path):
    write(tmp_path, "made_up", rows(lambda *_: _[-1]), rows(lambda *_: _[-1], "other"))
    published = published_overview({"p/made_up": figure()}, tmp_path)
    assert (published.numbers["tried"] == 1).all()
    assert [len(table) for table in published.levels.values()] == [1]


def test_numbers_without_real_data_or_runs_are_marked(tmp_path):
    for name, scale, provenance in (
        ("stand_in", "paper-surrogate", {"surrogate": ["x"]}),
        ("sample", "paper", {"packaged": True}),
    ):
        folder = tmp_path / "p" / name / scale
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps({"provenance": provenance}))
    for name, verdict in (("stand_in", "no real data"), ("sample", "no real data"), ("nothing", "not run")):
        published = published_overview({f"p/{name}": figure(name)}, tmp_path)
        assert set(published.numbers["verdict"]) == {verdict}
        assert counted(published, "p") == {}
        assert f"| p | 6 | 0 | 0 | 0 | 0 | 0 | {6 * (verdict == 'no real data')} |" in published_text(published)


def test_counts_levels_and_order_of_each_reading(tmp_path):
    """The numbers of a true reading, and of one under which TL and OP swap places, twice as high."""
    other = {"TL": lambda value: 2 * (value + 100), "OP": lambda value: 2 * (value - 100)}
    write(
        tmp_path, "made_up", rows(lambda *_: _[-1]), rows(lambda _, method, value: other[method](value), "other", n=21)
    )
    published = published_overview({"p/made_up": figure()}, tmp_path, {"p": {"panels": {"three": list(PANELS)}}})
    placebo = published.placebo.set_index("reading")
    assert placebo["within"].to_dict() == {"as printed": 6, "other": 1, "any reading": 6}  # 2 (200 - 100) is 200
    # All three panels stay as they are in an eighth of the draws, so that no count can lie above 95 % of them
    assert placebo["reaches"].to_dict() == {"as printed": "no", "other": "no", "any reading": "–"}
    assert placebo.loc["as printed", ["times 0.8", "times 1.25"]].tolist() == [0, 0]
    # Each panel keeps both numbers with probability 1/2: 3 of 6 on average, with 4 standard errors of 200 draws
    mean, ends = placebo.loc["as printed", "swapped"].split(" ", 1)
    assert float(mean) == pytest.approx(3, abs=4 * math.sqrt(3 / 200))
    assert ends == "[0, 6]"
    ((place, table),) = published.levels.items()
    assert place == ("p", "three")
    lines = table.set_index("reading")
    width = np.mean([8 / value for (_, method), value in PRINTED.items() if method == "TL"])
    assert lines.loc["as printed", "TL"] == f"1.00 [{math.exp(-width):.2f}, {math.exp(width):.2f}]"
    mean = np.exp(
        np.mean([np.log(2 * (value - 100) / value) for (_, method), value in PRINTED.items() if method == "OP"])
    )
    assert lines.loc["other", "OP"].startswith(f"{mean:.2f} [")
    assert lines[["pairs decided", "in printed order"]].to_numpy().tolist() == [[3, 3], [3, 0]]
    assert lines.loc["other", "share"].startswith("0.00 [0.00, ")
    text = published_text(published)
    assert "## p, three: ours / printed" in text
    assert reached(published, "p") == []


def test_methods_that_are_not_compared_and_readings_without_all_panels_have_no_level(tmp_path):
    some = rows(lambda *_: _[-1] * 1.5, "other").query("panel != 'P3' or method == 'OP'")
    write(tmp_path, "made_up", rows(lambda *_: _[-1]), some)
    (table,) = published_overview({"p/made_up": figure()}, tmp_path).levels.values()
    assert table.set_index("reading").loc["other", "TL"] == "–"
    compared = {"p": {"methods": ["OP"], "panels": {"": list(PANELS)}}}
    (table,) = published_overview({"p/made_up": figure()}, tmp_path, compared).levels.values()
    assert list(table) == ["reading", "OP", "pairs decided", "in printed order", "share"]
    few = {"p": {"panels": {"": ["P1", "P2"]}}}
    assert not published_overview({"p/made_up": figure()}, tmp_path, few).levels


def test_an_exact_reading_reaches_its_numbers(tmp_path):
    table = rows(lambda *_: _[-1] + 30, "other")
    table.loc[table["panel"] == "P1", "first"] = table["published"]
    write(tmp_path, "made_up", rows(lambda *_: _[-1] + 30), table)
    published = published_overview({"p/made_up": figure()}, tmp_path)
    assert reached(published, "p") == ["2 exact (other)"]
    assert published.placebo[["exact", "reaches"]].to_numpy().tolist() == [[0, "no"], [2, "exact"], [2, "–"]]


def test_only_printed_numbers_are_compared():
    (wanted,) = filter(None, (compared(paper) for paper in suite_choices("paper")))
    printed = published("cdt", {"table": "regret"})
    assert set(wanted["methods"]) <= {entry["method"] for entry in printed}
    assert {panel for panels in wanted["panels"].values() for panel in panels} <= {entry["panel"] for entry in printed}
    assert compared("tournament") == {}


def test_the_documentation_has_the_numbers_of_the_overview(reference_results):
    sections = (reference_results / "numbers.md").read_text().split("\n## ")
    tables = {title: [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
              for title, *lines in (section.splitlines() for section in sections)}  # fmt: skip
    (head, _, *rows) = tables["Does a reading reach more than false numbers?"]
    counts = {tuple(row[:2]): dict(zip(head, row, strict=True)) for row in rows}
    either, table1 = counts["cdt", "any reading"], counts["syndicated", "as the authors ran it"]
    sentences = [
        f"of the {either['numbers']} numbers of `cdt`, {either['within']} lie",
        f"of the numbers swapped among the methods of each panel, {either['swapped'].split()[0]} do.",
        f"{table1['exact']} of `syndicated`, {counts['habo', 'as the authors ran it']['exact']} of `habo`",
    ]
    files = ("README.md", "docs/verdicts.md")
    texts = " ".join(" ".join((ROOT / name).read_text() for name in files).split())
    assert [sentence for sentence in sentences if sentence not in texts] == []
