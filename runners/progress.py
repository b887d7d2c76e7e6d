"""A progress bar with the time left, measured in rounds."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def progress_bar(horizons: Sequence[int], shown: bool | None) -> Iterator[Callable[[int], None]]:
    """Yield what moves the bar on, given the rounds of a repetition that is done.

    Parameters
    ----------
    horizons
        Rounds of every repetition to come.
    shown
        Whether it is shown on stderr; None: only on a terminal.
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda horizon: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.fields[finished]}/{task.fields[all]} repetitions"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=sum(horizons), finished=0, all=len(horizons))

        def advance(horizon: int) -> None:
            bar.update(task, advance=horizon, finished=bar.tasks[0].fields["finished"] + 1)

        yield advance
