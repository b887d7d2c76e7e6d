"""All choices and their settings, from the configuration files and their classes."""

import inspect
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from bench.errors import ConfigError
from bench.report.folder import SUITES_DEFAULT, ResultFiles, Setting
from bench.report.tasks import METHOD
from runners.config.compose import RunSettings, run_settings
from runners.config.figures import load_figure
from runners.config.keys import ABOUT as ABOUT_KEYS
from runners.config.keys import described, keys_of
from runners.config.listed import class_at
from runners.config.papers import leaves, load_paper
from runners.config.runner import Runner
from runners.config.tree import PARTS, choices, one_of, path_of, read, read_choice, unknown_choice

ABOUT = {
    "env": "The source of rewards. An environment without a contextual bandit also chooses the algorithm.",
    "algorithm": "The tuned algorithm. It chooses the task that plays it.",
    "tuner": "The method that proposes configurations.",
    "task": "The way in which an algorithm is played in an environment.",
    "paper": "The settings of a paper, for the parts it uses.",
    "scale": "The size of a run: caps on horizon and repetitions.",
    "runner": "The place where repetitions run.",
    "figure": "The figures that `reproduce` makes.",
}
_HEAD = """# Choices and keys

A command line makes one choice in each group and overrides keys: `env=movielens env.n_arms=300`. It takes precedence
over the settings of a paper for the chosen parts, and these over the defaults below; a scale caps horizon
and repetitions. On the command line: `bandit-bench list`, `bandit-bench list tuner`, `bandit-bench list tuner cdt`.
"""
_KEY = re.compile(r"(\w+): +[^#]*# (.*)")


def overview(group: str = "") -> str:
    """Return one line per choice of a group, or of all groups by default."""
    parts = []
    for name in [_known(group)] if group else [*ABOUT, *ABOUT_KEYS]:
        names = described(name) if name in ABOUT_KEYS else choices(name)
        lines = [f"  {choice:<22} {_line(name, choice)}".rstrip() for choice in names]
        parts.append("\n".join([f"{name}: {(ABOUT | ABOUT_KEYS)[name]}", *lines]))
    return "\n\n".join(parts)


def entry(group: str, choice: str, results: Path) -> str:
    """Return a choice in Markdown, with description, source and settings, and a tuner's performance in ``results``."""
    if _known(group) in ABOUT_KEYS:
        return _declared(group, choice)
    if choice not in choices(group):
        raise unknown_choice(group, choice)
    cls, command = _class(group, choice), _comment(group, choice)[1]
    parts = [f"### `{group}={choice}`", _text(cls) if cls else _line(group, choice)]
    parts.append(f"`{command}`" if command else "")
    if group == "paper":
        sources = load_paper(choice)["sources"]
        values = leaves(load_paper(choice)["settings"])
        parts.append(_list(f"`{key}`: `{_yaml(values[key])}` ({': '.join(sources[key])})" for key in sources))
    elif group != "figure":
        parts.append(_list(_settings(read_choice(group, choice) or {}, cls, f"{group}/{choice}")))
    if group == "tuner" and cls:
        parts += [_able(cls), *fared(choice, results)]
    return "\n\n".join(filter(None, parts))


def pages(results: Path) -> dict[str, str]:
    """Return the Markdown pages of the reference by name: the keys of a run, and each group with its choices."""
    about = ABOUT | ABOUT_KEYS
    groups = [f"- [{group}](choices_{group}.md): {words}" for group, words in about.items()]
    keys = ["## Keys of a run", _list(_settings(vars(run_settings({})), RunSettings, "config"))]
    keys += ["## Keys of `reproduce`", _list(_settings(read("reproduce"), RunSettings, "reproduce"))]
    return {"choices": _text_of(_HEAD, "\n".join(groups), *keys)} | {
        f"choices_{group}": _text_of(f"# Choices and keys: {group}", words, *_entries(group, results))
        for group, words in about.items()
    }


def _entries(group: str, results: Path) -> Iterator[str]:
    names = list(described(group)) if group in ABOUT_KEYS else choices(group)
    if group == "figure":
        yield _list(f"`{name}`: {_line(group, name)}" for name in names)
        return
    for name in names:
        words = ": ".join(filter(None, [f"`{name}`", _line(group, name)]))
        yield f"<details><summary>{words}</summary>\n\n{entry(group, name, results)}\n\n</details>"


def _text_of(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _known(group: str) -> str:
    if group not in ABOUT | ABOUT_KEYS:
        raise ConfigError(f"list: found the group '{group}', {one_of(group, ABOUT | ABOUT_KEYS)}")
    return group


def _declared(group: str, name: str) -> str:
    """Return in Markdown the keys of a kind of figure or claim, or the columns of a file."""
    entries = described(group)
    if name not in entries:
        raise ConfigError(f"{group}: found '{name}', {one_of(name, entries)}")
    found = entries[name]
    if group == "column":
        columns = (f"`{column}` {told.type}: {told.says}" for column, told in found.items())
        return f"### `{name}.csv`\n\n{_list(columns)}"
    parts = [f"### `{group}: {name}`"]
    for owner, keys in keys_of(found, entries["any"]):
        given = (
            f"`{key}` {_type(kind)}" + ("" if value in (..., "") else f" = `{_yaml(value)}`")
            for key, kind, value in keys
        )
        parts += [_text(owner), _list(given)]
    return "\n\n".join(parts)


def explanations(cls: type) -> dict[str, str]:
    """Return the descriptions of parameters in the docstrings of a class and its bases, by name."""
    found: dict[str, str] = explanations(cls.common) if hasattr(cls, "common") else {}
    for base in reversed(cls.__mro__):
        lines = inspect.cleandoc(base.__dict__.get("__doc__") or "").splitlines()
        names: list[str] = []
        for line in lines[lines.index("Parameters") + 2 :] if "Parameters" in lines else ():
            if line.startswith(" "):
                found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
            elif re.fullmatch(r"\w+(, \w+)*", line):
                names = line.split(", ")
                found |= dict.fromkeys(names, "")
            elif line:
                break
    return found


def fared(tuner: str, results: Path) -> Iterator[str]:
    """Yield a tuner's performance in the reference results of the papers' headline figures, if there are any.

    There is one sentence for each variant of the tuner: the mean rank, and regret divided by that of random
    configurations, over all tasks and by family. A second sentence names the defaults that have changed since the
    results were made.
    """
    today = leaves(read_choice("tuner", tuner) or {})
    for name, words in _ranked():
        found = [result for result in ResultFiles.of(results, name) if result.has("ranks.csv")]
        for method, typed in words.items() if found else ():
            if f"tuner={tuner}" not in typed:
                continue
            ranks, families, settings = _ranks_in(found[0])
            rows = ranks[ranks[METHOD] == method].to_dict("records")
            by_family = families[families[METHOD] == method].to_dict("records")
            each = ", ".join(f"{row['family']} {row['relative']:.2f}" for row in by_family)
            if rows:
                row = rows[0]
                yield (
                    f"In `{name}` as `{' '.join(typed)}`: mean rank {row['mean_rank']:.1f} ({row['ci_low']:.1f} to "
                    f"{row['ci_high']:.1f}) of {len(ranks)} over {row['tasks']:g} tasks; regret divided by "
                    f"that of random configurations {row['relative']:.2f} ({row['relative_low']:.2f} to "
                    f"{row['relative_high']:.2f}); by family: {each}."
                )
                then = [(one.key.removeprefix(f"tuner.{tuner}."), one.values) for one in settings]
                others = [f"`{key}` = `{_yaml(value)}`" for key, (value, *_) in then if today.get(key, value) != value]
                if others:
                    yield f"That was with the default {', '.join(others)}."


@cache
def _ranks_in(result: ResultFiles) -> tuple[Any, Any, list[Setting]]:
    """Return the mean ranks, the ratios by family, and the settings that had their default values in a result."""
    by_default = [setting for setting in result.about.settings if setting.where == SUITES_DEFAULT and setting.values]
    return result.csv("ranks.csv"), result.csv("table.csv"), by_default


@cache
def _ranked() -> list[tuple[str, dict[str, list[str]]]]:
    """Return the names of the headline figures that rank methods, each with the overrides of the methods."""
    found = []
    for paper in choices("paper"):
        if figure := load_paper(paper).get("headline", {}).get("figure"):
            blocks = [block.get(METHOD) for block in read(f"figure/{paper}/{figure}").get("runs", [])]
            words = [block for block in blocks if isinstance(block, dict)]  # other labels name methods of another block
            found.append((f"{paper}/{figure}", {str(k): v for block in words for k, v in block.items()}))
    return found


def _class(group: str, choice: str) -> type | None:
    target = (read_choice(group, choice) or {}).get("_target_", "???") if group in PARTS else "???"
    return None if target == "???" else class_at(target)


def _comment(group: str, choice: str) -> tuple[str, str]:
    """Return the text and the command in the first comment line of the file that defines a choice."""
    path = path_of(f"{group}/{choice}")
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    text = next((line[2:] for line in lines if line.startswith("# ") and not line.startswith("# @")), "")
    words, command, rest = re.match(r"(.*?):? ?((?:make|python|bandit-bench) [^;]*)?($|;.*)", text).groups("")  # type: ignore[union-attr]
    return words + rest, command


def _line(group: str, choice: str) -> str:
    if group in ABOUT_KEYS:
        found = described(group)[choice]
        return ", ".join(found) if group == "column" else _text(found).split("\n\n")[0]
    if group == "figure":
        figure = load_figure(choice)
        return f"{figure.title} ({type(figure).__name__.lower()})"
    about = load_paper(choice) if group == "paper" else {}
    if "title" in about:
        return f"{about['title']} ({about['authors']})" if "authors" in about else str(about["title"])
    cls = _class(group, choice)
    return _comment(group, choice)[0] or (_text(cls).split("\n\n")[0] if cls else "")


def _text(cls: type) -> str:
    """Return the docstring of a class as Markdown, without the section on parameters."""
    text = re.split(r"\n\w[\w ]*\n-{3,}", inspect.getdoc(cls) or "")[0].replace("``", "`")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def _settings(values: dict[str, Any], cls: type | None, name: str) -> Iterator[str]:
    """Yield each setting with its type, default and meaning.

    The space of an algorithm has one entry for each hyper-parameter.
    """
    path = path_of(name)
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    about = {match[1]: match[2] for line in lines if (match := _KEY.fullmatch(line.strip()))}
    owner = Runner if name.startswith("runner/") else cls
    about = (explanations(owner) if owner else {}) | about
    kinds = get_type_hints(owner, include_extras=True) if owner else {}
    for key, value in values.items():
        if key in ("defaults", "_target_", "name"):
            continue
        for inner, item in value.items() if key == "space" and isinstance(value, dict) else [("", value)]:
            kind = f" {_type(kinds[key])}" if key in kinds and not inner else ""
            meaning = about.get(inner or key, "").replace("``", "`")
            yield f"`{key}{inner and f'.{inner}'}`{kind} = `{_yaml(item)}`" + (f": {meaning}" if meaning else "")


def _type(kind: Any) -> str:
    """Return a type as text, such as ``int >= 0 | null``."""
    if get_origin(kind) is Annotated:
        base, *others = get_args(kind)
        limits = [limit for other in others for limit in getattr(other, "metadata", [other])]
        signs = (("ge", ">="), ("gt", ">"), ("le", "<="), ("lt", "<"))
        found = [f"{sign} {getattr(limit, name):g}" for limit in limits for name, sign in signs if hasattr(limit, name)]
        return " ".join([_type(base), ", ".join(found)]).strip()
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(_type, get_args(kind)))
    if get_origin(kind) is Literal:
        return " | ".join(map(_yaml, get_args(kind)))
    if get_args(kind):
        return f"{getattr(get_origin(kind), '__name__', '')}[{', '.join(map(_type, get_args(kind)))}]"
    return "null" if kind is NoneType else "..." if kind is Ellipsis else getattr(kind, "__name__", str(kind))


def _able(tuner: Any) -> str:
    able = {
        "tune several hyper-parameters at once": tuner.multiple,
        "take rewards that come late": tuner.remembers is not None,
        "start from a log of earlier rewards, and continue in another space": tuner.learns_history,
        "skip settings without effect (`when`)": "when" in tuner.heeds,
        "leave out combinations of values (`Space.without`)": "excluded" in tuner.heeds,
    }
    words = [word for word, is_so in able.items() if is_so]
    return f"It can {'; '.join(words)}." if words else ""


def _list(items: Iterator[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _yaml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_yaml, value))}]"
    return value if isinstance(value, str) else json.dumps(value)
