"""From raw runs to curves and final values."""

import numpy as np
import pytest

from bench.stats import mean_band
from runners.results.aggregate import Kept, Repetitions, curve_table, final_table, read_run
from runners.results.store import Store

RUN = "a" * 20


def write(store: Store, ends: list[int]) -> np.ndarray:
    """Write repetitions that end at these rounds; return their regrets, the rows of shorter ones filled with NaN."""
    rng = np.random.default_rng(0)
    table = np.full((len(ends), max(ends)), np.nan)
    for repetition, end in enumerate(ends):
        regret = rng.random(end).cumsum()
        table[repetition, :end] = regret
        columns = {"round": np.arange(1, end + 1), "regret": regret, "rate": np.full(end, np.nan)}
        store.write(RUN, repetition, columns, {"seconds": 1.0, "costs": {"tuner": 0.5 + repetition}})
    return table


@pytest.mark.parametrize("ends", [[200, 200, 200], [200, 150, 180], [120, 200, 200]])
def test_curves_are_means_over_the_rounds_that_all_repetitions_have(tmp_path, ends):
    store = Store(tmp_path)
    store.prepare(RUN, {})
    regrets = write(store, ends)
    runs = [read_run({"method": "TL"}, RUN, [0, 1, 2], store, columns=["reg*", "rate"])]
    curves, finals = curve_table(runs), final_table(runs)
    rounds = curves["round"].to_numpy()
    assert rounds[0] == 1
    assert len(rounds) >= 30
    assert rounds.max() <= min(ends)
    expected = regrets[:, rounds - 1]
    mean, low, high = mean_band(expected)
    assert set(curves["column"]) == {"regret"}  # the other is not set anywhere
    for name, values in (("mean", mean), ("ci_low", low), ("ci_high", high), ("std", expected.std(axis=0, ddof=1))):
        np.testing.assert_allclose(curves[name], values, rtol=1e-12)
    assert finals["rounds"].tolist() == ends
    assert finals["regret"].tolist() == [row[np.isfinite(row)][-1] for row in regrets]
    assert finals["seconds_tuner"].tolist() == [0.5, 1.5, 2.5]
    without = [read_run({"method": "TL"}, RUN, [0, 1, 2], store)]
    assert not len(curve_table(without))
    assert final_table(without).equals(finals)


@pytest.mark.parametrize("unit", [2.0**-990, 2.0**990])
def test_curves_do_not_depend_on_the_unit(unit: float) -> None:
    rounds, values = np.array([1, 2]), np.random.default_rng(0).normal(size=(6, 2))
    kept = {number: Kept(rounds, {"regret": row * unit}, {}, {}) for number, row in enumerate(values)}
    curves = curve_table([Repetitions({"method": "TL"}, kept)])
    np.testing.assert_array_equal(curves["std"] / unit, values.std(axis=0, ddof=1))
    np.testing.assert_array_equal(curves["mean"] / unit, mean_band(values)[0])


def test_the_curve_of_each_repetition_is_kept_where_a_figure_wants_it() -> None:
    rounds = np.array([1, 5, 10])
    kept = {number: Kept(rounds, {"regret": rounds * (number + 1.0)}, {}, {}) for number in (0, 2)}
    table = curve_table([Repetitions({"method": "TL"}, kept)], ["regret"]).set_index("column")
    assert table.loc["regret@2", "mean"].tolist() == [3.0, 15.0, 30.0]
    assert table.loc["regret", "mean"].tolist() == [2.0, 10.0, 20.0]
    assert set(curve_table([Repetitions({"method": "TL"}, kept)])["column"]) == {"regret"}
