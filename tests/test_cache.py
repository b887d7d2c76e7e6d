"""Slow results are computed once, even if several processes need them at the same time."""

import multiprocessing
import os
import subprocess
import sys
import textwrap

import numpy as np

from bench.data.cache import Cache

WORKERS, THINGS, SIZE = 4, 5, 200_000


def prepare(folder, barrier, answers):
    os.environ["XDG_CACHE_HOME"] = folder
    cache = Cache("made", "thing-")

    def make(number):
        with open(f"{folder}/made.txt", "a") as file:
            file.write(f"{number}\n")
        return {"values": np.full(SIZE, number)}

    for number in range(THINGS):
        barrier.wait()
        found = cache.get(
            number,
            compute=lambda: make(number),  # noqa: B023, it is called at once
            build=lambda arrays: arrays["values"],
        )
        answers.put(bool((found == number).all()))


def test_four_workers_that_prepare_the_same_data_at_once_make_it_once_and_leave_whole_files(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(WORKERS), context.Queue()
    workers = [context.Process(target=prepare, args=(str(tmp_path), barrier, answers)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    assert [answers.get(timeout=60) for _ in range(WORKERS * THINGS)] == [True] * WORKERS * THINGS
    for worker in workers:
        worker.join()
    assert (tmp_path / "made.txt").read_text().split() == [str(number) for number in range(THINGS)]
    files = sorted(tmp_path.rglob("*.npz"))
    assert len(files) == THINGS
    for path in files:
        with np.load(path) as kept:
            assert len(kept["values"]) == SIZE


def test_data_is_made_by_a_waiting_process_if_its_maker_is_killed(tmp_path):
    code = """
        import os, sys
        from bench.data.cache import Cache
        def make():
            print("making", flush=True)
            if sys.argv[1] == "dies":
                sys.stdin.readline()
                os.kill(os.getpid(), 9)
            return {"values": [7]}
        print(Cache("made", "thing-").get(1, compute=make, build=lambda arrays: int(arrays["values"][0])), flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    own = {"env": {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, "text": True}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*command, "dies"], **own, **pipes) as first:
        assert first.stdout.readline() == "making\n"
        with subprocess.Popen([*command, "lives"], **own, **pipes) as second:
            first.communicate("die\n", timeout=60)
            assert second.communicate(timeout=60)[0] == "making\n7\n"
            assert second.returncode == 0
