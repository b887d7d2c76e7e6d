"""Numbers, tables and words as a reader sees them: mathematics set as such, keys of a configuration in words."""

import math
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pandas as pd

INTERVAL = "95 % interval"
NONE = "–"
"""What stands for a number that is not there."""

_HEADS = {
    "ci": INTERVAL,
    "further": "95 % prediction interval",
    "n": "repetitions",
    "std": "standard deviation",
    "random_arms": "random arms",
}


def number(value: Any) -> str:
    """Return a number with four digits and separated thousands, a dash for a missing one, any text as it is."""
    if isinstance(value, str):
        return value or NONE
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NONE
    if value == round(value):
        return f"{value:,.0f}".replace("-", "−")
    decimals = 3 - math.floor(math.log10(abs(value)))
    if decimals > 7:
        return f"{value:.3e}".replace("-", "−")
    shown = f"{value:,.{max(decimals, 0)}f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown).replace("-", "−")


def listed(value: Any) -> str:
    """Return the value of a setting: a list with commas."""
    if isinstance(value, list):
        return ", ".join(map(listed, value)) or "none"
    return str(value) if isinstance(value, bool | dict) or value is None else number(value)


def sentence_list(words: Iterable[str]) -> str:
    """Return words as a sentence lists them: ``a, b and c``."""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def interval(low: float, high: float) -> str:
    return f"[{number(low)}, {number(high)}]" if math.isfinite(low) and math.isfinite(high) else NONE


def duration(seconds: float) -> str:
    """Return a time in the two largest units that count."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def readable(table: pd.DataFrame) -> dict[str, Any]:
    """Return a table for a template: heads with their kind (label, number or verdict), rows, verdicts.

    Empty columns are left out; a pair ``x_low``, ``x_high`` is one column, an interval.
    """
    heads: list[tuple[str, str]] = []
    columns: list[list[str]] = []
    names = [str(name) for name in table.columns if table[name].notna().any()]
    for name in names:
        stem = name.removesuffix("_low").removesuffix("_high")
        if name.endswith("_high") and f"{stem}_low" in names:
            continue
        if name.endswith("_low") and f"{stem}_high" in names:
            cells = _intervals(table, name, f"{stem}_high")
            heads.append((_HEADS.get(stem, f"{INTERVAL} of {stem}"), "number"))
        else:
            cells = [number(value) for value in table[name].tolist()]
            numeric = pd.api.types.is_numeric_dtype(table[name])
            kind = "number" if numeric else "verdict" if name == "verdict" else "label"
            heads.append((_HEADS.get(name, name.replace("ratio_", "ours / published ")).replace("_", " "), kind))
        columns.append(cells)
    verdicts = next((cells for (_, kind), cells in zip(heads, columns, strict=True) if kind == "verdict"), [])
    return {"heads": heads, "rows": [list(row) for row in zip(*columns, strict=True)], "verdicts": verdicts}


def _intervals(table: pd.DataFrame, low: str, high: str) -> list[str]:
    ends = (pd.to_numeric(table[end], errors="coerce") for end in (low, high))
    return [interval(first, last) for first, last in zip(*ends, strict=True)]


_GREEK = {"alpha", "beta", "gamma", "delta", "Gamma", "kappa", "lambda", "sigma", "tau", "theta", "pi"}
_LETTERS = "|".join(sorted(_GREEK, key=len, reverse=True))
_NAMES = {
    "glm_tsl": "GLM-TSL", "gloc": "GLOC", "gloc_code": "GLOC (code)", "house_prices": "House Prices",
    "laplace_ts": "Laplace-TS", "lints": "LinTS", "linucb": "LinUCB", "movielens": "MovieLens",
    "open_bandit": "Open Bandit", "sgd_ts": "SGD-TS", "titanic": "Titanic", "ucb_glm": "UCB-GLM",
    "yahoo_r6a": "Yahoo R6A",
}  # fmt: skip
"""What keys are called that are not English words."""
_NAME = re.compile(rf"\b({'|'.join(_NAMES)})\b")
_AS_WRITTEN = re.compile(
    r"\b[A-Za-z_][\w.]*=(?:\[[^\]]*\]|[^\s,;()]+)|[~\w./-]*\w\.(?:csv|gz|json|npz|parquet|pkl|py|tsv|txt|yaml)\b"
)
"""Words of a command line, and names of files."""
_LONG_NUMBER = re.compile(r"(?<![\w.])\d{5,}\b")
_SIGNS = {
    r"\Gamma": "Γ", r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\delta": "δ", r"\kappa": "κ", r"\lambda": "λ",
    r"\sigma": "σ", r"\tau": "τ", r"\theta": "θ", r"\pi": "π", r"\ln": "ln", "_0": "₀", "_1": "₁", "_2": "₂", "-": "−",
}  # fmt: skip
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_KEY = re.compile(r"(?<=[a-z0-9])_(?=[a-z])")
_POWER = re.compile(r"\^\(([^()]*)\)|\^(\d+\.\d+|[\w*]+)")
_MATHEMATICS = re.compile(
    rf"""
      (?P<root>sqrt\([^()]*\))
    | (?P<estimate>\b[A-Z]_hat\b(?:\s-\s[A-Z]\b)?)
    | (?P<value>\b(?P<of>[A-Z])\((?P<what>pi[0*]?|[\w-]{{2,}})\))
    | (?P<ratio>\b\d+/[A-Z]\^\w+)
    | (?P<power>\b(?:{_LETTERS}|[A-Z])\^(?:\([^()]*\)|\d+\.\d+|\w+))
    | (?P<squared>\bR2\b)
    | (?P<index>\bT[12]\b)
    | (?P<greek>\b(?P<letter>{_LETTERS})(?P<sub>\d?)\b(?P<number>\s-?\d[\d.]*\b)?)
    | (?P<symbol>\b[TKk]\b(?=$|\s=))
    """,
    re.VERBOSE,
)


def typeset(words: str, plain: Callable[[str], str] | None = None) -> str:
    r"""Return words as people write them, with mathematics between dollars, which LaTeX and matplotlib set alike.

    ``movielens, radius_scale = 10000`` gives ``MovieLens, radius scale = 10,000`` and ``beta0 = 3`` ``$\beta_0$ = 3``;
    ``env.path=my_log.csv`` and ``my_log.csv`` stay. ``plain`` is applied to what is not mathematics; default: dollars
    stay dollars in matplotlib.
    """
    plain = plain or (lambda text: text.replace("$", r"\$"))
    parts, end = [], 0
    for written in _AS_WRITTEN.finditer(words):
        parts += [_typeset(words[end : written.start()], plain), plain(written[0])]
        end = written.end()
    return "".join([*parts, _typeset(words[end:], plain)])


def on_one_line(words: str) -> str:
    """Return words with no place for a line break in those of a command line, which `typeset` leaves as they are."""
    return _AS_WRITTEN.sub(lambda written: written[0].replace(" ", "\N{NO-BREAK SPACE}"), words)


def _typeset(words: str, plain: Callable[[str], str]) -> str:
    words = _LONG_NUMBER.sub(lambda number: f"{int(number[0]):,}", _NAME.sub(lambda key: _NAMES[key[0]], words))
    words = _KEY.sub(" ", words)
    parts, end = [], 0
    for match in _MATHEMATICS.finditer(words):
        parts += [plain(words[end : match.start()]), f"${_formula(match)}$"]
        if match["number"]:
            parts.append(plain(" = ") + f"${match['number'].strip()}$")
        end = match.end()
    return "".join([*parts, plain(words[end:])])


@cache
def in_unicode(words: str) -> str:
    """Return words as `typeset` has them, in letters of Unicode: ``β₀ = 3``; powers keep their sign."""
    parts = typeset(words, lambda text: text.replace("$", "\0")).split("$")
    parts[1::2] = map(_letters, parts[1::2])
    return "".join(parts).replace("\0", "$")


def _letters(formula: str) -> str:
    formula = re.sub(r"\\hat\{(\w)\}", "\\1\N{COMBINING CIRCUMFLEX ACCENT}", formula)
    formula = re.sub(r"\\mathrm\{(.*?)\}", r"\1", formula).replace("^*", "*")
    formula = re.sub(r"\^\{([\w.]+)\}", r"^\1", formula)
    formula = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", formula)
    formula = re.sub(r"\\sqrt\{(\w|\\\w+)\}", r"√\1", formula)
    formula = re.sub(r"\\sqrt\{(.*)\}", r"√(\1)", formula)
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], formula)


def _formula(match: re.Match[str]) -> str:
    formula = match[0]
    if match["root"]:
        return rf"\sqrt{{{_symbols(formula[5:-1])}}}"
    if match["estimate"]:
        return re.sub(r"([A-Z])_hat", r"\\hat{\1}", formula)
    if match["value"]:
        what = match["what"]
        inner = {"pi": r"\pi", "pi0": r"\pi_0", "pi*": r"\pi^*"}.get(what, rf"\mathrm{{{what}}}")
        return f"{match['of']}({inner})"
    if match["squared"]:
        return "R^2"
    if match["index"]:
        return f"T_{formula[1]}"
    if match["greek"]:
        return "\\" + match["letter"] + (f"_{match['sub']}" if match["sub"] else "")
    return _symbols(formula)


def _symbols(text: str) -> str:
    """Return products and powers of letters as a formula."""
    powers = _POWER.sub(lambda power: f"^{{{power[1] or power[2]}}}", text)
    named = re.sub(rf"\b({_LETTERS})\b", r"\\\1", powers)
    return re.sub(r"\bln\b", r"\\ln", named)
