import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

import bench.algorithms.dssm
import bench.seeding
from bench.algorithms.base import Algorithm
from bench.algorithms.dssm import Dssm
from bench.component import component
from bench.data.ali_log import AdLog
from bench.data.cache import Cache
from bench.data.files import write_whole
from bench.seeding import Seeds


@component
class CandidateGeneration(Algorithm):
    """Vector-based candidate generation: ads whose cosine with the user is at least ``threshold`` are candidates.

    The vectors come from DSSM, which is trained once. The cosines of all pairs of a log are cached, in the folder
    ``dssm``, under a hash of the log, the settings and the code; beside them are the loss of every step, as CSV, and
    its curve, as SVG.
    Source: online_hpo, sections 6 and 7.1, with its 10,000 epochs read as steps. Assumed: the width of the embeddings,
    Adam's usual learning rate, and a smoothing of 1, since the paper gives no factor. With 5 the cosines of clicked and
    unclicked ads of the generated log are further apart, and F-scores depend more on the threshold.

    Parameters
    ----------
    embedding_dim
        Dimension of the embedding of each categorical feature.
    steps
        Steps of Adam.
    batch_size
        Number of clicked pairs in a batch.
    learning_rate
        Of Adam.
    smoothing
        Factor of the cosines in the softmax of the loss.
    model_seed
        Seed of weights and batches, independent of the experiment's: all repetitions share the model.
    """

    requires: ClassVar[tuple[str, ...]] = ("torch",)
    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "threshold": {"candidates": tuple(i / 10 for i in range(11)), "low": 0.0, "high": 1.0, "default": 0.5}
    }

    embedding_dim: PositiveInt = 16
    steps: PositiveInt = 10_000
    batch_size: PositiveInt = 1024
    learning_rate: Annotated[float, Field(gt=0)] = 0.001
    smoothing: Annotated[float, Field(gt=0)] = 1.0
    model_seed: NonNegativeInt = 0

    def scores(self, log: AdLog) -> np.ndarray:
        """Return the cosine at every place of ``log``, float32, shape (places,); DataError without a clicked pair."""

        def build(arrays: dict[str, np.ndarray]) -> np.ndarray:
            found = arrays["scores"]
            if found.shape != log.shown.shape:
                raise ValueError("scores of another log")
            found.flags.writeable = False
            return found

        return _cache.get(*self._key_parts(log), compute=lambda: self._train(log), build=build)

    def scores_path(self, log: AdLog) -> Path:
        return _cache.path(*self._key_parts(log))

    def _key_parts(self, log: AdLog) -> tuple[Any, ...]:
        settings = (self.embedding_dim, self.steps, self.batch_size, self.learning_rate, self.smoothing)
        return log.identity, *settings, self.model_seed, version("torch")

    def _train(self, log: AdLog) -> dict[str, np.ndarray]:
        model = Dssm(log, self.embedding_dim, Seeds(self.model_seed).child("dssm"))
        with _bar(self.steps) as advance:
            losses = model.fit(self.steps, self.batch_size, self.learning_rate, self.smoothing, advance)
        path = self.scores_path(log)
        curve = path.with_name(f"{path.stem}-loss.svg")
        lines = ["step,loss", *(f"{step},{loss:.6f}" for step, loss in enumerate(losses.tolist(), start=1))]
        with suppress(OSError):  # the cache warns about a folder that cannot be written to
            write_whole(curve.with_suffix(".csv"), "\n".join([*lines, ""]).encode())
            write_whole(curve, _draw(losses))
            print(f"DSSM trained; its loss over {self.steps:,} steps: {curve}", file=sys.stderr)
        return {"scores": model.scores(log), "losses": losses}


_cache: Cache[np.ndarray] = Cache("dssm", "", bench.algorithms.dssm, bench.seeding)


def _draw(losses: np.ndarray) -> bytes:
    """Return the loss curve as SVG, each point the mean over a hundredth of the steps."""
    from matplotlib.figure import Figure

    parts = np.array_split(losses, min(100, len(losses)))
    steps = np.cumsum([len(part) for part in parts])
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(steps, [part.mean() for part in parts])
    axes.set(xlabel="step", ylabel="training loss", title="DSSM")
    content = io.BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()


@contextmanager
def _bar(steps: int) -> Iterator[Callable[[float], None]]:
    if not sys.stderr.isatty():
        print(f"Training DSSM, once, with {steps:,} steps; 10,000 take 15 to 30 minutes", file=sys.stderr)
        yield lambda loss: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("DSSM"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.3f}, left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=steps, loss=float("nan"))
        yield lambda loss: bar.update(task, advance=1, loss=loss)
