"""Kinds of data: the kind shown by a fingerprint, and the kinds on which a verdict may rest."""

import pytest

from bench.data_kind import DataKind


@pytest.mark.parametrize(
    ("fingerprint", "kind", "is_replaced", "is_evidence"),
    [
        (None, "synthetic", False, True),
        ("06416e59", "real", False, True),
        ("packaged-06416e59", "packaged", False, False),
        ("surrogate", "surrogate", True, False),
        ("altered-06416e59", "altered", True, False),
    ],
)
def test_a_fingerprint_tells_the_kind_of_data(fingerprint, kind, is_replaced, is_evidence):
    found = DataKind.of(fingerprint)
    assert (found, found.is_replaced, found.is_evidence) == (kind, is_replaced, is_evidence)
    if kind in ("real", "packaged", "altered"):
        assert found.marked("06416e59") == fingerprint
