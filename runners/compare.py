"""Tuners side by side: python -m runners.compare tuner=my_module.MyTuner,tl,cdt env=synthetic_linear jobs=2.

All words are those of ``runners.run``. Values with commas between them are compared: tuners, also classes of one's own,
as lines; all else, such as ``env=synthetic_linear,movielens`` or ``env.dim=5,25``, as panels. The first tuner is held
against every other one. A tuner's own settings follow its name: "tuner=cdt,cdt(radius_scale=0.5)", in quotes because of
the parentheses; ``tuner.radius_scale=0.5`` alone is for all of them.

Besides: ``name``, the folder below ``results/compare/`` (default: comparison), and ``column``, the column of the trace
that is compared (default: regret; of regret and seconds less is better, of others more).
``repetitions=until_decided`` adds repetitions where a verdict is open, up to ``max_repetitions`` (default: 400).
``format=pdf,tex`` also writes the picture as PDF, with ``size=column`` or ``size=text`` as wide as that in a paper, and
the table as LaTeX.
"""

import json
import math
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from hydra.core.override_parser.types import Override, ValueType

from bench.errors import ConfigError
from runners.cli import check_commas, check_words, command
from runners.config.compose import KEYS, from_overrides, parse, text_of
from runners.config.tree import CLASS, GROUPS, read
from runners.execute.stand_ins import announcement, missing_data
from runners.results.store import results_folder, write_text

if TYPE_CHECKING:  # slow to import
    import pandas as pd

    from bench.report.page import Size

METHOD = "method"
COMPARISON = "comparison.json"
"""The figure of a comparison, beside its results."""
_OPTIONS = {"name": "comparison", "column": "regret", "format": "", "size": ""}
_SIZES = ("horizon", "repetitions", "seed")
_MACHINE = ("jobs", "runner")
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,80}")
_TUNER = re.compile(r"([\w.]*)(?:\((.*)\))?")


def main() -> int:
    """Compare what the command line names; return the exit code."""
    words = sys.argv[1:]
    if "--help" in words or "-h" in words:
        print(__doc__)
        return 0
    return command(lambda: compare(words))


class Plan(NamedTuple):
    """What a command line asks for: the figure, overrides for all its runs, and for where they are run.

    ``until_decided`` is the largest number of repetitions, where they are run until the claims are decided; ``formats``
    are written beside the usual files, ``size`` is how wide a PDF is.
    """

    figure: dict[str, Any]
    scale: str
    sizes: list[str]
    machine: list[str]
    until_decided: int | None
    formats: tuple[str, ...]
    size: "Size"


def compare(words: list[str]) -> bool:
    """Run what is missing of every combination, draw a figure, print what differs; return whether nothing failed."""
    content, scale, sizes, machine, until, formats, size = plan(words)
    import pandas as pd

    from bench.report.figure import read_figure
    from runners.execute.figure_run import FigureRun
    from runners.execute.reproduce_figure import reproduce_figure
    from runners.results.pages import write_gallery

    figure, name = read_figure(content), content["name"]
    (block,) = content["runs"]
    first = [override for labels in block.values() for override in next(iter(labels.values()))]
    run = from_overrides([f"scale={scale}", f"paper={figure.paper}", *first, *figure.common, *sizes, *machine])
    for line in announcement({name: missing_data(figure)}):
        print(line, flush=True)
    n_repetitions = math.prod(map(len, block.values())) * (until or run.settings.repetitions)
    command_line = shlex.join(["python", "-m", "runners.compare", *words])
    where = f"compare/{name}"
    result = reproduce_figure(
        FigureRun(figure, where, scale, sizes, command_line, until_decided=until, formats=formats, size=size),
        jobs=min(run.settings.jobs, n_repetitions),
        runner=run.runner,
    )
    write_text(result.folder / COMPARISON, json.dumps(content, indent=1) + "\n")
    write_gallery(results_folder())
    print(_text(pd.read_csv(result.folder / "table.csv"), result.claims, content["panels"]))
    print(f"picture: {result.folder / name}.png")
    print(f"page: {result.folder / 'index.html'}")
    return result.complete


def plan(words: list[str]) -> Plan:
    """Read a command line. Raises ConfigError when a word is no override, or names no choice of its group."""
    from bench.report.saving import extra_formats, print_size  # slow to import
    from runners.results.until_decided import most_repetitions

    check_commas(words)
    tuners = [word.partition("=")[2] for word in words if word.startswith("tuner=")]
    if len(tuners) > 1:
        raise ConfigError(f"tuner: given {len(tuners)} times, expected once, with commas between the tuners")
    overrides = {(word := _parse(text)).key_or_group: word for text in words if not text.startswith("tuner=")}
    options = _OPTIONS | {key: text_of(overrides.pop(key)) for key in _OPTIONS if key in overrides}
    formats = extra_formats(options["format"])
    size = print_size(options["size"], formats)
    if not _NAME.fullmatch(options["name"]):
        raise ConfigError(f"name: found '{options['name']}', expected letters, digits, - and _")
    numbers = {key: word.value() for key, word in overrides.items() if not word.is_sweep_override()}
    until = most_repetitions(numbers.get("repetitions"), numbers.get("max_repetitions"))
    if until is not None:
        overrides = {key: word for key, word in overrides.items() if key not in ("repetitions", "max_repetitions")}
    axes = {METHOD: _tuners(tuners[0] if tuners else "")}
    if len(axes[METHOD]) < 2:
        raise ConfigError(f"tuner: found only '{tuners[0]}', expected at least two: tuner={tuners[0]},tl")
    axes |= {key: _values(word) for key, word in overrides.items() if word.is_sweep_override()}
    plain = {key: str(word.input_line) for key, word in overrides.items() if not word.is_sweep_override()}
    chosen = [override for values in axes.values() for overrides in values.values() for override in overrides]
    check_words([*plain.values(), *chosen], KEYS)

    def of(*groups: str) -> list[str]:
        return [word for key, word in plain.items() if key.partition(".")[0] in groups]

    common = [word for word in plain.values() if word not in of(*_SIZES, *_MACHINE, "scale", "paper")]
    figure = _figure(options, str(numbers.get("paper", "none")), axes, common)
    assumed = [key for key in overrides if key.partition(".")[0] not in _MACHINE]
    figure["sources"] = {key: ["assumed", "the command line"] for key in assumed}
    return Plan(figure, str(numbers.get("scale", "paper")), of(*_SIZES), of(*_MACHINE), until, formats, size)


def _parse(word: str) -> Override:
    parsed = parse(word)
    if parsed.value_type not in (ValueType.ELEMENT, ValueType.CHOICE_SWEEP, ValueType.SIMPLE_CHOICE_SWEEP):
        raise ConfigError(f"{parsed.key_or_group}: found '{word}', expected values with commas between them")
    return parsed


def _tuners(text: str) -> dict[str, list[str]]:
    """Return tuners, by the names they are shown by, each with its overrides."""
    if not text:
        raise ConfigError("tuner: found '', expected at least two with commas between them, such as tuner=cdt,tl")
    # By the names, and so in the colours, in which the suite's own figures show them
    methods = read("figure/tournament/ranks")["runs"][0][METHOD]
    names = {words[0].partition("=")[2]: str(label) for label, words in methods.items() if len(words) == 1}
    tuners: dict[str, list[str]] = {}
    for tuner in re.split(r",(?![^()]*\))", text):  # at commas outside of parentheses
        match = _TUNER.fullmatch(tuner)
        if not match:
            raise ConfigError(f"tuner: found '{tuner}', expected a name, or one with settings: cdt(radius_scale=0.5)")
        name = match[1]
        words = re.split(r",\s*(?![^\[{]*[\]}])", match[2]) if match[2] else []  # at commas outside of brackets
        settings = [word.strip().partition("=") for word in words]
        if not all(re.fullmatch(r"\w[\w.]*", key) and equals and value for key, equals, value in settings):
            raise ConfigError(f"tuner: found '{tuner}', expected settings as in {name}(key=value, key=value)")
        label = name.rpartition(".")[2] if CLASS.fullmatch(name) else names.get(name, name)
        if settings:
            label += f" ({', '.join(f'{key} = {value}' for key, _, value in settings)})"
        if label in tuners:
            raise ConfigError(f"tuner: found two called '{label}', expected different names")
        tuners[label] = [f"tuner={name}", *(f"tuner.{key}={value}" for key, _, value in settings)]
    return tuners


def _values(override: Override) -> dict[str, list[str]]:
    """Return the labels of an axis of panels, each with its override."""
    key = override.key_or_group
    prefix = str(override.input_line).partition("=")[0]
    return {
        text if key in GROUPS else f"{key} = {text}": [f"{prefix}={text}"] for text in override.sweep_string_iterator()
    }


def _figure(
    options: dict[str, str], paper: str, axes: dict[str, dict[str, list[str]]], common: list[str]
) -> dict[str, Any]:
    """Return the figure: curves, and a claim for the first tuner against each of the others."""
    column = options["column"]
    is_cost = "regret" in column or column.startswith("seconds")
    label = f"cumulative {column}" if column in ("regret", "reward") else column
    panels = [axis for axis in axes if axis != METHOD]
    first, *others = axes[METHOD]
    where = f" ({', '.join(common)})" if common else ""
    claims = [
        {
            "id": other,
            "text": f"{first} ends with {'less' if is_cost else 'more'} {column} than {other}",
            "kind": "paired_difference",
            "left": {METHOD: first},
            "right": {METHOD: other},
            "expect": "less" if is_cost else "greater",
            "per": panels,
        }
        for other in others
    ]
    return {
        "name": options["name"],
        "paper": paper,
        "title": f"{label.capitalize()} by tuner{where}",
        "kind": "curves",
        "column": column,
        "x_label": "round",
        "y_label": label,
        "panels": panels,
        "common": common,
        "runs": [axes],
        "claims": claims,
    }


def _text(table: "pd.DataFrame", claims: "pd.DataFrame", panels: list[str]) -> str:
    """Return means with intervals, then the differences to the first tuner."""
    from bench.report.claims.judgement import in_words  # slow to import

    lines = []
    for _, row in table.iterrows():
        where = ", ".join(str(row[axis]) for axis in (*panels, METHOD))
        if not row["n"]:
            lines.append(f"  {where:<40} {'no results':>12}")
            continue
        lines.append(f"  {where:<40} {row['mean']:>12.5g}   95 % interval {row['ci_low']:.4g} .. {row['ci_high']:.4g}")
    for _, claim in claims.iterrows():
        case = "" if claim["case"] in ("", "all") else f" ({claim['case']})"
        note = f"; {claim['note']}" if claim["note"] else ""
        if claim["needs"] > 0:
            note += f"; about {claim['needs']:,.0f} repetitions would decide it"
        difference = f", difference {claim['estimate']:.4g} [{claim['ci_low']:.4g}, {claim['ci_high']:.4g}]"
        difference *= not math.isnan(claim["estimate"])
        lines.append(f"  {claim['text']}{case}: {in_words(claim['verdict'])}{difference}{note}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
