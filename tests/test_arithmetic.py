"""Arithmetic that is the same on every processor, against exact and independent values."""

import builtins
import math
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special

import bandit_bench as bb
from bench.arithmetic import exp, first_of_best, log, product, rounded, sigmoid, softmax, total


def test_a_total_is_added_one_by_one_on_every_python():
    values = np.random.default_rng(0).normal(size=1_000).tolist()
    assert total(values) == np.cumsum(values)[-1] != math.fsum(values)
    assert total(iter([0.1] * 10)) == 0.9999999999999999


@pytest.mark.parametrize(
    "asked",
    [
        {"env": "gaussian_arms"},
        {"env": "new_peak"},
        {"tuner": "changepoint_gp", "env": "switching_sine", "task": ("direct", {"hold": 3})},
        {"tuner": "changepoint_gp", "env": "synthetic_logistic", "algorithm": "sgd_ts"},
        {"tuner": "changepoint_gp", "algorithm": "lints", "task": ("contextual_bandit", {"batch": 3})},
    ],
    ids=str,
)
def test_no_number_of_a_run_is_a_sum_whose_digits_depend_on_python(asked, tmp_path, monkeypatch):
    """From Python 3.12 the built-in sum of floats keeps lost digits: here it returns NaN."""

    def run(folder: str) -> pd.DataFrame:
        monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / folder))
        return bb.run(**{"tuner": "random", **asked}, horizon=300, repetitions=1).traces

    expected, of_this_python = run("a"), builtins.sum

    def sum_of_another_python(values: Iterable[Any], start: Any = 0) -> Any:
        found = of_this_python(values, start)
        return math.nan if type(found) is float else found

    monkeypatch.setattr(builtins, "sum", sum_of_another_python)
    pd.testing.assert_frame_equal(run("b"), expected, check_exact=True)


def test_exp_is_within_a_unit_in_the_last_place_of_the_exact_value():
    rng = np.random.default_rng(0)
    places = np.concatenate([rng.uniform(-708, 709.7, 500), rng.normal(0, 3, 500), rng.normal(0, 1e-8, 50)])
    with localcontext(prec=60):
        for x in places.tolist():
            found = exp(x)
            assert abs(Decimal(found) - Decimal(x).exp()) <= Decimal(math.ulp(found))


def test_log_is_within_two_units_in_the_last_place_of_the_exact_value():
    rng = np.random.default_rng(0)
    places = np.exp(np.concatenate([rng.uniform(-708, 709.7, 500), rng.normal(0, 1, 500)])).tolist()
    with localcontext(prec=60):
        for x in [*places, 5e-324, 1.7e308, 1 + 1e-9, 1 - 1e-9]:
            found = log(x)
            assert abs(Decimal(found) - Decimal(x).ln()) <= 2 * Decimal(math.ulp(found))
    assert log(1.0) == 0.0


def test_exp_at_the_ends_of_the_numbers():
    assert [exp(x) for x in (0.0, -0.0, -math.inf, math.inf, 709.79, -745.2, -1e300, 1e300)] == [
        1.0, 1.0, 0.0, math.inf, math.inf, 0.0, 0.0, math.inf]  # fmt: skip
    assert math.isnan(exp(math.nan))
    assert exp(-745.0) == 5e-324
    assert exp(-720.0) == pytest.approx(math.exp(-720.0), abs=1e-323)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 4, 2), (600, 7, 5), (0, 3, 2)])
def test_products_are_sums_in_the_order_of_the_columns(shape):
    m, d, n = shape
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(m, d)), rng.normal(size=(d, n))
    expected = np.zeros((m, n))
    for j in range(d):
        expected += left[:, j, None] * right[j]
    np.testing.assert_array_equal(product(left, right), expected)
    np.testing.assert_array_equal(product(np.asfortranarray(left), right.T.copy().T), expected)


def test_a_product_loses_what_the_order_loses():
    assert product(np.array([[1e16, 1.0, -1e16]]), np.ones((3, 1))).item() == 0.0
    assert product(np.array([[1e16, -1e16, 1.0]]), np.ones((3, 1))).item() == 1.0


def test_sigmoid_and_softmax_equal_scipys():
    values = np.random.default_rng(2).normal(0, 20, (50, 7))
    values[0, :3] = math.inf, -math.inf, 0.0
    np.testing.assert_allclose(sigmoid(values), special.expit(values), rtol=1e-15)
    values[0, :3] = 1e3, -1e3, 0.0
    values[1] /= 1e3
    for beta in (0.01, 1.0, 100.0, -0.3):
        np.testing.assert_allclose(
            softmax(values, beta), special.softmax(beta * values, axis=1), rtol=1e-12, atol=1e-300
        )


@pytest.mark.parametrize("value", [0.0, 1.0, -123456.789, 1 / 3, 1e-300, -1.7e308, 0.1 + 0.2])
def test_rounding_keeps_ten_digits(value):
    found = rounded(value)
    assert abs(Fraction(found) - Fraction(value)) <= abs(Fraction(value)) / 10**9 / 2
    assert len(f"{found:.16g}".replace("-", "").replace(".", "").split("e")[0].strip("0")) <= 10
    assert rounded(found) == found
    assert rounded(value * (1 + 1e-15)) == found


def test_of_equally_good_values_the_first_is_chosen():
    values = np.array([0.1, 0.5, 0.7 - 1e-12, 0.7, 0.7 + 1e-12, 0.2])
    assert first_of_best(values, 1.0) == 2
    assert first_of_best(values, 1e-3) == 4
    assert first_of_best(np.array([-math.inf, -math.inf]), 1.0) == 0
