"""Origins of claims: stated for a figure or a claim, never added up, each case counted once."""

from typing import Any

import numpy as np
from rendered import check, figure_of, finals_of

from bench.report.claims.tallies import added_up, sources, spell_by_origin, tallies
from runners.config.figures import figure_names, load_figure

CLAIM = {"text": "t", "kind": "paired_difference", "left": {"method": "A"}, "right": {"method": "B"}, "expect": "less"}
CLAIMS = [
    {"id": "said", **CLAIM},
    {"id": "elsewhere", "place": "section 7", **CLAIM},
    {"id": "proved", "origin": "theorem", "place": "theorem 1", **CLAIM},
    {"id": "ours", "origin": "ours", **CLAIM},
    {"id": "again", "repeats": "said", **CLAIM},
    {"id": "most", "text": "t", "kind": "count", "of": "said"},
]
RUNS = [{"method": {"A": [], "B": []}}]


def figure(**changes: Any) -> Any:
    return figure_of({"runs": RUNS, "origin": "stated", "place": "figure 2", "claims": CLAIMS, **changes})


def test_a_claim_says_otherwise_than_its_figure() -> None:
    found = sources(figure())
    assert {name: (source.origin, source.place) for name, source in found.items()} == {
        "said": ("stated", "figure 2"),
        "elsewhere": ("stated", "section 7"),
        "proved": ("theorem", "theorem 1"),
        "ours": ("ours", ""),
        "again": ("stated", "figure 2"),
        "most": ("stated", "figure 2"),
    }
    assert [name for name, source in found.items() if not source.is_counted] == ["again", "most"]
    assert not any(source.is_counted for source in sources(figure(repeats="figure1")).values())
    assert {source.origin for source in sources(figure_of({"runs": RUNS, "claims": CLAIMS[:1]})).values()} == {"ours"}
    assert sources(None) == {}


def test_tallies_are_apart_and_count_each_case_once() -> None:
    noise = np.random.default_rng(0).normal(size=20)
    finals = finals_of({"A": 100 + noise, "B": 200 - noise}, "method")
    rows = check({"runs": RUNS, "origin": "stated", "place": "figure 2", "claims": CLAIMS}, finals)
    assert set(rows["verdict"]) == {"holds"}
    found = tallies(figure(), rows.to_dict("records"))
    assert {origin: tally["holds", True] for origin, tally in found.items()} == {"stated": 2, "theorem": 1, "ours": 1}
    with_repeated = tallies(figure(), rows.to_dict("records"), every=True)
    assert with_repeated["stated"]["holds", True] == 3
    twice = added_up([found, found])
    assert {origin: tally.total() for origin, tally in twice.items()} == {"stated": 4, "theorem": 2, "ours": 2}


def test_tallies_in_words() -> None:
    rows = ["said,holds,yes", "said,holds,no", "said,open,", "said,no evidence,", "ours,fails,yes", "most,holds,"]
    cases = [dict(zip(("claim", "verdict", "holm"), row.split(","), strict=True)) for row in rows]
    assert spell_by_origin(tallies(figure(), cases)) == (
        "stated: 2 hold (1 after Holm's correction), 0 fail, 1 open, 1 no evidence; ours: 0 hold, 1 fails, 0 open"
    )


def test_the_origins_of_the_suites_claims() -> None:
    """A tournament has no paper; a figure named after one of a paper says where its claims stand in it."""
    checked = 0
    for name in figure_names():
        paper, _, own_name = name.partition("/")
        loaded = load_figure(name)
        own = {str(claim["id"]) for claim in loaded.claims if "origin" in claim}
        for claim, source in sources(loaded).items():
            checked += 1
            if paper == "tournament":
                assert source.origin == "ours", name
            elif own_name.startswith(("figure", "table")) and claim not in own:
                assert source.origin == "stated", name
        if loaded.repeats:
            assert f"{paper}/{loaded.repeats}" in figure_names()
    assert checked > 300
