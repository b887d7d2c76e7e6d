"""A tuner that does harm at one of its asks: the fixture ``commands`` copies this file to the commands' folder."""

import os
import signal
import sys
import time
from contextlib import suppress

from bench.component import component
from bench.tuners.base import Tuner


class Speechless(Exception):
    """An error that cannot be shown."""

    def __str__(self):
        raise RuntimeError("no words")


class Unshowable(Exception):
    """An error whose notes cannot be shown."""

    @property
    def __notes__(self):
        raise Unshowable


def swallow():
    """Continue after any exception, such as a time limit or Ctrl-C."""
    end = time.monotonic() + 600
    while time.monotonic() < end:
        with suppress(BaseException):
            time.sleep(0.01)


def throw(error):
    raise error


KINDS = {
    "compute": lambda: sum(range(10**13)),
    "enormous": lambda: throw(ValueError("x" * 50_000_000)),
    "exit": lambda: sys.exit(3),
    "exit without a word": lambda: os._exit(3),
    "generator exit": lambda: throw(GeneratorExit()),
    "interrupt": lambda: throw(KeyboardInterrupt()),
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "sleep": lambda: time.sleep(600),
    "speechless": lambda: throw(Speechless()),
    "swallow": swallow,
    "unshowable": lambda: throw(Unshowable()),
}


@component
class Harmful(Tuner):
    kind: str = "segfault"
    at: int = 1
    repetition: int | None = None

    def _start(self, problem, seeds):
        self.does_harm = self.repetition in (None, seeds.repetition)
        self.space, self.rng, self.asked = problem.space, seeds.generator("draw"), 0

    def _ask(self):
        self.asked += 1
        if self.asked == self.at and self.does_harm:
            KINDS[self.kind]()
        return self.space.sample(self.rng)

    def _tell(self, reward, outcome):
        pass
