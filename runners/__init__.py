"""The commands."""

import os
import signal
import sys

_is_command = sys.argv[:1] == ["-m"] and "runners" in (word.partition(".")[0] for word in sys.orig_argv)
if _is_command and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `command` takes over, after imports that take a while
if _is_command and os.getcwd() in sys.path and os.getcwd() != os.path.dirname(os.path.dirname(__file__)):
    for _name in ("bench.py", "bandit_bench.py"):
        if os.path.isfile(_name):
            sys.exit(f"error: {os.path.abspath(_name)}: found the name of a package of the suite, expected another")
