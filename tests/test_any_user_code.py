"""Whatever user code does, in any call and round: the result of well-behaved code, or a failure in a sentence.

``BENCH_EXAMPLES=2000`` tries more of it.
"""

import os
from numbers import Real

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.errors import BenchError, TaskError, TunerError
from bench.loop import run
from bench.space import Space
from bench.tasks.base import Outcome, Task
from bench.tasks.feedback import Feedback
from bench.tuners.base import Problem, Tuner

EXAMPLES = int(os.environ.get("BENCH_EXAMPLES", "50"))
ROUNDS = 12


class Number(float):
    """A float of one's own."""


class Fickle(Real):
    """Is another number each time it is asked; ``says`` is called in place of the first answer."""

    def __init__(self, value, says=None):
        self.value, self.says = value, says

    def __float__(self):
        if self.says:
            self.says()
        self.value += 1000.0
        return self.value - 1000.0

    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


for _name in Real.__abstractmethods__ - {"__float__"}:
    setattr(Fickle, _name, lambda *_: 7.0)
Fickle.__abstractmethods__ = frozenset()


class Unhashable(str):
    """A name that cannot be looked up."""

    def __hash__(self):
        raise RuntimeError("no key")


def throw(error):
    raise error


FAILS = {
    "raises": lambda: throw(ValueError("no such arm")),
    "exits": lambda: throw(SystemExit(3)),
    "generator exit": lambda: throw(GeneratorExit()),
}
ODD_REWARDS = {
    "nan": lambda reward: float("nan"),
    "text": str,
    "array": lambda reward: np.array([reward, reward]),
    "float32": np.float32,
    "subclass": Number,
    "fickle": Fickle,
    "exits when converted": lambda reward: Fickle(reward, FAILS["exits"]),
    "raises when converted": lambda reward: Fickle(reward, FAILS["raises"]),
    "huge": lambda reward: 10**400,
}
OF_TASK = (*FAILS, *ODD_REWARDS, "mutates", "reuses", "changes what it gave", "too many", "no outcome", "ends")
ODD_CONFIGURATIONS = {
    "float32": lambda own: {"x": np.float32(own["x"])},
    "subclass": lambda own: {"x": Number(own["x"])},
    "dict of its own": lambda own: type("Mine", (dict,), {})(own),
    "key without a hash": lambda own: {Unhashable("x"): 1.0},
    "fickle": lambda own: {"x": Fickle(own["x"])},
    "outside": lambda own: {"x": 7.0},
    "no dict": lambda own: [own["x"]],
}
OF_ASK = (*FAILS, *ODD_CONFIGURATIONS)
OF_TELL = (*FAILS, "changes what it got", "mutates")
HARMLESS = (
    "mutates",
    "reuses",
    "changes what it gave",
    "changes what it got",
    "float32",
    "subclass",
    "dict of its own",
)


class Plays(Task):
    """Pays x + t and says which x it played; in one round does what it is told."""

    def __init__(self, at, what):
        self.at, self.what = at, what

    def start(self, rounds, seeds):
        self.round, self.given = 0, Outcome(0.0, {})
        return Problem(Space.of(x=[0.5, 1.5]), rounds)

    def play(self, configuration):
        self.round += 1
        x = configuration["x"]
        reward = x + self.round
        outcome = Outcome(reward, {"reward": reward, "seen": x})
        if self.what == "reuses":
            self.given.values.clear()
            self.given.values.update(outcome.values)
            self.given.reward, outcome = reward, self.given
        if self.what == "changes what it gave":
            self.given.reward = -99.0
            self.given.values.update(reward=-99.0, seen=-99.0, other=1.0)
        self.given = outcome
        return self.odd(outcome, configuration) if self.round == self.at else outcome

    def odd(self, outcome, configuration):
        if self.what in FAILS:
            FAILS[self.what]()
        if self.what in ODD_REWARDS:
            outcome.reward = outcome.values["reward"] = ODD_REWARDS[self.what](outcome.reward)
        if self.what == "mutates":
            configuration.update(x=99.0, y=1.0)
        if self.what == "too many":
            return Outcome(outcome.reward, steps=(outcome.values,) * (ROUNDS + 1))
        return {"no outcome": (1.0,), "ends": None}.get(self.what, outcome)


class Asks(Tuner):
    """Proposes the candidates in turn, the same dict each time; in one ask or tell does what it is told."""

    remembers = ("configuration",)

    def __init__(self, at, what, call):
        self.at, self.what, self.call = at, what, call

    def _start(self, problem, seeds):
        self.asked, self.told, self.configuration = 0, [], {"x": 0.5}

    def _ask(self):
        self.asked += 1
        self.configuration["x"] = 0.5 + self.asked % 2
        if self.asked == self.at and self.call == "ask":
            if self.what in FAILS:
                FAILS[self.what]()
            return ODD_CONFIGURATIONS[self.what](self.configuration)
        return self.configuration

    def _tell(self, reward, outcome):
        assert type(reward) is float
        self.told.append(reward)
        if self.what == "changes what it got":
            outcome.values.update(reward=99.0, seen=99.0)
        if self.what == "mutates":
            self.configuration["x"] = 77.0
        if len(self.told) == self.at and self.call == "tell" and self.what in FAILS:
            FAILS[self.what]()


class OverridesAsk(Asks):
    """Its ``ask`` is its own, too."""

    def ask(self):
        super().ask()
        return self.configuration if self.what not in ODD_CONFIGURATIONS else self._odd()

    def _odd(self):
        odd = self.asked == self.at and self.call == "ask"
        return ODD_CONFIGURATIONS[self.what](self.configuration) if odd else self.configuration


DEEDS = st.one_of(
    st.tuples(st.just("play"), st.sampled_from(OF_TASK)),
    st.tuples(st.just("ask"), st.sampled_from(OF_ASK)),
    st.tuples(st.just("tell"), st.sampled_from(OF_TELL)),
)
FEEDBACK = st.one_of(
    st.just({}),
    st.builds(lambda hold: {"hold": hold}, st.integers(1, 5)),
    st.builds(lambda delay, batch: {"delay": delay, "batch": batch}, st.integers(0, 4), st.integers(1, 3)),
)


def attempt(task, tuner, max_rows):
    try:
        return run(task, tuner, rounds=ROUNDS, max_rows=max_rows).columns(), None
    except Exception as error:
        return None, error


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    at=st.integers(1, ROUNDS),
    deed=DEEDS,
    max_rows=st.integers(2, 20),
    feedback=FEEDBACK,
    tuner_class=st.sampled_from([Asks, OverridesAsk]),
)
def test_the_result_is_that_of_well_behaved_code_or_a_failure_in_a_sentence(at, deed, max_rows, feedback, tuner_class):
    call, what = deed
    task, tuner = Plays(at, what) if call == "play" else Plays(0, ""), tuner_class(at, what, call)
    task.feedback = Feedback(**feedback)
    columns, error = attempt(task, tuner, max_rows)
    if error is not None:
        assert what not in HARMLESS
        place = "round " if feedback else f"round {at}"
        if isinstance(error, BenchError):
            assert type(error) is (TaskError if call == "play" else TunerError)
            assert place in str(error)
            assert "\n" not in str(error)
        else:
            assert error.__notes__[0].startswith(place)
        return
    hold = task.feedback.hold
    last = at - 1 if what == "ends" else ROUNDS
    proposed = [0.5 + ((t - 1) // hold + 1) % 2 for t in range(1, last + 1)]
    rewards = [x + t for t, x in enumerate(proposed, start=1)]
    rows = (columns["round"] - 1).tolist() if last else []
    assert rows[-1:] == [last - 1] * (last > 0)
    if last:
        assert set(columns) == {"round", "x", "reward", "seen"}
        assert columns["x"].tolist() == columns["seen"].tolist() == [proposed[row] for row in rows]
        assert columns["reward"].tolist() == np.cumsum(rewards)[rows].tolist()
    means = [np.mean(rewards[start : start + hold]) for start in range(0, last, hold)]
    np.testing.assert_allclose(tuner.told, means[: len(tuner.told)], rtol=1e-12)
