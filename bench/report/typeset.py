"""Numbers, tables and words in a form for readers."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import starmap
from typing import Any

import pandas as pd

INTERVAL = "95 % interval"
NONE = "–"
"""Sign for a missing number."""

_HEADS = {
    "ci": INTERVAL,
    "further": "95 % prediction interval",
    "n": "repetitions",
    "std": "standard deviation",
    "random_arms": "random arms",
}


def number(value: Any) -> str:
    """Return a number with four significant digits and separated thousands.

    A missing number gives a dash, and text is unchanged.
    """
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
    """Return the value of a setting as text; the elements of a list are separated by commas."""
    if isinstance(value, list):
        return ", ".join(map(listed, value)) or "none"
    return str(value) if isinstance(value, bool | dict) or value is None else number(value)


def sentence_list(words: Iterable[str]) -> str:
    """Return ``words`` as a list in a sentence, such as ``a, b and c``."""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def interval(low: float, high: float) -> str:
    return f"[{number(low)}, {number(high)}]" if math.isfinite(low) and math.isfinite(high) else NONE


def duration(seconds: float) -> str:
    """Return a time in its two largest units."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def readable(table: pd.DataFrame) -> dict[str, Any]:
    """Return the rows and heads of a table for a template, with the kind of each head (label, number or verdict).

    Empty columns are left out, and a pair ``x_low``, ``x_high`` becomes one column with an interval. Deviations and
    sizes come last, so that a phone shows the means.
    """
    heads: list[tuple[str, str]] = []
    columns: list[list[str]] = []
    names = [str(name) for name in table.columns if table[name].notna().any()]
    names.sort(key=lambda name: name in ("std", "n", "rounds"))
    for name in names:
        stem = name.removesuffix("_low").removesuffix("_high")
        if name.endswith("_high") and f"{stem}_low" in names:
            continue
        if name.endswith("_low") and f"{stem}_high" in names:
            ends = (pd.to_numeric(table[end], errors="coerce") for end in (name, f"{stem}_high"))
            cells = list(starmap(interval, zip(*ends, strict=True)))
            heads.append((_HEADS.get(stem, f"{INTERVAL} of {stem}"), "number"))
        else:
            cells = [number(value) for value in table[name].tolist()]
            numeric = pd.api.types.is_numeric_dtype(table[name])
            kind = "number" if numeric else "verdict" if name == "verdict" else "label"
            heads.append((_HEADS.get(name, name.replace("ratio_", "ours / published ")).replace("_", " "), kind))
        columns.append(cells)
    return {"heads": heads, "rows": [list(row) for row in zip(*columns, strict=True)]}


_FORMULA = re.compile(r"\$(?=[^\s$])([^$]*[^\s$]|[^\s$])\$(?!\d)")
"""Mathematics between dollars; "$5, or $6" is none."""
_SIGNS = {
    r"\Gamma": "Γ", r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\delta": "δ", r"\kappa": "κ", r"\lambda": "λ",
    r"\sigma": "σ", r"\tau": "τ", r"\theta": "θ", r"\pi": "π", r"\ln": "ln", "_0": "₀", "_1": "₁", "_2": "₂", "-": "−",
}  # fmt: skip
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))


def spelled(text: str, words: Mapping[str, str]) -> str:
    """Return a text in which whole words are replaced by a paper's words (see `Looks`), the longest word first."""
    if not words:
        return text
    any_of = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{any_of})(?!(?<=\w)\w)", lambda found: words[found[0]], text)


def typeset(words: str, plain: Callable[[str], str] | None = None) -> str:
    r"""Return words with mathematics between dollars for LaTeX and matplotlib, such as ``$\beta_0$ = 3``.

    ``plain`` is applied to all other text, and to formulas that matplotlib cannot read; by default dollars stay dollars
    in matplotlib.
    """
    plain = plain or (lambda text: text.replace("$", r"\$"))
    parts, end = [], 0
    for found in _FORMULA.finditer(words):
        if _is_formula(found[0]):
            parts += [plain(words[end : found.start()]), found[0]]
            end = found.end()
    return "".join([*parts, plain(words[end:])])


@cache
def _is_formula(text: str) -> bool:
    from matplotlib.mathtext import MathTextParser  # slow to import, and only pictures and tables need it

    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return False
    return True


@cache
def in_unicode(words: str) -> str:
    """Return words with mathematics in Unicode characters, such as ``β₀ = 3``; the sign ^ of a power is kept."""
    return in_letters(words, str)


def in_letters(words: str, formula: Callable[[str], str]) -> str:
    """Return words with mathematics in Unicode characters; ``formula`` is applied to each formula."""
    return _FORMULA.sub(lambda found: formula(_letters(found[1])) if _is_formula(found[0]) else found[0], words)


def _letters(formula: str) -> str:
    formula = re.sub(r"\\hat\{(\w)\}", "\\1\N{COMBINING CIRCUMFLEX ACCENT}", formula)
    formula = re.sub(r"\\mathrm\{(.*?)\}", r"\1", formula).replace("^*", "*")
    formula = re.sub(r"\^\{([\w.]+)\}", r"^\1", formula)
    formula = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", formula)
    formula = re.sub(r"\\sqrt\{(\w|\\\w+)\}", r"√\1", formula)
    formula = re.sub(r"\\sqrt\{(.*)\}", r"√(\1)", formula)
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], formula)
