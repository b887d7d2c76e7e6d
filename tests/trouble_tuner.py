"""A tuner that sleeps, fails or keeps a log if an environment variable says so: its source stays the same.

``TROUBLE`` has the kind of trouble, the repetition that has it (or all), and a path or a number of seconds; semicolons
separate several troubles. The fixture ``commands`` copies this file into the folder from which commands are called.
"""

import logging
import os
import time
from pathlib import Path

import numpy  # noqa: F401  its libraries have threads
import threadpoolctl

from bench.tuners.base import Tuner

ROUNDS = 300
"""More rounds than a warm-up plays, which has no trouble."""


class Trouble(Tuner):
    leaves_space = True

    def _start(self, problem, seeds):
        self.rng, self.repetition = seeds.generator("x"), seeds.repetition
        self.name, self.left, self.counts = problem.space.names[0], problem.horizon, problem.total_rounds == ROUNDS
        for trouble in os.environ.get("TROUBLE", "").split(";"):
            kind, repetition, where = [*trouble.split(" "), "", ""][:3]
            if self.counts and repetition in ("all", str(seeds.repetition)):
                self._suffer(kind, where)

    def _suffer(self, kind, where):
        if kind == "fail":
            raise RuntimeError("no luck today\nand a second line")
        if kind == "sleep":
            time.sleep(float(where))
        if kind == "meet":  # go on when another process has come as far
            Path(where, f"{self.repetition}-{os.getpid()}").touch()
            while len(list(Path(where).glob(f"{self.repetition}-*"))) < 2:
                time.sleep(0.001)

    def _ask(self):
        return {self.name: float(self.rng.random())}

    def _tell(self, reward, outcome):
        self.left -= 1
        if self.counts and not self.left and "TROUBLE_LOG" in os.environ:
            threads = max(library["num_threads"] for library in threadpoolctl.threadpool_info())
            log = logging.FileHandler(os.environ["TROUBLE_LOG"])  # a file that is read would be a matter of its data
            line = f"{self.repetition} {threads}{os.environ.get('OMP_NUM_THREADS')} {os.getpid()}"
            log.emit(logging.makeLogRecord({"msg": line}))
            log.close()
