"""How all tests are run: one thread for every numerical library, as in the workers, and Ctrl-C as on a terminal."""

import os
import signal

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background, and then in every child
    signal.signal(signal.SIGINT, signal.default_int_handler)
