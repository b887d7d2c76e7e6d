"""The wheel works on its own: installed into an empty environment, used from a folder without the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from commands import PATIENCE, ROOT, Commands, without_waiting

SOURCES = ("bandit_bench", "bench", "runners", "conf")
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in")
OFFLINE = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def bandit_bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own, which finds the dependencies where this one has them."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in SOURCES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "notebooks", source / "notebooks")
    for figure in ("short", "ranks"):
        shutil.copytree(ROOT / "results/tournament" / figure, source / "results/tournament" / figure)
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", *OFFLINE, "--no-build-isolation", "-w", str(folder), str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    shutil.rmtree(source)
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    # Without PYTHONPATH, where pip may find it installed
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([*pip, "--python", str(python), "install", *OFFLINE, str(wheel)], env=environ, check=True)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.with_name("bandit-bench")


def call(program: Path, commands: Commands, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **commands.environ}
    for name in ("BENCH_RESULTS_DIR", "BENCH_DATA_DIR", "PYTHONPATH"):
        environ.pop(name, None)
    answer = subprocess.run(
        [program, *words], cwd=commands.cwd, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    answer.stderr = without_waiting(answer.stderr)
    return answer


def test_a_comparison_runs_from_another_folder(bandit_bench, tmp_path):
    commands = Commands(tmp_path)
    shutil.copy(ROOT / "tests/my_module.py", commands.cwd)
    words = (
        "tuner=random,my_module.MyTuner",
        "env=gaussian_arms",
        "algorithm=none",
        "horizon=30",
        "repetitions=2",
        "name=first",
    )
    answer = call(bandit_bench, commands, "compare", *words)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (commands.cwd / "results" / "compare" / "first" / "first.png").is_file()
    assert len(list(commands.cwd.glob("results/raw/*/rep-*.parquet"))) == 4


def test_a_users_tuner_plays_in_the_tournament(bandit_bench, tmp_path):
    commands = Commands(tmp_path)
    shutil.copy(ROOT / "tests/my_module.py", commands.cwd)
    words = ("tuner=my_module.MyTuner", "only={task: clicks}", "repetitions=5")
    answer = call(bandit_bench, commands, "tournament", *words)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "all families" in answer.stdout
    assert (commands.cwd / "results/compare/tournament-MyTuner/index.html").is_file()


def test_the_lesson_is_copied_once(bandit_bench, tmp_path):
    commands = Commands(tmp_path)
    for code in (0, 1):
        answer = call(bandit_bench, commands, "lesson")
        assert answer.returncode == code
        assert "first_steps.ipynb" in answer.stdout + answer.stderr
    lesson = (ROOT / "notebooks/first_steps.ipynb").read_bytes()
    assert (commands.cwd / "first_steps.ipynb").read_bytes() == lesson


def test_a_figure_and_its_gallery_come_from_the_wheel(bandit_bench, tmp_path):
    commands = Commands(tmp_path)
    answer = call(bandit_bench, commands, "reproduce", "figure=habo/worked_examples")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (commands.cwd / "results" / "habo" / "worked_examples" / "index.html").is_file()
