"""Claims that count the cases of others."""

import math

import pytest
from claim_cases import CENTRED, MOSTLY, compare, judged, pairs


@pytest.mark.parametrize(
    ("shifts", "verdict", "interval"),
    [
        ([-1, -1, -1], "holds", (1, 1, 1)),
        ([-1, -1, 1], "holds", (2 / 3, 2 / 3, 2 / 3)),
        ([-1, -1, 1, 1], "fails", (1 / 2, 1 / 2, 1 / 2)),  # two of four are not more than half
        ([-1, -1, -1e-4, -1e-4], "open", (1 / 2, 1, 1)),
        ([-1, 1e-4, 1e-4], "open", (1 / 3, 1 / 3, 1)),
        ([-1, -1, 1, 1e-4, 1e-4], "open", (2 / 5, 2 / 5, 4 / 5)),
        ([-1, -1, -1, 1e-4], "holds", (3 / 4, 3 / 4, 1)),
        ([-1, -1e-4, 1, 1], "fails", (1 / 4, 1 / 2, 1 / 2)),
    ],
)
def test_count_is_more_than_a_share(shifts: list[float], verdict: str, interval: tuple[float, ...]) -> None:
    """Its interval runs from the share of cases that hold to the share of cases that do not fail."""
    by_panel = {f"p{i}": shift for i, shift in enumerate(shifts)}
    finals = pairs(by_panel, lambda panel, method: 100 + (by_panel[panel] + 0.01 * CENTRED) * (method == "A"))
    rows = judged(MOSTLY, {"id": "1", **compare("less", per=["panel"], tie=0)}, of=finals)
    assert rows["claim"].tolist() == ["m"] + ["1"] * len(shifts)
    row = rows.iloc[0]
    assert (row["verdict"], row["n"]) == (verdict, len(shifts))
    assert (row["ci_low"], row["estimate"], row["ci_high"]) == pytest.approx(interval)


@pytest.mark.parametrize(
    ("expect", "verdict"), [("less", "fails"), ("at_most", "holds"), ("greater", "fails"), ("at_least", "holds")]
)
def test_a_tie_counts_for_no_more_and_no_less(expect: str, verdict: str) -> None:
    finals = pairs("PQR", lambda _, method: 100 + CENTRED * (method == "A"))
    rows = judged(compare(expect, per=["panel"]), MOSTLY, of=finals)
    assert rows["verdict"].tolist() == ["tie"] * 3 + [verdict]
    assert rows["note"].iloc[-1] == "0 hold, 3 tie, 0 open, 0 fail of 3 after Holm's correction"


def test_verdicts_lost_to_holms_correction_count_as_open() -> None:
    """Two of three cases hold by themselves, p = 0.03 each: neither at a third of the error, so nothing is decided."""
    shift = -2.2 * float(CENTRED.std(ddof=1)) / math.sqrt(len(CENTRED))
    by_panel = {"P": shift, "Q": shift, "R": 0.0}
    finals = pairs(by_panel, lambda panel, method: 100 + (by_panel[panel] + CENTRED) * (method == "A"))
    rows = judged(compare("less", per=["panel"], tie=0), MOSTLY, of=finals)
    assert rows["verdict"].tolist() == ["holds", "holds", "open", "open"]
    assert rows["holm"].tolist() == ["no", "no", "", ""]
    assert rows["note"].iloc[-1] == "0 hold, 0 tie, 3 open, 0 fail of 3 after Holm's correction"


@pytest.mark.parametrize(("shifts", "agree"), [((0, 4, 20), 2 / 3), ((-20, -4, 20), 1 / 3)])
def test_open_cases_agree_by_their_estimate(shifts: tuple[float, ...], agree: float) -> None:
    by_panel = dict(zip("PQR", shifts, strict=True))
    finals = pairs(by_panel, lambda panel, method: 100 + (60 * CENTRED + by_panel[panel]) * (method == "A"))
    rows = judged(compare("similar", per=["panel"], margin=0.05), MOSTLY, of=finals)
    assert rows["verdict"].tolist() == ["open"] * 4
    assert rows["estimate"].iloc[-1] == pytest.approx(agree)
