"""What is said of repetitions that failed."""

from collections.abc import Mapping, Sequence

from runners.config.figures import LabelledRun
from runners.execute.fanout import Key
from runners.results.store import Store


def failures(
    where: str, drawn: Sequence[LabelledRun], failed: Mapping[Key, str], done: Sequence[Sequence[int]], store: Store
) -> list[str]:
    """Return a sentence for each repetition of a figure that failed, or one for a run that has no other.

    Parameters
    ----------
    where
        The figure's folder, among the results.
    drawn, done
        Its experiments, and for each the repetitions that have a result.
    failed
        The errors of those that failed.
    store
        Where the tracebacks are.
    """
    names = {one.run.experiment.run_id: ", ".join(one.labels.values()) for one in reversed(drawn)}
    there = {one.run.experiment.run_id for one, numbers in zip(drawn, done, strict=True) if numbers}
    sentences = []
    for run_id, name in reversed(names.items()):
        own = {key: error for key, error in sorted(failed.items()) if key[0] == run_id}
        if own and run_id not in there:
            sentences.append(f"{where}: {name}: {all_failed(own, store)}")
        else:
            sentences += [f"{where}: {name}: repetition {number} failed: {error}" for (_, number), error in own.items()]
    return sentences


def all_failed(failed: Mapping[Key, str], store: Store) -> str:
    """Return what is said where there are no others: the error of a first one, and where its traceback is."""
    run_id, number = min(failed, key=lambda key: (key[1], key[0]))
    record = store.path(run_id, number, ".failed.json")
    place = f"; its traceback is in {record}" if record.is_file() else ""
    count = f"all {len(failed)} repetitions" if len(failed) > 1 else "its repetition"
    return f"{count} failed, the first with {failed[run_id, number]}{place}"
