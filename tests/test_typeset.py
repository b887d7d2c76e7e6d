"""Mathematics in labels: what it becomes was written by hand, and matplotlib must be able to set it."""

import pandas as pd
import pytest
from matplotlib.mathtext import MathTextParser

from bench.report.typeset import in_unicode, listed, on_one_line, readable, typeset

WORDS = [
    ("as T^0.38, not T^(3/4)", r"as $T^{0.38}$, not $T^{3/4}$"),
    ("beta0 = 3", r"$\beta_0$ = 3"),
    ("beta0 -3", r"$\beta_0$ = $-3$"),
    ("gamma 0.01", r"$\gamma$ = $0.01$"),
    ("V_hat - V", r"$\hat{V} - V$"),
    ("share of trials with V_hat - V above it", r"share of trials with $\hat{V} - V$ above it"),
    ("V(incumbent) / V(pi0)", r"$V(\mathrm{incumbent})$ / $V(\pi_0)$"),
    ("V(pi0) / V(pi*)", r"$V(\pi_0)$ / $V(\pi^*)$"),
    ("V(pi) - mean lower bound", r"$V(\pi)$ - mean lower bound"),
    ("HABO against sqrt(K T ln K)", r"HABO against $\sqrt{K T \ln K}$"),
    ("Gamma^(1/4) T^(3/4), the rate", r"$\Gamma^{1/4}$ $T^{3/4}$, the rate"),
    ("UCB(delta), delta = 1/T^2", r"UCB($\delta$), $\delta$ = $1/T^{2}$"),
    ("R2 on the test rows", "$R^2$ on the test rows"),
    ("CDT, k = 2", "CDT, $k$ = 2"),
    ("CDT, T1 = 0", "CDT, $T_1$ = 0"),
    ("rounds of the run, T", "rounds of the run, $T$"),
    ("alpha, the share", r"$\alpha$, the share"),
]


@pytest.mark.parametrize(("words", "expected"), WORDS)
def test_mathematics_is_set_as_such(words, expected):
    assert typeset(words) == expected
    MathTextParser("path").parse(expected)


@pytest.mark.parametrize(
    "words",
    [
        "Titanic, the rows tuned on",
        "CDT (code)",
        "TL-Combined",
        "UCB1",
        "LinTS, MovieLens",
        "t-test",
        "GLR-klUCB",
        "(env=log, env.path=my_bare_log.csv, env.context=x*, env.n_arms=100000)",
        "my_old_logs/my_log.parquet, R2.csv",
    ],
)
def test_names_stay_as_they_are(words):
    assert typeset(words) == words


def test_words_of_a_command_line_are_not_torn():
    assert on_one_line("two words, env.context=[Device Type,basket_eur]") == (
        "two words, env.context=[Device\N{NO-BREAK SPACE}Type,basket_eur]"
    )


def test_only_what_lies_between_is_escaped():
    assert typeset("A_1 & beta0", lambda text: text.replace("_", r"\_")) == r"A\_1 & $\beta_0$"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("beta0 = 3 and beta0 -3", "β₀ = 3 and β₀ = −3"),
        ("V_hat - V above it", "V\u0302 − V above it"),
        ("V(incumbent) / V(pi0), V(pi*)", "V(incumbent) / V(π₀), V(π*)"),
        ("against sqrt(K T ln K)", "against √(K T ln K)"),
        ("sqrt(T), sqrt(theta), sqrt(ln T)", "√T, √θ, √(ln T)"),
        ("T^(3/4) sqrt(ln T), T^0.38, T^2", "T^(3/4) √(ln T), T^0.38, T^2"),
        ("$5 for UCB(delta), delta = 1/T^2", "$5 for UCB(δ), δ = 1/T^2"),
        ("linucb, T1 = 0, 10000 rounds", "LinUCB, T₁ = 0, 10,000 rounds"),
    ],
)
def test_a_page_has_the_letters_of_its_picture(words, expected):
    assert in_unicode(words) == expected


def test_columns_and_settings_are_in_words():
    names = ["mean", "ci_low", "ci_high", "ratio_mean", "further_low", "further_high"]
    heads = [head for head, _ in readable(pd.DataFrame([[1.0] * 6], columns=names))["heads"]]
    assert heads == ["mean", "95 % interval", "ours / published mean", "95 % prediction interval"]
    settings = [["epsilon"], [0.1, 1.0, 5000], [], True, None, 2000, "fixed"]
    assert list(map(listed, settings)) == ["epsilon", "0.1, 1, 5,000", "none", "True", "None", "2,000", "fixed"]
