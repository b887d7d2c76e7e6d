"""README, docs and the heads of configuration files: commands compose, links lead somewhere, code runs.

The commands of a block marked ``sh quick`` are run in turn, in a folder with the files that the page shows (a block of
code whose first line is a comment with a path is a file).
"""

import importlib.util
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from commands import ROOT, Commands
from hydra.core.override_parser.overrides_parser import OverridesParser

import bandit_bench
from bench.data.catalogue import CATALOGUE
from bench.errors import BenchError
from bench.papers.cdt.lipschitz import Lipschitz
from bench.report.claims.check import KINDS as CLAIM_KINDS
from runners.compare import arguments
from runners.config.compose import from_overrides
from runners.config.experiment import build
from runners.config.figures import figure_names
from runners.config.folders import CONFIGS
from runners.config.runner import Runner
from runners.config.tree import choices, read_choice
from runners.config.tree import read as read_configuration
from runners.execute.asked_figure import AskedFigure
from runners.execute.workers import workers
from tools.docs import ASSEMBLED, assembled

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
_BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w/]+\.(?:py|yaml))\n")
_COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:make|pytest|(?:\.venv/bin/)?(?:python|jupyter))(?: |$)")


_USERS = ("results/raw", "results/mine", "results/compare")


class Command(NamedTuple):
    """A command and the page, or configuration file, that shows it."""

    page: Path
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {self.text}"


def blocks(page: Path, language: str) -> list[tuple[str, str]]:
    """Return the words after the language in the blocks' first lines, and their bodies."""
    found = [(match["info"].strip().partition(" "), match["body"]) for match in _BLOCK.finditer(read(page))]
    return [(rest, body) for (name, _, rest), body in found if name == language]


@cache
def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def lines(body: str) -> Iterator[str]:
    """Yield the commands of a block; one that continues in the next line is joined."""
    for line in re.sub(r"\\\n\s*", "", body).splitlines():
        if words := shlex.split(line, comments=True):
            yield shlex.join(words) if "$" not in line else line


def shown() -> list[Command]:
    """Return every command that is shown anywhere."""
    found = []
    for page in PAGES:
        found += [Command(page, line) for _, body in blocks(page, "sh") for line in lines(body)]
        found += [Command(page, text) for text in re.findall(r"`([^`\n]+)`", _BLOCK.sub("", read(page)))]
    for path in sorted(CONFIGS.rglob("*.yaml")):
        comments = re.findall(r"^# (.*)$", read(path), re.MULTILINE)
        texts = [re.search(r"(?:make|python) .*?(?=;|\s+$|$)", comment) for comment in comments]
        found += [Command(path, text[0]) for text in texts if text and text[0].split()[1].startswith("-m")]
    is_one = [_COMMAND.match(command.text) and not re.search(r"[<>…]|\.\.\.", command.text) for command in found]
    return list(dict.fromkeys(command for command, wanted in zip(found, is_one, strict=True) if wanted))


SHOWN = shown()


@pytest.mark.parametrize("command", SHOWN, ids=str)
def test_command_composes(command, monkeypatch, tmp_path):
    words = shlex.split(command.text)
    while re.match(r"[A-Z_]+=", words[0]):
        words.pop(0)
    name, *words = words
    if name == "make":
        check_make(words)
    elif name == "pytest":
        check_pytest(words)
    elif name.endswith("jupyter"):
        assert words[0] == "execute"
        assert (ROOT / words[-1]).is_file()
    elif not words or words[0] != "-m":
        assert not words or words[0] == "-c" or (ROOT / words[0]).is_file() or _is_shown(words[0], command.page)
    elif words[1] in ("runners.run", "runners.compare"):
        write_files(command.page, tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        own = {Path(path).stem for path, _ in files(command.page) if path.startswith("conf/")}
        values = {value for word in words[2:] for value in word.partition("=")[2].split(",")}
        if words[2:] and not values & own:  # without words it is named alone; the others are run below
            (check_run if words[1] == "runners.run" else check_compare)(words[2:], tmp_path)
    elif words[1] == "runners.reproduce":
        check_reproduce(words[2:])
    elif words[1] == "pytest":
        check_pytest(words[2:])
    else:
        assert importlib.util.find_spec(words[1]), f"there is no module {words[1]}"


def _is_shown(name: str, page: Path) -> bool:
    return any(path == name for path, _ in files(page))


def check_run(words: list[str], folder: Path) -> None:
    """Compose the run, or all runs of a sweep, and build its parts where their classes are there."""
    if "--help" in words:
        return
    overrides = [word for word in words if not word.startswith("--")]
    assert set(words) - set(overrides) <= {"--multirun"}
    assert words[0] == "--multirun" or "--multirun" not in words, "Hydra wants it before all overrides, or after them"
    for chosen in _swept(overrides) if "--multirun" in words else [overrides]:
        run = from_overrides([word.removeprefix("++") for word in chosen])
        targets = [part["_target_"] for part in run.experiment.settings.values() if isinstance(part, dict)]
        if all(target.startswith("bench.") or (folder / f"{target.split('.')[0]}.py").is_file() for target in targets):
            build(run.experiment)


def _swept(overrides: list[str]) -> list[list[str]]:
    pairs = [word.split("=", 1) for word in overrides if not word.startswith("hydra")]
    return [list(words) for words in product(*([f"{key}={one}" for one in of.split(",")] for key, of in pairs))]


def check_compare(words: list[str], _: Path) -> None:
    """Compose the experiments of a comparison and build their parts; stop early if a user's file is missing."""
    found: list[AskedFigure] = []
    given = arguments(words) | {"instead": lambda figures, *_: found.extend(figures)}
    try:
        bandit_bench.compare(given.pop("tuners"), **given)
    except BenchError as error:
        if not re.search(r"path: found '[\w.]+', no such file", str(error)):
            raise
        return
    assert found[0].runs
    for one in found[0].runs:
        build(one.experiment)


def check_reproduce(words: list[str]) -> None:
    if "--help" in words:
        return
    given = dict(word.split("=", 1) for word in words)
    figure = given.get("figure")
    if figure and "/" not in figure:
        given["figure"] = f"{given['paper']}/{figure}"
    if figure and given["figure"] not in choices("figure"):
        expected = "conf/papers/{}/figures/{}.yaml".format(*given["figure"].split("/"))
        assert any(path == expected for page in PAGES for path, _ in files(page)), figure
    given.pop("figure", None)
    known = {*read_configuration("reproduce"), *(f"runner.{name}" for name in read_choice("runner", "loky"))}
    for key, value in given.items():
        OverridesParser.create().parse_overrides([f"{key}={value}"])
        assert value in choices(key) if key in ("paper", "scale", "runner") else key in known, f"{key}={value}"
    if "paper" in given:
        assert figure_names(given["paper"]), "a paper without figures"


def check_make(words: list[str]) -> None:
    makefile = read(ROOT / "Makefile")
    targets = [word for word in words if "=" not in word]
    values = dict(word.split("=", 1) for word in words if "=" in word)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"there is no target {target}"
    for name in values:
        assert re.search(rf"^{name}\s*\?=", makefile, re.MULTILINE), f"there is no variable {name}"
    if "run" in targets:
        check_run(shlex.split(values.get("ARGS", "")), ROOT)
    if "compare" in targets:
        check_compare(shlex.split(values.get("ARGS", "")), ROOT)
    if "reproduce-paper" in targets:
        check_reproduce([f"{key.lower()}={value}" for key, value in values.items() if (key, value) != ("PAPER", "all")])


def check_pytest(words: list[str]) -> None:
    for word in words:
        if word.startswith("tests/"):
            assert (ROOT / word.partition("::")[0]).exists(), word


# Code


def files(page: Path) -> list[tuple[str, str]]:
    """Return the files that a page shows: path and content."""
    found = [body for language in ("python", "yaml") for _, body in blocks(page, language)]
    return [(match[1], body) for body in found if (match := _FILE.match(body))]


def write_files(page: Path, folder: Path) -> None:
    for path, body in files(page) if page.suffix == ".md" else []:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(body, encoding="utf-8")


def quick(page: Path) -> list[list[str]]:
    """Return the words of the commands that are run, after ``python``."""
    found = [shlex.split(line) for marks, body in blocks(page, "sh") if marks == "quick" for line in lines(body)]
    assert all(words[0] == "python" for words in found), "only commands of Python are run"
    return [words[1:] for words in found]


QUICK = {page: found for page in PAGES if (found := quick(page))}


@pytest.mark.parametrize("page", QUICK, ids=lambda page: page.name)
def test_quick_commands_run(page, tmp_path, monkeypatch, capsys):
    """Commands of the README run in separate processes, other commands and the programs of a page in this one."""
    commands = Commands(tmp_path)
    write_files(page, commands.cwd)
    with workers(Runner(), 1):  # for all commands in this process
        for words in QUICK[page]:
            if page.name == "README.md":
                answer = commands.call(words[1].removeprefix("runners."), *words[2:])
            else:
                answer = here(commands, monkeypatch, capsys, words[words[0] == "-m" :])
            assert (answer.code, answer.err) == (0, ""), shlex.join(words)
            assert answer.out, shlex.join(words)
    said = read(DOCS / "reproduce.md")
    for path in commands.results.glob("raw/*-*/*"):
        name = re.sub(r"rep-\d+", "rep-00007", path.name)
        assert f"`{name}`" in said, f"docs/reproduce.md does not name {name}"
    if page.name == "extend.md":
        (folder,) = commands.results.glob("mine/first/qu*")
        for path in folder.iterdir():
            name = path.name.replace("first", "<figure>")
            assert f"`{name}`" in said, f"docs/reproduce.md does not name {name}"


def here(commands, monkeypatch, capsys, words):
    """Call a command or program in this process, and forget the modules that it imports from its folder."""
    before = set(sys.modules)
    try:
        return commands.here(monkeypatch, capsys, words[0].removeprefix("runners."), *words[1:])
    finally:
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file.startswith(str(commands.cwd)):
                del sys.modules[name]


def test_code_of_the_readme_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    for _, body in blocks(ROOT / "README.md", "python"):
        exec(compile(body, "README.md", "exec"), {"__name__": "readme"})


# Pages


def test_version_and_day_are_the_same_in_all_files():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    released = re.findall(r"^## (\d\S*) \((\S+)\)$", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    version, day = str(cited["version"]), str(cited["date-released"])
    assert released[0] == (version, day)
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == version
    readme = read(ROOT / "README.md")
    assert re.findall(r"^  (version|year) += \{(.*)\}", readme, re.MULTILINE) == [
        ("version", version),
        ("year", day[:4]),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = _BLOCK.sub("", read(page))
    defined = dict(re.findall(r"^\[(`[^`]+`)\]: (\S+)$", text, re.MULTILINE))
    used = set(re.findall(r"(?!^\[`[^`]+`\]: )\[(`\w+/\w+`)\](?!\()", text, re.MULTILINE))
    assert used == set(defined), "a name in brackets has no link, or a link no name"
    for target in [*re.findall(r"\]\(([^)\s]+)\)", text), *defined.values()]:
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        aim = (page.parent / path).resolve() if path else page
        assert aim.exists(), target
        if anchor:
            headings = [re.sub(r"[^\w\- ]", "", text) for text in re.findall(r"^#+ (.*)$", read(aim), re.MULTILINE)]
            assert anchor in {text.lower().replace(" ", "-") for text in headings}, target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_are_there(page):
    own = {path for path, _ in files(page)}
    for path in re.findall(r"`((?:bench|runners|conf|tests|docs|notebooks|results)/[\w/.-]*)`", read(page)):
        there = (ROOT / path).exists() or path in own or path.startswith(_USERS)
        assert there or "epsilon_greedy" in path or "my_" in path or path.endswith("index.html"), path


@pytest.mark.parametrize("name", ASSEMBLED)
def test_a_page_put_together_from_the_papers_folders_is_up_to_date(name, reference_results):
    page = assembled(name, reference_results)
    assert read(DOCS / f"{name}.md") == page, f"docs/{name}.md is old: make docs"
    for path in CONFIGS.glob(f"papers/**/{name}.md"):
        lines = [line for line in read(path).splitlines() if line and "](" not in line and "<!--" not in line]
        assert set(lines) <= set(page.splitlines()), f"{path} is not in docs/{name}.md"


def test_every_data_set_is_described():
    page = read(DOCS / "reproduce.md")
    for dataset in CATALOGUE.values():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{dataset.name}` |")]
        assert f"`{dataset.folder}/" in row
        for path in CONFIGS.glob("papers/*/figures/*.yaml"):
            if re.search(rf"\benv={dataset.name}\b", read(path)):
                paper = path.parents[1].name
                assert f"`{paper}`" in row or f"`{paper}/{path.stem}`" in row, path


def test_every_kind_of_claim_is_described():
    verdicts = read(DOCS / "verdicts.md")
    for kind in (*CLAIM_KINDS, *Lipschitz.claim_kinds):
        assert f"\n| `{kind}` |" in verdicts, f"docs/verdicts.md, table of kinds: found no row of '{kind}'"
