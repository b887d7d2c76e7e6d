"""Arithmetic that gives the same bits on every processor.

BLAS, NumPy's SIMD functions, SciPy and the C library choose their code by the processor, and their results differ in
the last digits. The kernels in this module consist of single additions, multiplications and divisions in the written
order, which IEEE 754 determines. Where a library computes the numbers, as for Optuna's densities, `rounded` and
`first_of_best` make a decision independent of the last digits.
"""

import math
from collections.abc import Iterable

import numpy as np

from bench.jit import Array, kernel

DIGITS = 10
"""Significant digits of numbers that a library's tuner is told or proposes."""
TIE = 1e-10
"""Relative difference up to which two computed values count as equal."""

_BLOCK = 256
"""Rows of a block of a product of matrices."""

_MAGIC = 1.5 * 2.0**52  # added and subtracted, it rounds to an integer, which its last bits hold
_MAGIC_BITS = np.int64(np.float64(_MAGIC).view(np.int64))
_PER_LN2 = 1.0 / math.log(2.0)
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # products with integers up to 2^20 are exact
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_ROOT_HALF = math.sqrt(0.5)
_LOWEST, _HIGHEST = -746.0, 710.0  # exp is 0 below, infinite above


def total(values: Iterable[float]) -> float:
    """Return the sum of ``values``, added one by one.

    The built-in ``sum`` compensates for rounding errors since Python 3.12, so that its result depends on the version.
    """
    result = 0.0
    for value in values:
        result += value
    return result


def rounded(value: float) -> float:
    """Return ``value`` with `DIGITS` significant digits."""
    return float(f"{value:.{DIGITS - 1}e}")


def first_of_best(values: np.ndarray, scale: float) -> int:
    """Return the first index whose value is within `TIE` times ``scale`` of the largest of ``values``, shape (n,)."""
    return int(np.argmax(values >= values.max() - TIE * scale))


@kernel
def exp(x: float) -> float:
    """Return e^x with an error of at most 1 ulp, or 2 ulp for subnormal results.

    The argument is written as x = k ln 2 + r, and e^r is computed by the Taylor polynomial of degree 13.
    """
    inside = x if x > _LOWEST else _LOWEST
    inside = inside if inside < _HIGHEST else _HIGHEST
    shifted = inside * _PER_LN2 + _MAGIC
    k = shifted - _MAGIC
    r = (inside - k * _LN2_HIGH) - k * _LN2_LOW
    square = r * r
    fourth = square * square
    low = (1.0 / 2.0 + r * (1.0 / 6.0)) + square * (1.0 / 24.0 + r * (1.0 / 120.0))
    middle = (1.0 / 720.0 + r * (1.0 / 5040.0)) + square * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    high = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + square * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
    power = 1.0 + (r + square * (low + fourth * (middle + fourth * high)))
    exponent = np.float64(shifted).view(np.int64) - _MAGIC_BITS
    half = exponent >> 1  # two factors, because 2^k itself may be outside the numbers
    first = np.int64((half + 1023) << 52).view(np.float64)
    second = np.int64((exponent - half + 1023) << 52).view(np.float64)
    return power * first * second if x == x else x


@kernel
def log(x: float) -> float:
    """Return the natural logarithm of a positive ``x`` with an error of at most 2 ulp.

    The logarithm is computed as k ln 2 plus the series of artanh.
    """
    m, k = math.frexp(x)
    if m < _ROOT_HALF:
        m, k = 2.0 * m, k - 1
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    total = 0.0
    for i in range(23, 1, -2):
        total = (total + 1.0 / i) * square
    return k * _LN2_HIGH + (2.0 * s * (1.0 + total) + k * _LN2_LOW)


@kernel
def inner_product(left: Array, right: Array) -> float:
    """Return the inner product of two vectors, computed as four partial sums, which the processor adds in parallel."""
    first = second = third = fourth = 0.0
    whole = left.size // 4 * 4
    for i in range(0, whole, 4):
        first += left[i] * right[i]
        second += left[i + 1] * right[i + 1]
        third += left[i + 2] * right[i + 2]
        fourth += left[i + 3] * right[i + 3]
    for i in range(whole, left.size):
        first += left[i] * right[i]
    return (first + second) + (third + fourth)


@kernel
def sigmoid(values: Array) -> Array:
    """Return 1 / (1 + exp(-value)), shape (m, n)."""
    flat = values.copy().reshape(values.size)
    for i in range(flat.size):
        flat[i] = 1.0 / (1.0 + exp(-flat[i]))
    return flat.reshape(values.shape)


@kernel
def product(left: Array, right: Array) -> Array:
    """Return the product of matrices of shapes (m, d) and (d, n), with each sum in the order of d.

    The loops run along the rows of a block, which are contiguous in memory. They are therefore fast, although the terms
    of each sum are added in order.
    """
    m, d = left.shape
    n = right.shape[1]
    out = np.empty((m, n))
    block, total = np.empty((d, _BLOCK)), np.empty(_BLOCK)
    for start in range(0, m, _BLOCK):
        size = min(_BLOCK, m - start)
        for i in range(size):
            for j in range(d):
                block[j, i] = left[start + i, j]
        for k in range(n):
            total[:] = 0.0
            for j in range(d):
                entry = right[j, k]
                for i in range(_BLOCK):
                    total[i] += entry * block[j, i]
            for i in range(size):
                out[start + i, k] = total[i]
    return out


@kernel
def softmax(scores: Array, beta: float) -> Array:
    """Return exp(beta score), divided by its sum over each row, shape (m, n).

    A negative ``beta`` must be greater than -700 divided by the range of the scores.
    """
    m, n = scores.shape
    flat = np.empty(m * n)
    for i in range(m):
        largest = scores[i, 0]
        for j in range(1, n):
            largest = max(largest, scores[i, j])
        for j in range(n):
            flat[i * n + j] = (scores[i, j] - largest) * beta
    for i in range(m * n):
        flat[i] = exp(flat[i])
    out = flat.reshape((m, n))
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += out[i, j]
        for j in range(n):
            out[i, j] /= total
    return out
