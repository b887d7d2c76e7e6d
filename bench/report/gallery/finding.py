"""What a figure's claims came to, in a sentence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench.report.claims.judgement import in_words
from bench.report.gallery.groups import parted

_ONE = {"holds": "holds", "fails": "fails", "tie": "is a tie", "open": "is open", "says_nothing": "has no evidence"}
_CASES = _ONE | {
    "holds": "hold",
    "fails": "fail",
    "tie": "are ties",
    "open": "are open",
    "says_nothing": "have no evidence",
}
_WHEREVER = "wherever they are decided"
_CLAIMS = {
    "holds": f"hold {_WHEREVER}",
    "fails": f"fail {_WHEREVER}",
    "tie": f"are ties {_WHEREVER}",
    "differs": "differ from case to case",
    "open": "are open",
    "says_nothing": "have no evidence",
}
_CLAIM = _ONE | {
    "holds": "holds wherever it is decided",
    "fails": "fails wherever it is decided",
    "tie": "is a tie wherever it is decided",
    "differs": "differs from case to case",
}


def finding(claims: Sequence[Sequence[str]]) -> str:
    """Return a sentence on the verdicts of some claims, given for each claim those of its cases; "" without claims."""
    if not claims:
        return ""
    if len(claims) > 1 and all(len(verdicts) == 1 for verdicts in claims):
        return f"Of {len(claims)} claims, {_list(Counter(verdict for (verdict,) in claims), _ONE, _CASES)}."
    if len(claims) > 1:
        outcomes = Counter(_outcome(set(verdicts)) for verdicts in claims)
        return f"Of {len(claims)} claims, {_list(outcomes, _CLAIM, _CLAIMS)}."
    (verdicts,) = claims
    if len(verdicts) > 1:
        return f"Of the claim's {len(verdicts)} cases, {_list(Counter(verdicts), _ONE, _CASES)}."
    return f"The claim {_ONE[verdicts[0]]}."


def compared(claims: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """Return what the claims of a comparison begin with, then by verdict what they are held against; "" without any."""
    if not claims:
        return ""
    first, names, last = parted([cases[0]["text"] for cases in claims])
    parts = []
    for verdict in _ONE:
        counts = [(name, sum(case["verdict"] == verdict for case in cases), len(cases))
                  for name, cases in zip(names, claims, strict=True)]  # fmt: skip
        words = [name if count == of else f"{name} ({count} of {of})" for name, count, of in counts if count]
        parts += [f"{', '.join(words)}: {in_words(verdict)}"] if words else []
    return " ".join(filter(None, [first, "; ".join(parts), last])) + "."


def _outcome(verdicts: set[str]) -> str:
    decided = verdicts & {"holds", "fails", "tie"}
    if len(decided) > 1:
        return "differs"
    return next(iter(decided), "open" if "open" in verdicts else "says_nothing")


def _list(counts: Counter[str], one: dict[str, str], several: dict[str, str]) -> str:
    parts = [f"{counts[key]} {several[key] if counts[key] > 1 else one[key]}" for key in several if counts[key]]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
