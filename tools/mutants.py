"""Faults put into the code one at a time, to see whether tests detect them: ``python -m tools.mutants FOLDER``.

The last commit is cloned into the folder, and the faults are made there; judgements are kept in its ``judged.jsonl``,
so an interrupted call can continue. A fault swaps an operator or a comparison, adds 1 to a number, or negates a
``not``; it is detected if one of the three test files fails that name its module most.
"""

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from runners.config.folders import CHECKOUT

_SECONDS = 1800
"""Seconds after which tests with a fault are no judgement, also on a busy machine."""
_LEAST = 400
"""Least number of characters of a module for a fault."""
_PAIRS: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.And, ast.Or),
)
_SWAPPED = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}


class Mutant(NamedTuple):
    """A fault: its place, the text with it, and the exchange."""

    path: Path
    text: str
    name: str


def mutants(root: Path, seed: int) -> Iterator[Mutant]:
    """Yield faults without end in the modules below ``bench`` and ``runners``, in long modules more often."""
    rng = random.Random(seed)
    texts = {
        path: path.read_text(encoding="utf-8") for part in ("bench", "runners") for path in (root / part).rglob("*.py")
    }
    files = sorted(path for path, text in texts.items() if path.name != "__init__.py" and len(text) > _LEAST)
    while True:
        path = rng.choices(files, weights=[len(texts[file]) for file in files])[0]
        nodes = [node for node in _nodes(ast.parse(texts[path])) if _fits(node)]
        if nodes and (text := _exchanged(texts[path], rng.choice(nodes))):
            yield Mutant(path, text[0], f"{path.relative_to(root).as_posix()}:{text[1]}")


def _nodes(tree: ast.Module) -> Iterator[ast.expr]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return (node for function in functions for node in ast.walk(function) if isinstance(node, ast.expr))


def _fits(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and type(node.ops[0]) in _SWAPPED
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    return (isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in _SWAPPED) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _exchanged(text: str, node: ast.expr) -> tuple[str, str] | None:
    """Return a text with a fault in an expression, and a description; None if it spans several lines."""
    before = ast.get_source_segment(text, node)
    if before is None or "\n" in before:
        return None
    if isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = _SWAPPED[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Compare):
        node.ops = [_SWAPPED[type(node.ops[0])]()]  # type: ignore[list-item]
    elif isinstance(node, ast.Constant):
        node.value += 1  # type: ignore[operator]
    elif isinstance(node, ast.UnaryOp):
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
    after = ast.unparse(node)
    lines = text.encode().splitlines(keepends=True)
    line, start = lines[node.lineno - 1], node.col_offset
    lines[node.lineno - 1] = line[:start] + f"({after})".encode() + line[start + len(before.encode()) :]
    changed = b"".join(lines).decode()
    try:
        ast.parse(changed)
    except SyntaxError:  # inside an f-string
        return None
    return changed, f"{node.lineno} {before} -> {after}"


def tests_of(module: Path, tests: Mapping[Path, str]) -> list[Path]:
    """Return the three test files that name a module most, by its path below the root."""
    dotted, stem = ".".join(module.with_suffix("").parts), module.stem
    named = {
        path: 3 * (path.stem == f"test_{stem}") + 2 * (dotted in text) + bool(re.search(rf"\b{stem}\b", text))
        for path, text in tests.items()
    }
    chosen = sorted((path for path in named if named[path]), key=lambda path: (-named[path], path))[:3]
    return chosen or [path for path in tests if path.stem == "test_run_command"]


def judge(root: Path, mutant: Mutant) -> bool | None:
    """Return whether tests detect a fault; None if they take too long. A failure without the fault ends the program."""
    sound = mutant.path.read_text(encoding="utf-8")
    files = {path: path.read_text(encoding="utf-8") for path in (root / "tests").glob("test_*.py")}
    chosen = list(map(str, tests_of(mutant.path.relative_to(root), files)))
    mutant.path.write_text(mutant.text, encoding="utf-8")
    try:
        is_noticed = not _pass(root, "--cache-clear", *chosen)
    except subprocess.TimeoutExpired:
        return None
    finally:
        mutant.path.write_text(sound, encoding="utf-8")
    if is_noticed and not _pass(root, "--last-failed", *chosen):
        sys.exit(f"error: found a test that fails without a fault, expected none, in {', '.join(chosen)}")
    return is_noticed


def _pass(root: Path, *words: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", *words]
    environ = {**os.environ, "PYTHONPATH": str(root)}
    return not subprocess.run(command, cwd=root, capture_output=True, timeout=_SECONDS, env=environ).returncode


def main() -> None:
    """Judge faults up to a number, and print those that no test detects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the faults are made, and what was judged is kept")
    parser.add_argument("--count", type=int, default=150, help="number of faults")
    parser.add_argument("--seed", type=int, default=0, help="which faults")
    given = parser.parse_args()
    folder, count, seed = given.folder.resolve(), given.count, given.seed
    root, kept = folder / "checkout", folder / "judged.jsonl"
    if not root.exists():
        subprocess.run(["git", "clone", "-q", str(CHECKOUT), str(root)], check=True)
    subprocess.run(["git", "checkout", "-q", "--", "."], cwd=root, check=True)  # a killed call left its fault
    judged = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []
    for number, mutant in enumerate(mutants(root, seed)):
        if number == count:
            break
        if number >= len(judged):
            judged.append({"mutant": mutant.name, "noticed": judge(root, mutant)})
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(judged[-1]) + "\n")
            print(
                {True: "noticed ", False: "SURVIVED", None: "too slow"}[judged[-1]["noticed"]], mutant.name, flush=True
            )
        elif judged[number]["mutant"] != mutant.name:
            sys.exit(f"error: {kept}: found other mutants, expected those of seed {seed}: name another folder")
    noticed = [one["noticed"] for one in judged if one["noticed"] is not None]
    print(f"{sum(noticed)} of {len(noticed)} mutants noticed by the three test files that name their module most")


if __name__ == "__main__":
    main()
