"""Words as they are printed: mathematics set as such, and keys of a configuration in words."""

import re
from collections.abc import Callable
from functools import cache

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
    ``plain`` is applied to what is no mathematics; default: dollars stay dollars in matplotlib.
    """
    plain = plain or (lambda text: text.replace("$", r"\$"))
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
    formula = re.sub(r"\\sqrt\{(.*)\}", r"√(\1)", formula)
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], formula)


def _formula(match: re.Match[str]) -> str:
    """Return what was found as a formula."""
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
