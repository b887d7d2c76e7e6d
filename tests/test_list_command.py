"""bandit-bench list names every choice, with each of its settings; the page of the gallery has the same."""

import inspect
import json
import re
from pathlib import Path

import pytest
from commands import Commands
from hydra.utils import get_class

from bench.component import defaults
from bench.report.claims.check import KINDS as CLAIM_KINDS
from bench.report.figure import kinds
from runners.config.keys import ABOUT, described
from runners.config.reference import entry, overview, pages
from runners.config.tree import GROUPS, PARTS, read_choice, suite_choices

CLASSES = [
    (group, choice, get_class(target))
    for group in PARTS
    for choice in suite_choices(group)
    if (target := (read_choice(group, choice) or {}).get("_target_", "???")) != "???"
]


@pytest.fixture(scope="module")
def texts(reference_results: Path) -> dict[str, str]:
    return pages(reference_results)


@pytest.fixture(scope="module")
def whole(texts: dict[str, str]) -> str:
    return "\n".join(texts.values())


def test_every_choice_is_listed_and_on_the_page(whole: str) -> None:
    for group in (*GROUPS, "figure"):
        lines = overview(group).splitlines()[1:]
        assert [line.split()[0] for line in lines] == suite_choices(group)
        for choice in suite_choices(group):
            assert (f"`{choice}`" if group == "figure" else f"### `{group}={choice}`") in whole
    choices = sum(len(suite_choices(group)) for group in (*GROUPS, "figure"))
    assert overview().count("\n  ") == choices + sum(len(described(group)) for group in ABOUT)


def test_every_kind_and_file_is_listed_with_each_of_its_keys_on_the_page(whole: str, tmp_path: Path) -> None:
    assert {*kinds(), "bench.papers.tournament.Profile"} <= set(described("kind"))
    assert {*CLAIM_KINDS, "steepness"} <= set(described("claim"))
    for group in ABOUT:
        lines = overview(group).splitlines()[1:]
        assert [line.split()[0] for line in lines] == list(described(group))
        for name, found in described(group).items():
            text = entry(group, name, tmp_path)
            assert text in whole
            every = found if group == "column" else set(found.model_fields) - set(described(group)["any"].model_fields)
            assert all(f"\n- `{key}` " in text for key in every)
    assert "- `max_horizon` int > 0 | null = `null`" in entry("kind", "any", tmp_path), "the keys of a scale"


@pytest.mark.parametrize(("group", "choice", "cls"), CLASSES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_choice_has_a_description_and_explains_each_setting(
    tmp_path: Path, group: str, choice: str, cls: type
) -> None:
    text = entry(group, choice, tmp_path)
    assert (inspect.getdoc(cls) or "").splitlines()[0].replace("``", "`") in text
    for name in defaults(cls):
        if name != "space":
            assert re.search(rf"^- `{name}`.* = `.*`: \S", text, re.MULTILINE), f"{choice}: {name} has no explanation"


def test_the_command_prints_a_choice_and_names_a_wrong_one(commands: Commands, monkeypatch, capsys) -> None:
    answer = commands.here(monkeypatch, capsys, "list", "scale", "smoke")
    assert answer.code == 0
    assert "- `max_horizon` = `200`" in answer.out
    for words in (["tuner", "cdtt"], ["tunr"], ["tunr", "cdt"], ["kind", "curve"]):
        answer = commands.here(monkeypatch, capsys, "list", *words)
        assert answer.code == 1
        assert "did you mean" in answer.err


def test_a_tuner_says_how_it_fared(tmp_path: Path) -> None:
    assert "mean rank" not in entry("tuner", "cdt", tmp_path)
    folder = tmp_path / "tournament" / "ranks" / "paper"
    folder.mkdir(parents=True)
    row = "CDT,2,9,1.5,1.25,1.75,0.5,0.4,0.6\n"
    head = "method,families,tasks,mean_rank,ci_low,ci_high,relative,relative_low,relative_high\n"
    (folder / "ranks.csv").write_text(head + row + row.replace("CDT", "TL"))
    (folder / "table.csv").write_text("family," + head + "arms," + row + "peaks," + row.replace("0.5", "0.25"))
    (folder / "manifest.json").write_text("{}")
    said = entry("tuner", "cdt", tmp_path).rstrip()
    for words in ("mean rank 1.5 (1.2 to 1.8) of 2", "over 9 tasks", "0.50 (0.40 to 0.60)", "arms 0.50, peaks 0.25"):
        assert words in said


def test_ranks_say_the_defaults_they_were_made_with_where_these_have_changed(tmp_path: Path) -> None:
    folder = tmp_path / "tournament" / "ranks" / "paper"
    folder.mkdir(parents=True)
    head = "method,families,tasks,mean_rank,ci_low,ci_high,relative,relative_low,relative_high"
    (folder / "ranks.csv").write_text(f"{head}\nCDT,2,9,1.5,1.25,1.75,0.5,0.4,0.6\n")
    (folder / "table.csv").write_text(f"family,{head}\n")
    scale = (read_choice("tuner", "cdt") or {})["ts_scale"]
    settings = [
        {"key": "tuner.cdt.radius_scale", "values": [0.25], "where": "the suite's default"},
        {
            "key": "tuner.cdt.ts_scale",
            "values": [scale],
            "where": "the suite's default",
        },
        {"key": "tuner.cdt.first_point", "values": ["drawn"], "where": "the figure sets it"},
        {"key": "tuner.cdt.of_old", "values": [1], "where": "the suite's default"},
    ]
    (folder / "manifest.json").write_text(json.dumps({"settings": settings}))
    assert entry("tuner", "cdt", tmp_path).splitlines()[-1] == "That was with the default `radius_scale` = `0.25`."
