"""The core alone: it works without optional packages, and methods that need one name it."""

import ast
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from commands import ROOT, Answer, Commands, assert_one_sentence
from hydra.utils import get_class
from packaging.requirements import Requirement
from registry import names, settings

from bench.envs.classification import Classification
from runners.config.classes import OPTIONAL
from runners.config.tree import PARTS

MODULES = {"obp": "obp", "optuna": "optuna", "sklearn": "scikit-learn", "skopt": "scikit-optimize", "torch": "torch"}
CLASSES = sorted(
    {(part, get_class(settings(part, name)["_target_"])) for part in PARTS for name in names(part)}, key=repr
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SAYS_ITSELF = {Classification: {"scikit-learn"}}
"""Classes that need a package only for some of their data, and then name it."""
OF_SAMPLES = [("obp", "open_bandit"), ("scikit-learn", "classification")]
"""Extras with data that a choice can do without."""
COMPARISON = ("name=comparison", "tuner=tl,cdt", "env=synthetic_linear", "horizon=60", "repetitions=2")


def closure(requirements: list[str]) -> set[str]:
    """Return the names of the packages that pip would install, given the ones installed here."""
    found: set[str] = set()
    todo = [(Requirement(text), "") for text in requirements]
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for own in ("", *requirement.extras):
            if f"{requirement.name}[{own}]" not in found:
                found.add(f"{requirement.name}[{own}]")
                texts = importlib.metadata.requires(requirement.name) or []
                todo += [(Requirement(text), own) for text in texts]
    return {name.partition("[")[0] for name in found}


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter that sees only the packages on which the core depends, directly or indirectly."""
    folder = tmp_path_factory.mktemp("core")
    venv.create(folder / "venv")
    links = folder / "site-packages"  # a path that says: installed
    links.mkdir()
    for name in closure(PROJECT["dependencies"]):
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (links / top).exists():
                (links / top).symlink_to(Path(str(distribution.locate_file(top))))
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "core.pth").write_text(f"{links}\n")
    return str(folder / "venv" / "bin" / "python")


def test_an_older_python_is_refused_before_anything_is_made(tmp_path):
    """Otherwise the list of versions would fail, and leave behind an environment that stays in use."""
    old = tmp_path / "python3"
    old.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'import sys; sys.version_info = (3, 9, 2); exec(sys.argv[2])' \"$@\"\n"
    )
    old.chmod(0o755)
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for target in ("run", "test-lowest"):
        command = ["make", "--no-print-directory", target, f"PYTHON={old}"]
        answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        expected = f"error: found Python 3.9 as {old}, expected 3.11 or later: name another by PYTHON="
        assert (answer.returncode, answer.stdout, answer.stderr.splitlines()[0]) == (2, "", expected)
    assert not any(path.is_dir() for path in tmp_path.iterdir())


@cache
def imports_of(module: str) -> frozenset[str]:
    """Return all imports in the text of a module of the suite; some of the names may not be modules."""
    names: set[str] = set()
    spec = importlib.util.find_spec(module)
    for node in ast.walk(ast.parse(Path(str(spec and spec.origin)).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def optional_packages_of(cls: type) -> set[str]:
    """Return the optional packages that the modules of a class import."""
    found: set[str] = set()
    todo = {base.__module__ for base in cls.__mro__}
    while todo:
        name = todo.pop()
        found.add(name)
        if name.startswith("bench.") and (ROOT / f"{name.replace('.', '/')}.py").is_file():
            todo |= imports_of(name) - found
    return {MODULES[top] for name in found if (top := name.partition(".")[0]) in MODULES}


@pytest.mark.parametrize(
    ("part", "cls"), [one for one in CLASSES if one[0] != "task"], ids=lambda value: getattr(value, "__name__", value)
)
def test_a_class_names_the_optional_packages_that_it_imports(part, cls):
    assert optional_packages_of(cls) - SAYS_ITSELF.get(cls, set()) == set(getattr(cls, "requires", ()))


LACKING = {
    ("run", "tuner=gp_minimize", "repetitions=1"): (
        "tuner: found no package scikit-optimize for GPMinimize, expected it installed",
        f": pip install -e '{ROOT}[scikit-optimize]'",
    ),
    ("compare", "tuner=tl,optuna_random,gp_minimize", "env=synthetic_linear", "repetitions=1"): (
        "tuner: found no package optuna, scikit-optimize for GPMinimize, OptunaRandom, expected it installed",
        f": pip install -e '{ROOT}[optuna,scikit-optimize]'",
    ),
    ("reproduce", "figure=habo/figure3", "scale=smoke", "repetitions=1"): (
        "algorithm, env, tuner: found no package scikit-learn, scikit-optimize for GPMinimize, RandomForest, Titanic",
        f": pip install -e '{ROOT}[scikit-learn,scikit-optimize]'",
    ),
    ("run", "env=open_bandit", "repetitions=1"): (
        "nor the package obp",
        ": pip install 'bandit-tuning-bench[obp]'",
    ),
}
"""Choices that need a package or data missing here, and their messages."""


@pytest.fixture(scope="module")
def answers(core: str, tmp_path_factory: pytest.TempPathFactory) -> list[Answer]:
    """The messages of the core, collected in one process."""
    commands = Commands(tmp_path_factory.mktemp("answers"))
    commands.python = core
    return commands.call_each(*LACKING, ("compare", *COMPARISON))


def test_a_comparison_runs_without_the_optional_packages(answers):
    answer = answers[-1]
    assert (answer.code, answer.err) == (0, "")
    assert (answer.results / "compare" / "comparison" / "comparison.png").is_file()


@pytest.mark.parametrize("number", range(len(LACKING)), ids=[f"{words[0]} {words[1]}" for words in LACKING])
def test_missing_packages_are_named_before_anything_runs(answers, number):
    assert_one_sentence(replace(answers[number], out=""), *list(LACKING.values())[number])


def test_every_class_can_be_imported_without_the_optional_packages(core, tmp_path):
    """The same for tuners that need a package: fit is checked before anything is installed."""
    script = f"import importlib.util\nassert not any(map(importlib.util.find_spec, {list(MODULES)}))\n"
    script += "".join(f"from {cls.__module__} import {cls.__name__}\n" for _, cls in CLASSES)
    subprocess.run([core, "-c", script], check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})


def test_the_readme_says_which_extra_is_for_which_choice():
    table = (ROOT / "README.md").read_text().partition("| extra |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.MULTILINE)
    said = {
        extra: set(re.findall(r"`(\w+)`", choices))
        for extras, choices in rows
        for extra in re.findall(r"`([\w-]+)`", extras)
    }
    assert set(said) == {*OPTIONAL, "papers", "dask", "launchers", "service"}
    needed: dict[str, set[str]] = {name: set() for name in OPTIONAL}
    for part in PARTS:
        for name in names(part):
            for package in getattr(get_class(settings(part, name)["_target_"]), "requires", ()):
                needed[package].add(name)
    assert {name: said[name] for name in OPTIONAL} == {
        **needed,
        **{extra: {*needed[extra], name} for extra, name in OF_SAMPLES},
    }
