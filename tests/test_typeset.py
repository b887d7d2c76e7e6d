"""Words as they are written, and mathematics between dollars."""

import pandas as pd
import pytest
import registry

from bench.report.latex import escape
from bench.report.typeset import in_unicode, listed, readable, spelled, typeset
from runners.config.figures import figure_names

LABELS = [
    "alpha testers", "R2 unit", "MRI T2 scan", "lambda service", "my_tuner", "my tuner", "glm_tsl", "beta0 3",
    "T^(2/3)", "10000", "GLR-klUCB", "V(pi0)", "sqrt(T)", "k = 3", "price in $", "$5, earn $6", "from $5 to $60",
    r"$\nothing$",     "(env=log, env.path=my_bare_log.csv, env.context=x*, env.n_arms=100000)",
]  # fmt: skip


@pytest.mark.parametrize("words", LABELS)
def test_words_stay_as_they_are_in_picture_page_and_latex(words):
    assert typeset(words) == words.replace("$", r"\$")
    assert in_unicode(words) == words
    assert typeset(words, escape) == escape(words)


@pytest.mark.parametrize(
    ("words", "letters"),
    [
        (r"$\beta_0$ = 3", "β₀ = 3"),
        (r"share with $\hat{V} - V$ above it", "share with V\u0302 − V above it"),
        (r"$V(\mathrm{incumbent})$ / $V(\pi^*)$", "V(incumbent) / V(π*)"),
        (r"against $\sqrt{K T \ln K}$", "against √(K T ln K)"),
        (r"$T^{2/3}$, $T^{0.38}$", "T^(2/3), T^0.38"),
    ],
)
def test_mathematics_lies_between_dollars(words, letters):
    assert typeset(words) == words
    assert in_unicode(words) == letters


def test_a_paper_spells_whole_words_the_longest_first():
    words = {"beta0": r"$\beta_0$", "beta0 =": r"$\beta_0 =$", "UCB(delta)": r"UCB($\delta$)"}
    assert spelled("beta0 = 3, beta0 3, beta01, abeta0, UCB(delta) (code)", words) == (
        r"$\beta_0 =$ 3, $\beta_0$ 3, beta01, abeta0, UCB($\delta$) (code)"
    )


@pytest.mark.parametrize("paper", sorted({name.partition("/")[0] for name in figure_names()}))
def test_mathematics_of_papers_can_be_set(paper):
    for figure in (registry.figure(name) for name in figure_names(paper)):
        for shown in figure.looks.words.values():
            assert r"\$" not in typeset(shown)


def test_columns_and_settings_are_in_words():
    names = ["mean", "ci_low", "ci_high", "ratio_mean", "further_low", "further_high"]
    heads = [head for head, _ in readable(pd.DataFrame([[1.0] * 6], columns=names))["heads"]]
    assert heads == ["mean", "95 % interval", "ours / published mean", "95 % prediction interval"]
    table = pd.DataFrame(
        [["TL", 5, 100, 1.0, 2.0, 3.0, 4.0]], columns=["method", "n", "rounds", "mean", "std", "x_low", "x_high"]
    )
    assert [head for head, _ in readable(table)["heads"]][:3] == ["method", "mean", "95 % interval of x"]
    settings = [["epsilon"], [0.1, 1.0, 5000], [], True, None, 2000, "fixed"]
    assert list(map(listed, settings)) == ["epsilon", "0.1, 1, 5,000", "none", "True", "None", "2,000", "fixed"]
