"""Every method in a figure of the project is distinguishable from its neighbours, and its files are readable."""

import itertools
import math

import numpy as np
import pytest
import registry
from matplotlib.colors import to_rgb

from bench.report.style import PALETTE, Look, Looks, looks_of
from runners.config.figures import figure_names

# Machado, Oliveira and Fernandes 2009, table 1: linear colours as seen without the cones for red, and for green
PROTANOPIA = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))


def seen(color: str, by: tuple) -> np.ndarray:
    given = np.array(to_rgb(color))
    linear = np.clip(by @ np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4), 0, 1)
    return 255 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("name", figure_names())
def test_no_two_lines_of_a_figure_look_alike(name):
    figure = registry.figure(name)
    if figure.kind == "ranking":  # a heat map has no lines to be told apart
        return
    methods = dict.fromkeys(str(method) for block in figure.runs for method in block.get("method", {}))
    looks = looks_of(methods, figure.looks, figure.colors).values()
    assert len(set(looks)) == len(methods)
    if len(methods) <= 30:  # as many as there are pairs of a colour and a dash
        assert len({(look.color, look.dash) for look in looks}) == len(methods), "only markers differ"


@pytest.mark.parametrize("by", [PROTANOPIA, DEUTERANOPIA])
def test_readers_who_do_not_see_red_or_green_tell_the_palette_apart(by):
    """Two lines whose colours look alike to them differ in their dashes."""
    styles = looks_of([*map(str, range(len(PALETTE)))], Looks(), {}).values()
    for one, other in itertools.combinations(styles, 2):
        distance = math.dist(seen(one.color, by), seen(other.color, by))
        assert distance > 60 or one.dash != other.dash, (one, other)


def test_lines_of_a_paper_keep_their_look_and_others_have_another():
    looks = Looks(lines={"TL": (PALETTE[0], "-", "o")})
    found = looks_of(["Mine", "TL"], looks, {})
    assert found["TL"] == Look(PALETTE[0], "-", "o")
    assert found["Mine"].color != PALETTE[0]
    assert looks_of(["Mine"], looks, {})["Mine"] == Look(PALETTE[0], "-", "o"), "a look that no line has is free"
