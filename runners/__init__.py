"""The commands."""

import os
import signal
import sys

_IS_COMMAND = os.path.basename("".join(sys.argv[:1])) in ("-m", "bandit-bench")
if _IS_COMMAND and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Its modules are about to be imported: until it listens itself, Ctrl-C ends it without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)
