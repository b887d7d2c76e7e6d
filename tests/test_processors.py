"""The same numbers on every kind of processor."""

import platform

import processors
import pytest

OTHERS = [kind for kind in processors.KINDS if kind != "as it is"]
FOLLOWS = {"tuner/gp_minimize", "env/movielens"}
"""Exceptions: choices that depend on the last digits of scikit-optimize's process, and a scale computed by BLAS."""

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the switches are of x86-64")


def differences(first, second):
    assert first.keys() == second.keys()
    return {name for name in first if first[name] != second[name]}


def test_switches_are_in_effect_and_what_tpe_tunes_stays_the_same():
    """Products of matrices and the order of equal values differ; otherwise the test would show nothing."""
    first, second = (processors.digests(kind, "few") for kind in ("without AVX-512", "without AVX"))
    assert differences(first, second) == {"product of matrices", "order of equal values"}
    assert len(first) == 2 + len(processors.FEW)


@pytest.fixture(scope="module")
def as_it_is():
    return processors.digests("as it is", "all")


@pytest.mark.release
@pytest.mark.parametrize("kind", OTHERS)
def test_every_class_and_task_comes_to_the_same(kind, as_it_is):
    found = differences(as_it_is, processors.digests(kind, "all"))
    assert {name for name in found if "/" in name} <= FOLLOWS
