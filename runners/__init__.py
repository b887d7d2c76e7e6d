"""The commands."""

import os
import signal
import sys

_by_name = os.path.basename("".join(sys.argv[:1])) == "bandit-bench"
_by_module = sys.argv[:1] == ["-m"] and any(word.partition(".")[0] == __name__ for word in sys.orig_argv)
if (_by_name or _by_module) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Its modules are about to be imported: until it listens itself, Ctrl-C ends it without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)
if _by_module and {"", os.getcwd()} & set(sys.path) and os.getcwd() != os.path.dirname(os.path.dirname(__file__)):
    for _name in ("bench.py", "bandit_bench.py"):
        if os.path.isfile(_name):
            sys.exit(
                f"error: {os.path.abspath(_name)}: found the name of a package of the suite, expected another name"
            )
