from bench.component import component
from bench.envs.switching import Switching


@component
class SwitchingTriangle(Switching):
    """Expected reward 0.9 - 0.95 |x - peak|; the peak drifts in jumps. Source: cdt, appendix A.3."""

    def _value(self, x: float) -> float:
        return 0.9 - 0.95 * abs(x - self.peak)

    def _average(self) -> float:
        return 0.9 - 0.95 * (self.peak**2 + (1.0 - self.peak) ** 2) / 2.0
