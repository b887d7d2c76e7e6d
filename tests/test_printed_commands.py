"""Commands printed by results and their pages make these results again, down to the key of every repetition."""

import html
import json
import re
import shlex
import zlib
from pathlib import Path

import pytest
from commands import ROOT

from bench.report.provenance import overrides_of
from runners.config.compose import from_overrides
from runners.config.figures import figure_names

MANIFESTS = sorted((ROOT / "results").glob("*/*/*/manifest.json"))
_CODE = re.compile(r"<(?:pre[^>]*><code|code)>(.*?)</code>", re.DOTALL)


def printed(page: str) -> list[str]:
    """Return the commands that a page shows, each once."""
    found = [line for code in _CODE.findall(page) for line in html.unescape(code).splitlines()]
    return list(dict.fromkeys(line for line in found if re.match(r"python -m runners|bandit-bench ", line)))


def assert_makes(words: list[str], run: dict) -> None:
    """The command of a run gives the experiment of its repetitions, on their data."""
    experiment = from_overrides(words).experiment
    if experiment.fingerprint != run["data"]:
        experiment = experiment.on_data(run["data"])
    assert experiment.key == run["key"], shlex.join(words)


def check_manifest(path: Path, *, every: bool) -> None:
    manifest = json.loads(path.read_text())
    program, words = manifest["command"].split(" figure=")
    assert program == "python -m runners.reproduce"
    figure = words.split()[0]
    assert figure in figure_names()
    if runs := manifest.get("runs"):
        drawn = range(len(runs)) if every else [zlib.crc32(figure.encode()) % len(runs)]
        overrides = overrides_of(manifest)
        for place in drawn:
            assert_makes(overrides[place], runs[place])


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: "/".join(path.parts[-4:-2]))
def test_a_command_of_a_committed_result_makes_its_repetitions(path):
    check_manifest(path, every=False)


@pytest.mark.release
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: "/".join(path.parts[-4:-2]))
def test_every_command_of_a_committed_result_makes_its_repetitions(path):
    check_manifest(path, every=True)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "compare",
            ["tuner=Mine & first=my_module.MyTuner,TL=tl,ucb1", "env=switching_sine", "algorithm=none",
             "env.noise_std=0.1,1", "horizon=40", "repetitions=2", "name=a-b", "column=reward", "colors={TL:black}"],
        ),
        (
            "reproduce",
            ["figure=cdt/figure2", "scale=smoke", 'only={panel: "LinUCB, simulation", method: [TL / Syndicated, OP]}'],
        ),
    ],
)  # fmt: skip
def test_commands_of_a_page_run_as_printed(command, words, commands, monkeypatch, capsys, one_worker):
    def call(name: str, *given: str) -> str:
        answer = commands.here(monkeypatch, capsys, name, *given)
        assert (answer.code, answer.err) == (0, "")
        return answer.out

    call(command, *words)
    (path,) = commands.results.glob("*/**/manifest.json")
    manifest = json.loads(path.read_text())
    pages = [page.read_text() for page in commands.results.rglob("*.html")]
    found = [shlex.split(line) for line in dict.fromkeys(line for page in pages for line in printed(page))]
    of_runs = [line[3:] for line in found if line[2] == "runners.run"]
    of_all = [line[3:] for line in found if line[2] == f"runners.{command}" and "scale=quick" not in line]
    assert len(of_runs) == len(manifest["runs"])
    monkeypatch.chdir(commands.cwd)
    for run, overrides in zip(manifest["runs"], of_runs, strict=True):
        assert_makes(overrides, run)
    (as_printed,) = of_all
    assert "0 new" in call(command, *as_printed)
    call("run", *of_runs[0])
