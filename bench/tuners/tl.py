"""TL: one EXP3 over the candidates of one hyper-parameter."""

from typing import ClassVar

from bench.component import component
from bench.tuners.tl_combined import TLCombined


@component
class TL(TLCombined):
    """The two-layer tuner: TL-Combined on a single hyper-parameter.

    Source: syndicated, algorithm 1.
    """

    multiple: ClassVar[bool] = False
