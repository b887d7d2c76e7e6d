"""Tables as LaTeX and pictures as PDF."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import draw, finals_of, results_of
from scipy import stats

from bench.report.figure import read_figure
from bench.report.latex import escape, indistinguishable_from_best, latex_tables
from bench.report.pictures import content

COMMAND = "reproduce"


NAMES = ["My_tuner & co", "50% {off}", "C#\\~^$"]
FIGURE: dict[str, Any] = {
    "name": "own_figure",
    "kind": "curves",
    "column": "regret",
    "title": "Regret of A&B_C at 5%",
    "runs": [{"panel": {f"P_{i}": [] for i in range(6)}, "method": {name: [] for name in NAMES}}],
}


def finals(n: int = 8, **shift: float) -> pd.DataFrame:
    rng, values = np.random.default_rng(3), {}
    for panel in FIGURE["runs"][0]["panel"]:
        shared = 1000 + 50 * rng.normal(size=n)
        for place, name in enumerate(NAMES):
            values[panel, name] = shared + shift.get(f"m{place}", 0.0) + rng.normal(size=n)
    return finals_of(values, "panel", "method")


def latex(figure: dict[str, Any], data: pd.DataFrame, *, surrogate: bool = False) -> dict[str, str]:
    results = results_of(figure, data, surrogate=surrogate)
    known = read_figure(figure)
    return latex_tables(results, known.tables(results))


def assert_sound(text: str) -> None:
    assert text.isascii()
    body = re.sub(r"\\[{}#$%&_]", "", text)  # what is left means something to LaTeX
    assert body.count("{") == body.count("}")
    assert body.count("$") % 2 == 0
    assert "%" not in body.partition("\n")[2]
    words = re.sub(r"\\label\{[^}]*\}|\$[^$]*\$", "", body)
    assert not re.search(r"[#~^_]", words)
    for name in ("table", "tabular"):
        assert len(re.findall(rf"\\begin\{{{name}\*?\}}", body)) == len(re.findall(rf"\\end\{{{name}\*?\}}", body)) > 0
    for columns, inside in re.findall(r"\\begin\{tabular\}\{([lrp{}\dt]+)\}\n(.*?)\\end\{tabular\}", body, re.DOTALL):
        rows = [line for line in inside.splitlines() if line.endswith(r"\\")]
        assert rows
        assert {line.count("&") for line in rows} == {len(re.sub(r"\{\d+pt\}", "", columns)) - 1}


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("50%_a&b #1 ${x}", r"50\%\_a\&b \#1 \$\{x\}"),
        ("a\\b~c^d", r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d"),
        ("a<b>c|d", r"a\textless{}b\textgreater{}c\textbar{}d"),
        ("1 ± 2 – 3 Müller", r"1 $\pm$ 2 -- 3 Müller"),
    ],
)
def test_special_characters_of_latex_are_printed(text, printed):
    assert escape(text) == printed


def test_a_table_of_means_has_a_row_per_method_and_at_most_two_panels_across():
    (text,) = latex(FIGURE, finals(m1=30.0)).values()
    assert_sound(text)
    lines = text.splitlines()
    assert [line for line in lines if line.startswith(" & ")] == [
        rf" & P\_{left} & P\_{left + 1} \\" for left in (0, 2, 4)
    ]
    assert sum(line.startswith(r"My\_tuner \& co & ") for line in lines) == 3
    assert r"\label{tab:own-figure}" in text


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("lowest", [True, False])
def test_bold_agrees_with_a_paired_t_test(seed, lowest):
    rng = np.random.default_rng(seed)
    values = {name: pd.Series(rng.normal(shift, 1, 12)) for name, shift in (("a", 0.0), ("b", 0.6), ("c", 1.5))}
    means = {name: own.mean() for name, own in values.items()}
    best = (min if lowest else max)(means, key=means.get)
    others = {n for n in values if n != best and stats.ttest_rel(values[n], values[best]).pvalue >= 0.05}
    found = indistinguishable_from_best(values, lowest=lowest)
    assert found == {best} | others
    assert found <= indistinguishable_from_best(values, lowest=lowest, most=400)  # whose intervals are wider


def test_a_column_without_a_direction_has_nothing_in_bold_and_highest_rewards_are_best():
    data = finals(m1=-500.0)
    (text,) = latex({**FIGURE, "column": "gap"}, data.rename(columns={"regret": "gap"})).values()
    assert r"\textbf" not in text
    (text,) = latex({**FIGURE, "column": "reward"}, data.rename(columns={"regret": "reward"})).values()
    assert "Bold: the highest mean" in text
    assert all(r"\textbf" not in line for line in text.splitlines() if line.startswith(r"50\%"))


@pytest.mark.parametrize("scale", [0.0037, 0.37, 37.0])
def test_intervals_have_two_digits_and_means_as_many_decimals(scale):
    values = scale * np.random.default_rng(1).normal(10, 1, 8)
    figure = {**FIGURE, "runs": [{"method": {name: [] for name in NAMES}}]}
    (text,) = latex(figure, finals_of(dict.fromkeys(NAMES, values), "method")).values()
    half = stats.t.ppf(0.975, 7) * values.std(ddof=1) / np.sqrt(8)
    digits = np.format_float_positional(half, precision=2, fractional=False, trim="-")
    mean = f"{values.mean():,.{len(digits.partition('.')[2])}f}"
    assert text.count(rf"\textbf{{{mean}}} $\pm$ {digits} \\") == 3


def test_a_pdf_embeds_truetype_fonts_and_is_the_same_twice():
    picture = draw({**FIGURE, "runs": []}, pd.DataFrame(), finals())
    pdf = content(picture, "pdf")
    assert pdf == content(picture, "pdf")
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf


def test_the_command_writes_the_requested_formats_of_a_figure(here):
    answer = here("figure=habo/worked_examples", "format=[tex,pdf]")
    assert answer.code == 0, answer.err
    folder = answer.results / "habo" / "worked_examples" / "quick"
    assert_sound((folder / "worked_examples.tex").read_text())
    assert not [*folder.glob("worked_examples.[ps][dnv]*")]  # a table has no picture
