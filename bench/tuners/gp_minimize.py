import warnings
from typing import Any, ClassVar

from pydantic import NonNegativeInt, PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner


@component
class GPMinimize(Tuner):
    """Bayesian optimisation of -reward, round by round, by scikit-optimize's ``gp_minimize`` with its defaults.

    A hyper-parameter is searched on its interval, in whole numbers if they are declared, or else on its candidates as
    categories. A hyper-parameter with a single candidate is fixed. The time of a refit grows with the cube of the
    number of rewards. A saved state holds asks and rewards, which are replayed when the state is restored. Source:
    habo, section 26.1 (the paper's baseline); the function and its defaults are from the authors' code.

    Parameters
    ----------
    n_initial_points
        Number of random configurations before the Gaussian process is used.
    random_state
        Seed of the optimiser in every repetition, as in ``skopt.gp_minimize``; null: from the repetition's seeds.
    """

    follows_last_digits: ClassVar[bool] = True

    requires: ClassVar[tuple[str, ...]] = ("scikit-optimize",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_point",)
    learns_history: ClassVar[bool] = True
    unsaved: ClassVar[tuple[str, ...]] = ("_optimizer",)

    n_initial_points: PositiveInt = 10
    random_state: NonNegativeInt | None = None

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._single = {p.name: p.candidates[0] for p in problem.space.parameters if _is_single(p)}
        self._searched = [parameter for parameter in problem.space.parameters if not _is_single(parameter)]
        self._point: list[Any] = []
        drawn = int(seeds.generator("optimizer").integers(2**31))
        self._seed = drawn if self.random_state is None else self.random_state
        self._events: list[tuple[list[Any], float] | None] = []
        self._optimizer = self._begin()

    def _begin(self) -> Any:
        # Imported here because the import takes a second
        from skopt import Optimizer

        dimensions = [_dimension(parameter) for parameter in self._searched]
        arguments = {"n_initial_points": self.n_initial_points, "acq_func": "gp_hedge", "random_state": self._seed}
        return Optimizer(dimensions, base_estimator="GP", **arguments) if dimensions else None

    def _ask(self) -> Configuration:
        self._do(None)
        values = {p.name: _value(p, coordinate) for p, coordinate in zip(self._searched, self._point, strict=True)}
        return self._single | values

    def _tell(self, reward: float, outcome: Any) -> None:
        self._do((self._point, -reward))

    def _do(self, event: tuple[list[Any], float] | None) -> None:
        """Ask the optimiser, or tell it the loss of a point."""
        if self._optimizer is None:
            return
        self._events.append(event)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about repeated points and fits that do not converge
            if event is None:
                self._point = self._optimizer.ask()
            else:
                self._optimizer.tell(*event)

    def _rebuild(self) -> None:
        point, events, self._events = self._point, self._events, []
        self._optimizer = self._begin()
        for event in events:
            self._do(event)
        self._point = point

    def _as_asked(self, configuration: Configuration) -> None:
        self._point = [
            configuration[p.name] if p.continuous else p.candidates.index(configuration[p.name]) for p in self._searched
        ]


def _is_single(parameter: HyperParameter) -> bool:
    return not parameter.continuous and len(parameter.candidates) == 1


def _dimension(parameter: HyperParameter) -> Any:
    """Return skopt's dimension for a hyper-parameter.

    Candidates are given by index, because skopt cannot sort values of different types.
    """
    from skopt.space import Categorical, Integer, Real

    if parameter.low is None or parameter.high is None:
        return Categorical(range(len(parameter.candidates)))
    prior = "log-uniform" if parameter.log else "uniform"
    if parameter.integer:
        return Integer(int(parameter.low), int(parameter.high), prior=prior)
    return Real(parameter.low, parameter.high, prior=prior)


def _value(parameter: HyperParameter, coordinate: Any) -> Any:
    if parameter.low is None or parameter.high is None:
        return parameter.candidates[int(coordinate)]
    inside = min(max(float(coordinate), parameter.low), parameter.high)
    return int(inside) if parameter.integer else inside
