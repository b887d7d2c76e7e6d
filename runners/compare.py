"""Tuners side by side: python -m runners.compare tuner=my_module.MyTuner,tl,cdt env=synthetic_linear jobs=2.

Its arguments are those of ``runners.run``. Several values, separated by commas, are compared: tuners as lines; all
others, such as ``env=synthetic_linear,movielens`` or ``env.dim=5,25``, as panels. ``lines=algorithm`` makes lines of
algorithms, ``lines=tuner,algorithm`` of all pairs. The first line is compared with each of the others. Tuners,
environments and algorithms may be your own classes, and take settings in parentheses:
"tuner=cdt,cdt(radius_scale=0.5)", in quotes because of the parentheses; ``tuner.radius_scale=0.5`` applies to all
tuners. A name before a value is its label: "tuner=Mine=my_module.MyTuner(threshold=0.9),tl" "env=Linear
model=synthetic_linear,Films=movielens".

Further keys: ``name``, the folder below ``results/compare/`` (default: made from the compared parts), and ``column``,
the compared column of the trace (default: regret, or the mean reward per accepted round of a log). Low values of regret
are better, high values of any other column. ``repetitions=until_decided`` adds repetitions while a verdict is open, up
to ``max_repetitions`` (default: 400). A line that cannot be run is left out; with ``strict=true`` it stops the others.
``y_scale=log``, ``x_scale=log`` and ``colors=TL:black,CDT:#d55e00`` affect the drawing, ``rounds=500`` is the number of
rounds of a curve (default: 60). ``shard=3/40`` runs the third of forty shares of the repetitions and draws nothing: the
same command without ``shard`` collects them. ``dry_run=true`` prints the number of missing repetitions, and an estimate
of their time. ``format=pdf,tex`` also writes the picture as PDF and the table as LaTeX; ``size=column`` or
``size=text`` makes the PDF as wide as a paper's column or text. Each verdict states whether it survives Holm's
correction for the number of verdicts.
"""

import math
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bandit_bench._parts import Labelled
from bandit_bench._plan import LOOK, METHOD
from bench.errors import ConfigError
from bench.report.formats import extra_formats, print_size
from runners.command import PLAIN, instead_of_figures, plain_command
from runners.config.tree import PARTS, read_choice

if TYPE_CHECKING:  # slow to import
    import pandas as pd
    from hydra.core.override_parser.types import Override

_ARGUMENTS = ("horizon", "repetitions", "max_repetitions", "seed", "jobs", "strict", "renew", "tie")
_TEXTS = ("paper", "scale", "name", "column")
_LISTS = ("lines", "format", "colors")
_OWN = ("runner", "size", "shard", "dry_run")
_PLAIN = re.compile(PLAIN, re.ASCII | re.IGNORECASE)
_TOKEN = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|.""", re.DOTALL)
_PART = re.compile(r"([\w.]+)(?:\((.*)\))?", re.DOTALL)
_LABEL = re.compile(r"([^\W\d][^=,()'\"\[\]{}]*)=(.*)", re.DOTALL)
_HOLM = {"yes": " (also after Holm's correction)", "no": " (not after Holm's correction)"}


def compare(words: list[str]) -> bool:
    """Run all combinations' missing repetitions, draw a figure, print differences; return whether all succeeded."""
    from bandit_bench._compare import compare as made  # slow to import

    given = arguments(words)
    comparison = made(given.pop("tuners"), **given)
    if given.get("instead"):
        return True
    finals, table = comparison.finals, comparison.table
    panels = [axis for axis in table.columns[: table.columns.get_loc("n")] if axis != METHOD]
    accepted = finals.groupby([*panels, METHOD])["accepted"].mean().to_dict() if "accepted" in finals else {}
    print(_text(table, comparison.verdicts, panels, accepted))
    for line in comparison.notes:
        print(line)
    folder, name = comparison.folder, comparison.folder.name
    for suffix in dict.fromkeys(["png", *given["formats"]]):
        print(f"table: {folder / 'table.tex'}" if suffix == "tex" else f"picture: {folder / name}.{suffix}")
    print(f"page: {folder / 'index.html'}")
    return comparison.is_complete


def _text(
    table: "pd.DataFrame", claims: "pd.DataFrame", panels: list[str], accepted: Mapping[Any, float] | None = None
) -> str:
    """Return the means with intervals and numbers of ``accepted`` rounds, then the differences from the first tuner."""
    from bench.report.claims.judgement import MIN_REPETITIONS  # slow to import

    lines = []
    rows = table.to_dict("records")  # iterating over rows would give all columns one type
    places: dict[Any, int] = {}
    by_panel = [places.setdefault(tuple(row[panel] for panel in panels), len(places)) for row in rows]
    for _, row in sorted(zip(by_panel, rows, strict=True), key=lambda pair: pair[0]):
        labels = [row[axis] for axis in (*panels, METHOD)]
        where = ", ".join(f"{label:g}" if isinstance(label, float) else str(label) for label in labels)
        if not row["n"]:
            lines.append(f"  {where:<40} {'no results':>12}")
            continue
        interval = "" if math.isnan(row["ci_low"]) else f"   95 % interval {row['ci_low']:.4g} .. {row['ci_high']:.4g}"
        rounds = (accepted or {}).get(tuple(labels) if panels else row[METHOD])
        interval += "" if rounds is None else f"   {rounds:,.0f} accepted rounds"
        lines.append(f"  {where:<40} {row['mean']:>12.5g}{interval}")
    for _, claim in claims.iterrows():
        case = f" ({claim['case']})" if panels and claim["case"] else ""  # a panel may be called "all"
        note = f"; {claim['note']}" if claim["note"] else ""
        if claim["repetitions_needed"] > 0 and claim["n"] >= MIN_REPETITIONS:  # fewer repetitions predict nothing
            note += f"; about {claim['repetitions_needed']:,.0f} repetitions would decide it"
        ends = "" if math.isnan(claim["ci_low"]) else f" [{claim['ci_low']:.4g}, {claim['ci_high']:.4g}]"
        difference = f", difference {claim['estimate']:.4g}{ends}"
        difference *= not math.isnan(claim["estimate"])
        verdict = claim["verdict"] + _HOLM.get(claim["holm"], "")
        lines.append(f"  {claim['text']}{case}: {verdict}{difference}{note}")
    return "\n".join(lines)


def arguments(words: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `bandit_bench.compare`.

    Values are read by Hydra's parser. Commas separate lines or panels, each with or without a label; parts take
    settings in parentheses. Raises ConfigError naming a wrong argument.
    """
    given: dict[str, Any] = {
        "settings": {},
        "sweep": {},
        "command": shlex.join(["python", "-m", "runners.compare", *words]),
    }
    seen: set[str] = set()
    own: dict[str, Any] = {}
    runner: dict[str, Any] = {}
    for word, following in pairwise([*words, ""]):
        key, equals, text = word.partition("=")
        key = key.removeprefix("++").removeprefix("+")
        if not equals or not key or key.startswith("~"):
            raise ConfigError(f"{word}: found no key with a value, expected key=value")
        if text.endswith(","):
            raise ConfigError(f"{key}: found a space after the comma in '{word}', expected none: {word}{following}")
        if key in seen:
            raise ConfigError(f"{key}: found twice, expected once, with commas between values: {key}=a,b")
        seen.add(key)
        if key in PARTS:
            given["tuners" if key == "tuner" else key] = [part_in_words(key, piece) for piece in split(text)]
        elif key in _LISTS:
            own[key] = split(text.strip("[]{}"))
        elif key.startswith("runner."):
            runner[key.removeprefix("runner.")] = _value(key, text)
        elif len(values := _values(key, text)) > 1:
            given["sweep"][key] = values
        elif key in (*_OWN, *_ARGUMENTS, *LOOK):
            own[key] = values[0][1]
        elif key in _TEXTS:
            given[key] = text if re.fullmatch(r"[\w.-]+", text) else str(values[0][1])  # true and 1e3 are words here
        else:
            given["settings"][key] = values[0][1]
    if "tuners" not in given:
        raise ConfigError("tuner: found '', expected at least two with commas between them, such as tuner=cdt,tl")
    if "runner" in own or runner:
        chosen = read_choice("runner", str(own.pop("runner", "loky"))) or {}
        given["runner"] = {key: value for key, value in (chosen | runner).items() if value is not None}
    given["formats"] = extra_formats(own.pop("format", None))
    given["size"] = print_size(own.pop("size", None), given["formats"])
    given["instead"] = instead_of_figures(own.pop("shard", None), dry_run=own.pop("dry_run", False))
    if "colors" in own:
        own["colors"] = dict(_color(pair) for pair in own["colors"])
    return given | own


def split(text: str) -> list[str]:
    """Split a text at commas outside of quotes, parentheses, brackets and braces."""
    pieces, depth = [""], 0
    for token in _TOKEN.findall(text):
        depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
        if token == "," and not depth:
            pieces.append("")
        else:
            pieces[-1] += token
    return pieces


def _parse(key: str, text: str) -> "Override":
    from hydra.core.override_parser.overrides_parser import OverridesParser  # slow to import

    (parsed,) = OverridesParser.create().parse_overrides([f"{key}={text}"])
    return parsed


def _value(key: str, text: str) -> Any:
    if _PLAIN.fullmatch(text):  # which need no Hydra
        return int(text) if text.isdigit() else text
    return _parse(key, text).value()


def part_in_words(group: str, piece: str) -> Labelled:
    """Return the part that words such as ``Mine=my_module.MyTuner(threshold=0.9)`` name."""
    label, rest = _with_label(piece)
    match = _PART.fullmatch(rest)
    if not match:
        raise ConfigError(f"{group}: found '{piece}', expected a name, or one with settings: cdt(radius_scale=0.5)")
    name, inside = match.groups()
    settings = [word.strip().partition("=") for word in split(inside or "") if word.strip()]
    if not all(key and value for key, _, value in settings):
        raise ConfigError(f"{group}: found '{piece}', expected settings as in {name}(key=value, key=value)")
    values = {key: _value(key, value) for key, _, value in settings}
    return Labelled(label, (name, values) if values else name)


def _values(key: str, text: str) -> list[Labelled]:
    """Return the values of a key, each with a label, which by default is the value as the user wrote it."""
    pieces = split(text)
    if len(pieces) == 1 and re.match(r"(choice|range|glob|sort|shuffle|tag|interval)\(", text):
        override = _parse(key, text)
        return list(map(Labelled, override.sweep_string_iterator(), override.sweep_iterator()))
    if len(pieces) == 1:
        return [Labelled(text, _value(key, text))]
    return [Labelled(label or value, _value(key, value)) for label, value in map(_with_label, pieces)]


def _with_label(piece: str) -> tuple[str, str]:
    match = _LABEL.fullmatch(piece)
    return (match[1], match[2]) if match else ("", piece)


def _color(pair: str) -> tuple[str, str]:
    name, _, color = (word.strip(" '\"") for word in pair.partition(":"))
    if not (name and color):
        raise ConfigError(f"colors: found '{pair}', expected a colour by label: colors=TL:black,CDT:#d55e00")
    return name, color


main = partial(plain_command, __doc__, compare)

if __name__ == "__main__":
    sys.exit(main())
