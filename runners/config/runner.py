"""The distribution of repetitions over processes."""

from typing import Annotated

from pydantic import Field

from bench.component import component
from bench.errors import ConfigError, one_line


@component
class Runner:
    """The distribution of repetitions over processes, given by the group ``runner`` of the configuration.

    Parameters
    ----------
    backend
        ``loky`` (processes on this machine), ``dask`` (one or more machines), or another name registered with
        joblib, such as ``ray``.
    scheduler
        The address of a running dask scheduler, such as ``tcp://node1:8786``. If None, dask starts workers on this
        machine.
    time_limit
        Seconds after which a repetition is stopped and fails. If it does not stop, its process is ended some
        seconds later.
    progress
        Whether to show progress, as a bar on a terminal and in a notebook, else as a line each minute. None shows
        progress as True does, but without the lines for runs of less than a minute.
    """

    backend: str = "loky"
    scheduler: str | None = None
    time_limit: Annotated[float, Field(gt=0, le=1e9)] | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.backend not in ("loky", "dask"):
            import joblib  # slow to import

            try:
                with joblib.parallel_config(self.backend):
                    joblib.Parallel(return_as="generator_unordered")  # not every back end can
            except (ValueError, TypeError) as error:
                text = f"found '{self.backend}', expected loky or dask ({one_line(error)})"
                raise ConfigError(text, owner="Runner", setting="backend") from None
        if self.scheduler is not None and self.backend != "dask":
            raise ConfigError(
                f"found '{self.scheduler}' with {self.backend}, expected runner=dask",
                owner="Runner",
                setting="scheduler",
            )
