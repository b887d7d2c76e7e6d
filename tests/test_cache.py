"""What takes long to compute is kept in files, which several processes may write at once."""

import multiprocessing

import numpy as np

from bench.data.cache import Cache

SIZE = 200_000


def prepare(folder, barrier, answers):
    import os

    os.environ["XDG_CACHE_HOME"] = folder
    cache = Cache("made", "thing-")
    for number in range(10):
        barrier.wait()
        found = cache.get(
            number,
            compute=lambda: {"values": np.full(SIZE, number)},  # noqa: B023, it is called at once
            build=lambda arrays: arrays["values"],
        )
        answers.put(bool((found == number).all()))


def test_two_workers_that_prepare_the_same_data_at_once_leave_whole_files(tmp_path, recwarn):
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(2), context.Queue()
    workers = [context.Process(target=prepare, args=(str(tmp_path), barrier, answers)) for _ in range(2)]
    for worker in workers:
        worker.start()
    assert [answers.get(timeout=60) for _ in range(20)] == [True] * 20
    for worker in workers:
        worker.join()
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [path.suffix for path in files] == [".npz"] * 10
    for path in files:
        with np.load(path) as kept:
            assert len(kept["values"]) == SIZE
