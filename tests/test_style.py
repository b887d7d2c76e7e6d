"""Every method that a figure of the project draws can be told from its neighbours, and its files are easy to read."""

import itertools
import re

import pytest
import registry

from bench.report.plot import Panel, Plot, look_of
from bench.report.style import BLUE, GREEN, SKY, STYLES, VARIANTS, VERMILION, VIOLET, line_style, look_alike
from runners.config.figures import figure_names
from runners.config.folders import CONFIGS
from runners.config.yaml_text import line_of


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


@pytest.mark.parametrize("name", figure_names())
def test_lines_of_a_figure_whose_colours_are_near_have_other_dashes_also_to_the_colour_blind(name):
    if registry.figure(name).kind != "curves":
        return
    methods = dict.fromkeys(str(method) for block in registry.figure(name).runs for method in block.get("method", {}))
    plot = plot_of(methods)
    looks = [sample.look for sample in plot.legend.values()]
    near = [(a, b) for a, b in itertools.combinations(looks, 2) if look_alike(a.color, b.color)]
    assert [(a, b) for a, b in near if a.dash == b.dash] == []


def test_colours_are_compared_as_the_colour_blind_see_them():
    assert look_alike(BLUE, VIOLET), "without the red in violet"
    assert look_alike("#D7191C", "#6B8E23"), "red and olive green"
    assert not look_alike(BLUE, VERMILION), "Okabe and Ito chose them to be told apart"
    assert not look_alike(SKY, "#E69F00")
    assert not look_alike("#000000", GREEN)


def test_no_two_known_methods_look_alike():
    assert len(set(STYLES.values())) == len(STYLES)


@pytest.mark.parametrize("variant", [*VARIANTS, "as I like it"])
@pytest.mark.parametrize("method", ["CDT", "OP", "TL / Syndicated", "Zooming TS-R"])
def test_a_variant_has_the_colour_of_its_method_and_another_look(method, variant):
    style = line_style(f"{method}, {variant}")
    assert style.color == STYLES[method].color
    assert style[1:] != STYLES[method][1:] or variant == "k = 3"  # never drawn beside plain CDT
    assert line_style(f"Mine, {variant}").color not in {known.color for known in STYLES.values()}


def plot_of(names):
    plot = Plot("")
    panel = Panel()
    plot.panels.append(panel)
    for name in names:
        plot.put(panel, name, look_of(name), x=[0, 1], y=[0, 1])
    plot.tell_apart()
    return plot


# A colour follows from the name: of so many many coincide, or lie near those of the suite's tuners
OWN = [f"MyTuner{i}" for i in range(6)]


def test_names_of_ones_own_look_unlike_each_other_and_the_suites_in_one_plot():
    assert len({line_style(name).color for name in OWN}) < len(OWN)
    plot = plot_of(["CDT", *OWN, "TL"])
    colours = {name: sample.look.color for name, sample in plot.legend.items()}
    assert len(set(colours.values())) == len(colours)
    assert (colours["CDT"], colours["TL"]) == (STYLES["CDT"].color, STYLES["TL"].color)
    assert {mark.name: mark.look.color for mark in plot.marks()} == colours
    assert plot_of(["CDT", *OWN, "TL"]).legend == plot.legend
    many = plot_of([f"MyTuner{i}" for i in range(20)])
    assert len({(sample.look.color, sample.look.dash) for sample in many.legend.values()}) == 20


def test_many_settings_of_one_tuner_in_one_plot_differ_in_colour_dashes_or_marker():
    names = ["CDT", *(f"CDT, radius scale = {number}" for number in range(12))]
    looks = [sample.look for sample in plot_of(names).legend.values()]
    assert len({(look.color, look.dash) for look in looks}) == len(names)
    assert [look.color for look in looks[:4]] == [STYLES["CDT"].color] * 4, "dashes come first"
    of_one_colour = [look.marker for look in looks if look.color == STYLES["CDT"].color]
    assert len(set(of_one_colour)) == len(of_one_colour)


def test_a_name_of_ones_own_keeps_its_look_unless_another_is_near():
    name = next(f"MyTuner{i}" for i in range(50) if line_style(f"MyTuner{i}").color == "#6699CC")
    assert plot_of(["CDT", name]).legend[name].look == look_of(name)
    assert STYLES["TL-Combined"].color == SKY
    assert plot_of([name, "TL-Combined"]).legend[name].look.color != look_of(name).color


def test_lines_of_configuration_files_are_under_160_characters():
    files = sorted(CONFIGS.rglob("*.yaml"))
    assert len(files) > 150
    lines = ((f"{file}:{n}", line) for file in files for n, line in enumerate(file.read_text().splitlines(), 1))
    # A command at the head of a file is one line, to be copied whole
    assert [place for place, line in lines if len(line) >= 160 and not re.match("# .*python -m ", line)] == []


def test_a_key_before_the_id_of_a_claim_is_found_in_that_claim():
    claim = '  - for_each: {{m: [A]}}\n    id: "{}"\n    kind: ratio\n'
    text = "claims:\n" + "".join(map(claim.format, ("1 {m}", "2 {m}", "3 {m}")))
    assert [line_of(text, "for_each", f"{n} A") for n in (1, 2, 3)] == [2, 5, 8]
    assert [line_of(text, "kind", f"{n} A") for n in (1, 2, 3)] == [4, 7, 10]
