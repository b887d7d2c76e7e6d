import math

from bench.component import component
from bench.envs.switching import Switching

_FREQUENCY = 1.5 * math.pi


@component
class SwitchingSine(Switching):
    """Expected reward 2 / (3 pi) sin(3 pi / 2 (x - peak + 1/3)); the peak drifts in jumps.

    Source: cdt, appendix A.3.
    """

    def _value(self, x: float) -> float:
        return math.sin(_FREQUENCY * (x - self.peak + 1.0 / 3.0)) / _FREQUENCY

    def _average(self) -> float:
        left, right = 1.0 / 3.0 - self.peak, 4.0 / 3.0 - self.peak
        return (math.cos(_FREQUENCY * left) - math.cos(_FREQUENCY * right)) / _FREQUENCY**2
