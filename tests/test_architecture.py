"""docs/architecture.md: its layers are those of the code, and imports go where its arrows lead."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PACKAGES = ("bandit_bench", "bench", "runners", "tools")
ROOMS = {where: name for name, where in re.findall(r"^\| (\w+) \| `(\w+/[\w/.]*)` \|", PAGE, re.MULTILINE)}
ARROWS = set(re.findall(r"^  (\w+) --> (\w+)$", PAGE, re.MULTILINE))


def layer(path: str) -> str:
    """Return the layer of a file or of an imported module: the one with the longest matching path."""
    return ROOMS[max((where for where in ROOMS if path.startswith(where)), key=len)]


@cache
def modules() -> dict[str, list[ast.AST]]:
    """Return the parts of every module by its path: its syntax tree, walked once."""
    files = [path for folder in PACKAGES for path in sorted((ROOT / folder).rglob("*.py"))]
    return {file.relative_to(ROOT).as_posix(): list(ast.walk(ast.parse(file.read_text()))) for file in files}


@cache
def imports() -> dict[tuple[str, str], str]:
    """Return which layer imports from which other, with an example of each."""
    pairs = {}
    for here, nodes in modules().items():
        for node in nodes:
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                if str(name).partition(".")[0] in PACKAGES:
                    there = f"{str(name).replace('.', '/')}.py"
                    there = there if (ROOT / there).is_file() else f"{there[:-3]}/"
                    pairs[layer(here), layer(there)] = f"{here} imports {name}"
    return {pair: example for pair, example in pairs.items() if pair[0] != pair[1]}


def below(name: str) -> set[str]:
    """Return the layers that arrows lead to, by any number of steps."""
    nearest = {there for here, there in ARROWS if here == name}
    return nearest.union(*map(below, nearest))


def test_imports_go_where_the_arrows_of_the_drawing_lead():
    assert not [example for (here, there), example in imports().items() if there not in below(here)]


def test_the_drawing_has_the_layers_of_the_table_and_no_circle():
    assert {name for arrow in ARROWS for name in arrow} == set(ROOMS.values())
    assert not [name for name in ROOMS.values() if name in below(name)]


def test_no_two_modules_import_each_other_by_any_number_of_steps():
    """Imports within functions, or for types alone, count."""
    names = {file.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in modules()}
    graph: dict[str, set[str]] = {}
    for name, file in names.items():
        found = graph.setdefault(name, set())
        for node in modules()[file]:
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= (parts & names.keys()) or {node.module} & names.keys()
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names} & names.keys()
        found.discard(name)  # a package whose __init__ fills itself
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_neither_a_comparison_nor_a_report_knows_of_the_judging_of_papers():
    commands = [ROOT / "runners" / "compare.py"]
    above = re.compile(r"^\s*(from|import) bench\.(audit|papers|gallery)", re.MULTILINE)
    files = [*(ROOT / "bench" / "report").rglob("*.py"), *commands]
    assert not [file for file in files if above.search(file.read_text())]
