from typing import ClassVar

from bench.component import component
from bench.tuners.tl_combined import TLCombined


@component
class TL(TLCombined):
    """TL-Combined on a single hyper-parameter, the two-layer tuner. Source: syndicated, algorithm 1."""

    multiple: ClassVar[bool] = False
