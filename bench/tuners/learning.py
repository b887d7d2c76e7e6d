import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from bench.configuration_check import ConfigurationCheck
from bench.errors import TunerError
from bench.rewards import short
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tuners.tickets import ALONE


class Learning:
    """Mixin of tuners that start from a log, or continue in another space with their knowledge."""

    learns_history: ClassVar[bool] = False
    """Whether it can start from a log, see `learn`; it then implements ``_as_asked``."""

    _asked: int | None

    def learn(
        self: Any, history: Iterable[tuple[Configuration, float]], outside: Literal["refuse", "drop"] = "refuse"
    ) -> int:
        """Learn configurations and rewards from a log, oldest first.

        This method can be called once, before the first ask.

        Each pair counts as one ask and its reward. With ``outside="drop"``, a pair is skipped if its configuration has
        the right names but a value outside the space or the candidates. Returns the number of pairs learnt.

        Raises TunerError, and learns nothing, if the tuner cannot learn from a log, has been asked or has learnt a log
        already (also before a restored state was saved), or a pair is wrong.
        """
        name = type(self).__name__
        if outside not in ("refuse", "drop"):
            raise TunerError(f"{name}: learn: found outside={outside!r}, expected 'refuse' or 'drop'")
        if not self._started:
            self._refuse_call("learn()")
        if not self.learns_history:
            raise TunerError(
                f"{name}: found a history, expected none: it can learn only the rewards of configurations that it has "
                "chosen itself"
            )
        if self._asked is not None:
            raise TunerError(
                f"{name}: found a history after the first ask, or a second one, expected a single history before "
                "the first ask"
            )
        space: Space = self._given["space"]
        check = ConfigurationCheck(space, self.leaves_space)
        pairs = []
        for place, pair in enumerate(history):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TunerError(
                    f"{name}: history, pair {place + 1}: found {short(pair)}, expected a configuration and its reward, "
                    "such as ({'x': 0.5}, 1.0)"
                )
            configuration, reward = pair
            try:
                checked = self._checked(reward, None)
                try:
                    read = check.read(configuration).copy()
                    self._check_known(read)
                except (ValueError, TunerError):
                    if outside == "drop" and type(configuration) is dict and {*configuration} == {*space.names}:
                        continue
                    raise
                pairs.append((read, checked))
            except (ValueError, TunerError) as error:
                text = str(error).removeprefix(f"{name}: ")
                raise TunerError(f"{name}: history, pair {place + 1}: {text}") from None
        for configuration, reward in pairs:
            self._as_asked(configuration)
            self._asked = False
            self._tell(reward, None)
        return len(pairs)

    def change(
        self: Any,
        space: Space,
        history: Iterable[tuple[Configuration, float]] = (),
        tickets: Mapping[int, Configuration] | None = None,
        seeds: Seeds | None = None,
    ) -> int:
        """Continue in another space, with other bounds or candidates or with excluded configurations (`Space.without`).

        The tuner restarts and learns the part of ``history``, all pairs of configuration and reward so far, that lies
        in the space. ``tickets`` maps tickets to the configurations that wait for their rewards. The ticket of a
        configuration outside the space is refused later, and so are tickets that are not given. Returns the number of
        pairs learnt.

        Raises TunerError, and changes nothing, if the tuner cannot learn from a log, or a pair is wrong.
        """
        with ALONE:
            self._check_process("change()")
            if not self.learns_history:
                raise TunerError(
                    f"{type(self).__name__}: found another space, expected the space of its start: it cannot learn "
                    "from a log, so start another tuner"
                )
            other = copy.copy(self)
            other.start(replace(self._given["problem"], space=space), seeds)
            learnt: int = other.learn(history, outside="drop")
            check = ConfigurationCheck(other._given["space"], other.leaves_space)
            for ticket, configuration in (tickets or {}).items():
                try:
                    read = check.read(configuration)
                    other._check_known(read)
                    other._as_asked(read)
                    other._tickets.open[ticket] = remembered(other)
                except (ValueError, TunerError):
                    other._tickets.left_out[ticket] = configuration
            vars(self).clear()
            vars(self).update(vars(other))
            return learnt

    def _check_known(self, configuration: Configuration) -> None:
        """Raise TunerError if the tuner cannot learn from a reward of ``configuration``, which lies in the space."""

    def _as_asked(self, configuration: Configuration) -> None:
        """Set the attributes that an ask would set if it returned ``configuration``."""
        raise NotImplementedError


def remembered(tuner: Any) -> dict[str, Any]:
    """Return the remembered attributes of a tuner's latest ask; arrays and containers are copied."""
    memory = {name: getattr(tuner, name) for name in tuner.remembers or ()}
    return {
        name: value.copy() if isinstance(value, np.ndarray | dict | list) else value for name, value in memory.items()
    }
