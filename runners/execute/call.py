"""A call that a worker makes, and the error of one whose process died."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from bench.errors import TaskError


class WorkerDiedError(TaskError):
    """The process of a call died, also when the call was made once more."""


class Call:
    """A call to be made by a worker, which gets function and arguments pickled; ``seconds``: its limit of time."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> None:
        self.function, self.arguments, self.seconds = function, arguments, seconds

    def died(self, death: BaseException) -> WorkerDiedError:
        """Return the error for the death of its process, with the exit codes that loky tells."""
        codes = re.search(r"\{(.*)\}", str(death))  # such as {SIGSEGV(-11)} or {EXIT(3)}
        limit = f", or code that does not stop at runner.time_limit = {self.seconds:g} s" if self.seconds else ""
        how = codes[1] if codes else type(death).__name__
        return WorkerDiedError(f"its process died ({how}): an exit, a crash, too little memory{limit}")


Makes: TypeAlias = Callable[[deque[Call]], Iterator[tuple[Call, Any]]]
"""What makes the calls of a queue, and yields each with its result."""
