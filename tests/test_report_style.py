"""Every method that a figure of the project draws can be told from its neighbours."""

import pytest
import registry

from bench.report.style import STYLES, VARIANTS, line_style
from runners.config.figures import figure_names


@pytest.mark.parametrize("name", figure_names())
def test_no_two_methods_of_a_figure_look_alike(name):
    figure = registry.figure(name)
    if figure.kind == "ranking":  # a heat map has no lines to be told apart
        return
    methods = {str(method) for block in figure.runs for method in block.get("method", {})}
    assert len({line_style(method) for method in methods}) == len(methods)
    if len(methods) > 30:  # as many as there are pairs of a colour and a dash
        return
    looks = {(style.color, style.linestyle) for style in map(line_style, methods)}
    assert len(looks) == len(methods), "only markers differ"


def test_no_two_known_methods_look_alike():
    assert len(set(STYLES.values())) == len(STYLES)


@pytest.mark.parametrize("variant", [*VARIANTS, "as I like it"])
@pytest.mark.parametrize("method", ["CDT", "OP", "TL / Syndicated", "Zooming TS-R"])
def test_a_variant_has_the_colour_of_its_method_and_another_look(method, variant):
    style = line_style(f"{method}, {variant}")
    assert style.color == STYLES[method].color
    assert style[1:] != STYLES[method][1:] or variant == "k = 3"  # never drawn beside plain CDT
    assert line_style(f"Mine, {variant}").color not in {known.color for known in STYLES.values()}
