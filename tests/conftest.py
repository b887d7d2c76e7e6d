"""Set-up of all tests: one thread for every numerical library, as in the workers, and Ctrl-C as on a terminal."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # they are read when NumPy is imported
    os.environ.setdefault(_name, "1")

# ruff: noqa: E402
import gc
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from commands import OWN_MODULES, ROOT, Answer, Commands
from platformdirs import user_cache_dir

from bench.errors import ConfigError
from runners.config.runner import Runner
from runners.execute import progress
from runners.execute.workers import workers
from runners.results.store import alone

for _name in ("BENCH_CONF_DIR", "BENCH_RESULTS_DIR"):  # no test reads or writes a user's own files
    os.environ.pop(_name, None)
# Whatever cache folder a test sets: a process keeps compiled code where its first kernel was compiled
os.environ.setdefault("NUMBA_CACHE_DIR", f"{user_cache_dir('bandit-tuning-bench')}/numba")

progress._SILENT_SECONDS = 3_600.0  # however busy the machine is, stderr has what a test expects

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background, and then in every child
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # as on a terminal, also under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exempt half a million lasting objects from garbage collection, which would take 0.25 s each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000)


@pytest.fixture
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide the data sets of the machine; return an empty folder for the cache."""
    monkeypatch.setattr("bench.data.files.user_cache_dir", lambda project: str(tmp_path / "cache" / project))
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)
    return tmp_path / "cache" / "bandit-tuning-bench"


@pytest.fixture
def altered_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept small files in place of the published files; they are marked as altered."""
    monkeypatch.setenv("BENCH_DATA_ALTERED", "1")


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    """Return an object that calls commands from a folder with two modules of a user's own."""
    calls = Commands(tmp_path)
    for name in OWN_MODULES:
        shutil.copy(ROOT / "tests" / name, calls.cwd)
    return calls


@pytest.fixture
def here(
    commands: Commands,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Callable[..., Answer]:
    """Return a function that calls the command named by ``COMMAND`` in the test's module, in this process."""
    return lambda *words: commands.here(monkeypatch, capsys, request.module.COMMAND, *words)


@pytest.fixture
def trouble(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that sets the trouble of the tuner in ``trouble_tuner.py``; at first there is no trouble."""
    for name in ("TROUBLE", "TROUBLE_LOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return lambda words: monkeypatch.setenv("TROUBLE", words)


@pytest.fixture
def one_worker(trouble: Callable[[str], None]) -> Iterator[None]:
    """Provide a single worker for all calls of a test, because the start of a worker takes half a second."""
    with workers(Runner(), 1):
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of prepared data and trained models, which all processes of the test session share.

    Compiled code is kept in the user's own cache folder, so that it lasts from one session to the next. Results of a
    test without a folder of its own are written to the session's folder, never to the user's.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    os.environ["BENCH_TESTS_CACHE"] = str(folder)
    os.environ["BENCH_RESULTS_DIR"] = str(base / "results")
    return folder


@pytest.fixture(scope="session")
def site(shared_cache: Path) -> Path:
    """Return the folder with the pages of made-up results, which the first process writes and no test changes."""
    from gallery_site import write_site  # which imports what draws, and only some processes need

    root, whole = shared_cache.with_name("results with space"), shared_cache.with_name("site is whole")
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(alone(shared_cache.with_name("site.lock"), "another process writes them"))
                break
            except ConfigError:
                time.sleep(0.2)
        if not whole.exists():
            shutil.rmtree(root, ignore_errors=True)
            write_site(root)
            whole.touch()
    return root


@pytest.fixture(scope="session")
def reference_results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Provide the committed results, without files that a user's own commands have written; no test changes them.

    The files are links to the files of the checkout if possible, because a copy takes 50 MB.
    """
    listed = subprocess.run(["git", "ls-files", "-z", "results"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("only git knows which results are committed, and this is no git checkout")
    folder = tmp_path_factory.mktemp("reference")
    made = {}
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(ROOT / name, folder / name)
        except OSError:  # between file systems
            shutil.copy2(ROOT / name, folder / name)
        made[folder / name] = (folder / name).stat().st_mtime_ns
    yield folder / "results"
    changed = [path for path, when in made.items() if not path.is_file() or path.stat().st_mtime_ns != when]
    assert changed == [], "a test has changed a committed result"
