"""The page of all configuration groups and keys, from the files themselves: python -m runners.docs"""

import re
import sys
from pathlib import Path

from runners.config_tree import CONFIGS, GROUPS
from runners.figures import figure_names, load_figure
from runners.store import write_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configure.md"

_INTRODUCTION = """# Configure

Made by `make docs` from the files in `conf/`; a test keeps it up to date.

A command line chooses a file of each group and overrides keys: `env=movielens env.n_arms=300`. What the command line
says comes before what a paper sets for the chosen parts (`paper=cdt`), that before the files' own values; a scale caps
horizon and repetitions. `+tuner.key=value` adds a key, which only a class of your own can make use of. Every command
accepts `--help`; an unknown key or choice is answered with the valid ones.
"""
_ABOUT = {
    "env": "Where rewards come from.",
    "algorithm": "What is tuned.",
    "tuner": "What proposes configurations.",
    "task": "How an algorithm is played in an environment; an algorithm brings the task that it needs.",
    "paper": "The settings of a paper, for the parts that it uses.",
    "scale": "How much of a figure is run.",
    "runner": "Where repetitions are run.",
}
_KEY = re.compile(r"(?P<indent> *)(?P<key>[\w.]+):(?: +(?P<value>[^# ].*?))?(?: +# (?P<comment>.*))?$")


def configure_page() -> str:
    """Return the page as Markdown: the keys of a run, then every group with its choices and their keys."""
    parts = [_INTRODUCTION, "## Keys of a run\n", _marked(_comment(CONFIGS / "config.yaml")) + "\n"]
    parts.append(_table(CONFIGS / "config.yaml", skip=("defaults",)))
    parts += ["## Keys of a figure\n", _marked(_comment(CONFIGS / "reproduce.yaml")) + "\n"]
    parts.append(_table(CONFIGS / "reproduce.yaml", skip=("defaults",)))
    for group in GROUPS:
        parts.append(f"## `{group}`\n\n{_ABOUT[group]}\n")
        for path in sorted((CONFIGS / group).glob("*.yaml")):
            parts.append(f"### `{group}={path.stem}`\n\n{_marked(_comment(path))}\n")
            if group != "paper":
                parts.append(_table(path, skip=("defaults", "_target_", "name")))
    parts += ["## `figure`\n", "Chosen with `python -m runners.reproduce figure=cdt/figure4`.\n", _figures()]
    return "\n".join(part for part in parts if part)


def _comment(path: Path) -> str:
    """Return the line that says what a file is."""
    head = path.read_text(encoding="utf-8").splitlines()
    return next((line[2:] for line in head if line.startswith("# ") and "@package" not in line), "")


def _figures() -> str:
    rows = []
    for name in figure_names():
        figure = load_figure(name)
        own = ", ".join(figure.get("scales", {}))
        rows.append(f"| `{name}` | `{figure['kind']}` | {_cell(figure['title'])} | {own} |")
    return "\n".join(["| figure | kind | title | limits of its own |", "| --- | --- | --- | --- |", *rows, ""])


def _marked(text: str) -> str:
    """Set the command in a comment apart as code."""
    return re.sub(r"((?:make|python) [^;]*)$", r"`\1`", text)


def _table(path: Path, skip: tuple[str, ...]) -> str:
    rows: list[str] = []
    parents: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        match = _KEY.fullmatch(line)
        if not match or line.lstrip().startswith("#"):
            continue
        depth = len(match["indent"]) // 2
        parents = [*parents[:depth], match["key"]]
        if parents[0] in skip:
            continue
        dotted = parents[1:] if parents[0] == path.parent.name and len(parents) > 1 else parents
        if match["value"] and dotted[0] not in skip:  # else its keys follow
            rows.append(f"| `{'.'.join(dotted)}` | `{_cell(match['value'])}` | {_cell(match['comment'] or '')} |")
    return "\n".join(["| key | default | |", "| --- | --- | --- |", *rows, ""]) if rows else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write the page; return the exit code."""
    write_text(PAGE, configure_page())
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
