"""Every notebook runs from top to bottom: without results it makes a few, else it shows the existing ones."""

import gc
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from commands import ROOT, Commands
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

import bandit_bench

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PNG = b"\x89PNG\r\n\x1a\n"
PAPERS = [path for path in NOTEBOOKS if (ROOT / "conf" / "papers" / path.stem).is_dir()]


def some(*names: str, release: tuple[str, ...]) -> list:
    """Return notebooks by name; slow ones are run before a release."""
    paths = {path.stem: path for path in NOTEBOOKS}
    return [
        *(paths[name] for name in names),
        *(pytest.param(paths[name], marks=pytest.mark.release) for name in release),
    ]


def execute(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, **environ: str) -> tuple[str, list[str]]:
    """Run a notebook's cells in this process; return its output, pictures and tables."""
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)
    for name, value in {**Commands(folder).environ, "PYTHONPATH": str(ROOT), **environ}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(path.parent)
    monkeypatch.syspath_prepend(str(path.parent))
    # The first shell takes the place of the main module, which tests that start processes later in this one need
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    shell = InteractiveShell.instance()
    with monkeypatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)  # which a reset ends with, and takes a tenth of a second
        shell.reset(new_session=True)
    shown, printed = [], ""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            with capture_output() as captured:
                result = shell.run_cell(cell.source)
            result.raise_error()
            assert not captured.stderr
            is_picture = hasattr(result.result, "_repr_png_")
            shown += ["image/png"] if is_picture else ["text/html"] * hasattr(result.result, "_repr_html_")
            printed += captured.stdout
            shown += [kind for output in captured.outputs for kind in output.data if kind in ("image/png", "text/html")]
            shown += ["image/png"] * len(plt.get_fignums())
            plt.close("all")
    return printed, shown


def test_notebooks_have_no_outputs():
    assert PAPERS
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert not [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]


@pytest.mark.parametrize(
    "path", some("first_steps", "cdt", release=("add_your_own_tuner",)), ids=lambda path: path.stem
)
def test_it_runs_where_there_are_no_results(path, tmp_path, monkeypatch):
    compare, few = bandit_bench.compare, {"horizon": 300, "repetitions": 3, "runner": {"progress": False}}
    monkeypatch.setattr(bandit_bench, "compare", lambda *tuners, **words: compare(*tuners, **words | few))
    printed, shown = execute(path, tmp_path, monkeypatch)
    assert ("a first look" in printed) == (path in PAPERS)
    assert "image/png" in shown
    assert "text/html" in shown  # a table
    made = {table.relative_to(tmp_path / "results").parts[0] for table in tmp_path.rglob("table.csv")}
    assert made <= {path.stem, "compare"}


@pytest.mark.parametrize(
    "path", some("online_hpo", "opl_hpo", "syndicated", release=("cdt", "habo")), ids=lambda path: path.stem
)
def test_it_shows_the_results_that_are_there(path, tmp_path, monkeypatch, reference_results):
    figures = [
        folder.name for folder in (reference_results / path.stem).glob("*") if any(folder.glob("*/repetitions.parquet"))
    ]
    if not figures:
        pytest.skip(f"there are no results of {path.stem}")
    # Drawn, and neither laid out nor rendered: notebooks without results, above, are shown to the last dot
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
    monkeypatch.setattr(Figure, "savefig", lambda self, file, **_: file.write(PNG))
    printed, shown = execute(path, tmp_path, monkeypatch, BENCH_RESULTS_DIR=str(reference_results))
    assert "a first look" not in printed
    assert shown[0] == "text/html"  # the answer
    text = path.read_text()
    assert shown.count("image/png") >= sum(f'"{name}\\"' in text for name in figures)
