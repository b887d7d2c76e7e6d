"""A command around what it does: exit codes, one sentence for every error a user can correct, and a clean stop."""

import atexit
import gc
import io
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from bench.errors import BenchError, ConfigError, one_line
from bench.packages import DISTRIBUTION
from runners.config.classes import version
from runners.config.folders import named_folder, user_folder
from runners.config.nearest import no_override
from runners.config.tree import unknown_choice, unknown_key
from runners.execute.limits import collect_rarely, is_command, stopping
from runners.results.store import results_folder

_KEPT = "; finished work is kept, rerun to resume"
_NO_MEMORY = re.compile("[Cc]annot allocate memory|failed to map segment")
"""What other errors than MemoryError say where there is none left, as those of imports."""
_GRACE_SECONDS = 8.0
"""How long workers may take to stop."""


def command(action: Callable[[], bool], *, keeps: bool = True) -> int:
    """Run a command; return its exit code. What a user can correct, Ctrl-C and a closed pipe are a sentence on stderr.

    ``keeps``: whether it keeps what is finished when it is stopped, which that sentence says.
    """
    if "--version" in sys.argv[1:]:
        print(version(DISTRIBUTION))
        return 0
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a label or folder may have what the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    os.environ["MPLBACKEND"] = "agg"  # no command opens a window
    collect_rarely()
    atexit.register(gc.freeze)  # memory is freed with the process: a last search takes as long as a short run
    stop = _Stop(keeps=keeps)
    try:
        _check_place()
        sys.path.insert(0, _current_folder())  # a user's own classes, also where the command is not run with -m
        _find_home()
        _find_scratch()
        good = action()
        sys.stdout.flush()
    except BaseException as error:
        if stop.asked or isinstance(error, KeyboardInterrupt):  # in compiled code it may have become another error
            stop.say()
            return 130
        if isinstance(error, BrokenPipeError):
            return unread(keeps=keeps)
        if isinstance(error, HydraException | OmegaConfBaseException | BenchError):
            print("error:", one_line(one_sentence(error)), file=sys.stderr)
            return 1
        if isinstance(error, OSError) and is_of_output(error):
            return unwritten(error, keeps=keeps)
        if is_of_memory(error):
            return without_memory(error, keeps=keeps)
        raise
    finally:
        stop.end()
    return 0 if good else 1


def _open_streams() -> None:
    """Where a standard stream was closed by whoever started this process, open it: a file must not get its number."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)  # for workers, too
    os.close(opened)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _check_place() -> None:
    """Refuse to run from a folder whose name numba cannot encode, which would be the error of each repetition."""
    place = os.path.dirname(__file__)
    try:
        place.encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"{place}: found a folder whose name is no UTF-8 for this locale, expected one that is: set LC_ALL=C.UTF-8 "
            "without PYTHONUTF8=0, or rename it"
        ) from None


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise ConfigError("the current folder was deleted, expected one that exists: change to another") from None


def _find_home() -> None:
    """Have libraries find a home where this user has none; refuse folders in that of a user who does not exist."""
    if os.path.expanduser("~") == "~":
        os.environ["HOME"] = os.path.abspath(os.sep)  # as container engines do
    user_folder()
    for variable in ("BENCH_DATA_DIR", "BENCH_RESULTS_DIR"):
        named_folder(variable)


def _find_scratch() -> None:
    """Where no folder for temporary files can be written, use one among the results until this process ends."""
    try:
        tempfile.gettempdir()
        return
    except FileNotFoundError as error:
        root, tried = results_folder(), error.strerror
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=".scratch-", dir=root)
    except OSError:
        raise ConfigError(f"TMPDIR: {tried} nor in {root}, expected a folder that can be written") from None
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def plain_command(doc: str | None, action: Callable[[list[str]], bool], *, keeps: bool = True) -> int:
    """Run a command that Hydra does not read the words of, or print its help; return its exit code."""

    def run() -> bool:
        words = sys.argv[1:]
        if {"-h", "--help"} & set(words):
            if doc is None:
                raise ConfigError("found no help, since python -OO leaves it out, expected python")
            print(doc)
            return True
        return action(words)

    return command(run, keeps=keeps)


def read_words(words: Sequence[str], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a command's keys, each of the type of its default: a word, a whole number, true or false.

    Raises ConfigError when a word is not one of them.
    """
    given = dict(defaults)
    for word in words:
        key, _, text = word.partition("=")
        if key not in defaults:
            raise unknown_key({}, key, list(defaults))
        if isinstance(defaults[key], bool):
            if text.lower() not in ("true", "false"):
                raise ConfigError(f"{key}: found '{text}', expected true or false")
            given[key] = text.lower() == "true"
        elif isinstance(defaults[key], int):
            if not text.isdecimal():
                raise ConfigError(f"{key}: found '{text}', expected a whole number")
            given[key] = int(text)
        else:
            given[key] = text
    return given


def one_sentence(error: BaseException) -> BaseException:
    """Turn Hydra's advice into one sentence with the key, what was found, and the valid choices."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, choice = str(error.missing_cfg_file).partition("/")
        return unknown_choice(group, choice)
    if isinstance(error, OverrideParseException):
        return ConfigError(no_override(str(error.override)))
    if unknown := re.search(r"Could not override '([^'@]+)'", str(error)):
        return ConfigError(f"{unknown[1]}: found an unknown key, expected one that --help shows")
    return error


class _Stop:
    """Ctrl-C, a batch system's SIGTERM and a closed terminal: what is finished is kept, and workers are stopped.

    The first raises KeyboardInterrupt. Where that is lost (an exception in a destructor, a callback or compiled code)
    or takes too long, and at the second, the process ends at once: its workers end with it. From then on nothing but
    the sentence is printed to stderr: compiled code whose import was interrupted prints a traceback of its own.
    """

    def __init__(self, *, keeps: bool) -> None:
        self._words = f"stopped{_KEPT * keeps}"
        self.asked = False
        stopping.clear()
        is_command.set()
        self._is_said = False
        self._stderr = 2
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        numbers = [signal.SIGINT, signal.SIGTERM]
        hangup = getattr(signal, "SIGHUP", None)  # a terminal that is closed; ignored under nohup
        if hangup is not None and signal.getsignal(hangup) is signal.SIG_DFL:
            numbers.append(hangup)
        self._before = {number: signal.signal(number, self._interrupt) for number in numbers}

    def end(self) -> None:
        """Undo it; a process that was stopped is not to be stopped again while it ends."""
        sys.unraisablehook = self._hook
        is_command.clear()
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_IGN if self.asked else before)

    def _interrupt(self, *_: Any) -> None:
        if self.asked:
            self._leave()
        self.asked = True
        stopping.set()
        self._stderr = os.dup(2)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 2)
        os.close(silence)
        timer = threading.Timer(_GRACE_SECONDS, self._leave)
        timer.daemon = True
        timer.start()
        raise KeyboardInterrupt

    def _unraisable(self, unraisable: Any) -> None:
        if self.asked:
            self._leave()
        self._hook(unraisable)

    def say(self) -> None:
        """Say, once, that the command was stopped."""
        if self._is_said:  # the time for its end may be over while it ends
            return
        self._is_said = True
        show_cursor = "\x1b[?25h" if os.isatty(self._stderr) else ""
        with suppress(OSError):  # the terminal was closed
            os.write(self._stderr, f"{show_cursor}{self._words}\n".encode())

    def _leave(self) -> None:
        """End this process at once."""
        self.say()
        os._exit(130)


def unread(*, keeps: bool = True) -> int:
    """Report that the reader of the output, such as ``head``, has closed it; return the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
    print(f"stopped: output pipe closed{_KEPT * keeps}", file=sys.stderr)
    return 141


def is_of_output(error: OSError) -> bool:
    """Tell whether an error is that nothing can be written to stdout: an empty line cannot be written, either."""
    if error.filename is not None:
        return False
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def unwritten(error: OSError, *, keeps: bool = True) -> int:
    """Report that stdout, such as a file on a full disk, cannot be written; return the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
    print(f"error: the output could not be written ({error.strerror}){_KEPT * keeps}", file=sys.stderr)
    return 1


def is_of_memory(error: BaseException) -> bool:
    """Tell whether an error is that there is no memory left, as may be that of an import."""
    return isinstance(error, MemoryError) or bool(_NO_MEMORY.search(str(error)))


def without_memory(error: BaseException, *, keeps: bool = True) -> int:
    """Report that there is no memory left, in this process and not in a repetition; return the exit code."""
    reason = one_line(error) or "MemoryError"
    words = f"found too little memory ({reason}), expected more, or a larger ulimit -v{_KEPT * keeps}"
    print(f"error: {words}", file=sys.stderr)
    return 1
