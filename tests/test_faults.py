"""Any fault around a run ends in one clear sentence, and finished repetitions are kept."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from commands import PATIENCE, ROOT, peak_settings, popen_repetitions, until, without_waiting
from trouble_tuner import ROUNDS

from runners.command import command
from runners.config.experiment import Experiment
from runners.execute.fanout import run_all
from runners.results.store import Store

STOPPED = "stopped; finished work is kept, rerun to resume\n"
OWN = ("env=switching_triangle", "algorithm=none", "tuner=trouble_tuner.Trouble", f"horizon={ROUNDS}", "repetitions=6")


@pytest.fixture
def plain():
    """An experiment without a class of a user's own: with one job it needs no worker."""
    return Experiment(peak_settings("bench.tuners.baselines.Random", ROUNDS))


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """Yield an empty file system with room for a few results."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here, which only root may")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def count(root: Path) -> int:
    return len(list(root.glob("raw/*/*.parquet")))


def parquet(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.glob("raw/*/*.parquet")}


@pytest.mark.parametrize("kills", [2, pytest.param(40, marks=pytest.mark.release)])
def test_after_kills_at_random_moments_all_is_there_as_if_nothing_had_happened(tmp_path, plain, kills):
    """Two workers are killed, then their command, which is restarted at once: its workers may still be there."""
    repetitions, results = 150, tmp_path / "disturbed"
    run_all([plain], repetitions, Store(tmp_path / "calm"), jobs=1)
    rng, killed = random.Random(time.time_ns()), 0
    for i in range(kills):
        done = set(parquet(results))
        child = popen_repetitions(plain, repetitions, results, jobs=2)
        wanted = len(done) + rng.random() * (repetitions - len(done)) / (kills - i)
        for _ in range(2):
            until(lambda child=child, wanted=wanted: child.poll() is not None or count(results) >= wanted)
            time.sleep(rng.random() * 0.1)
            with suppress(psutil.NoSuchProcess, IndexError):
                process = psutil.Process(child.pid)
                workers = [p for p in process.children(recursive=True) if "resource_tracker" not in p.cmdline()[-1]]
                rng.choice(workers).kill()
                killed += 1
        child.kill()
        child.communicate()
        assert done <= set(parquet(results))
    assert killed
    child = popen_repetitions(plain, repetitions, results, jobs=1)
    assert (child.communicate(timeout=PATIENCE), child.returncode) == (("begins\n", ""), 0)
    assert parquet(results) == parquet(tmp_path / "calm")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_ends_the_run_and_with_room_it_goes_on(tmp_path, small_disk, plain, jobs):
    store = Store(small_disk)
    run_all([plain], 60, Store(tmp_path / "calm"), jobs=1)
    with pytest.raises(OSError, match="No space left on device"):
        run_all([plain], 60, store, jobs=jobs)
    kept = store.done(plain.run_id)
    assert 0 < len(kept) < 60
    for repetition in kept:
        store.read(plain.run_id, repetition)
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    result = run_all([plain], 60, store, jobs=1)[plain.run_id]
    assert result.new == set(range(60)) - kept
    assert parquet(small_disk) == parquet(tmp_path / "calm")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (signal.SIGINT, ["jobs=2"]),
        (signal.SIGTERM, ["jobs=2"]),
        pytest.param(signal.SIGTERM, ["jobs=1", "runner=dask"], marks=pytest.mark.release),
    ],
)
def test_a_command_with_workers_that_is_stopped_says_how_to_go_on(commands, words, kind):
    if "runner=dask" in words:
        pytest.importorskip("distributed", reason="dask is not installed")
    child = commands.popen("run", *OWN, *words, TROUBLE="sleep 2 86400")
    least = 2 if "jobs=1" in words else 5  # all but the one that sleeps
    until(lambda: len(parquet(commands.results)) >= least)
    if kind == signal.SIGINT:
        os.killpg(child.pid, kind)  # as a terminal does
    else:
        child.send_signal(kind)  # as a batch system or a service manager does
    out, err = child.communicate(timeout=PATIENCE)  # the repetition would take a day
    assert (child.returncode, out) == (130, "")
    assert without_waiting(err) == STOPPED
    assert len(parquet(commands.results)) == least


class Stopped:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt


def test_a_command_that_is_stopped_while_a_class_is_made_says_how_to_go_on(monkeypatch, capsys):
    for name in ("MPLBACKEND", "HYDRA_FULL_ERROR"):  # set by the command, and so put back
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert command(lambda: bool(type("Made", (), {"field": Stopped()}))) == 130
    assert capsys.readouterr().err == STOPPED


@pytest.mark.release
def test_a_killed_dask_scheduler_is_named_and_finished_work_is_kept(tmp_path, commands):
    pytest.importorskip("distributed", reason="dask is not installed")
    address_file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    python = [sys.executable, "-m"]
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(address_file)]
    scheduler = subprocess.Popen([*python, "distributed.cli.dask_scheduler", *words], **quiet)
    until(lambda: address_file.is_file() and address_file.read_text().rstrip().endswith("}"))  # written in parts
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{commands.cwd}", "TROUBLE": "sleep 2 86400"}
    # One worker of one thread, which plays 0 and 1, and then sleeps
    words = ["--scheduler-file", str(address_file), "--nworkers", "1", "--nthreads", "1", "--no-dashboard"]
    worker = subprocess.Popen([*python, "distributed.cli.dask_worker", *words], env=environ, **quiet)
    try:
        address = json.loads(address_file.read_text())["address"]
        child = commands.popen("run", *OWN, "runner=dask", f"runner.scheduler={address}")
        until(lambda: len(parquet(commands.results)) == 2)
        os.killpg(scheduler.pid, signal.SIGKILL)
        _, err = child.communicate(timeout=PATIENCE)
    finally:
        for process in (scheduler, worker):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    sentence = f"error: runner.scheduler: '{address}' does not respond any more, expected a running dask"
    assert (child.returncode, err.splitlines()[-1].startswith(sentence)) == (1, True), err
    assert len(parquet(commands.results)) == 2


def test_all_damaged_results_are_named_and_run_again_at_once(tmp_path, plain, capsys):
    store = Store(tmp_path / "results")
    run_all([plain], 5, store, jobs=1)
    whole = parquet(store.root)
    for repetition in (1, 3, 4):
        store.path(plain.run_id, repetition).write_bytes(b"PAR1")
    result = run_all([plain], 5, store, jobs=1)[plain.run_id]
    assert (result.done, result.new) == (set(range(5)), {1, 3, 4})
    assert parquet(store.root) == whole
    err = capsys.readouterr().err
    assert err.endswith("run again: rep-00001.parquet, rep-00003.parquet, rep-00004.parquet\n")
    assert len(err.splitlines()) == 1
