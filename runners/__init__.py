"""The commands."""

import os
import sys

if sys.argv[:1] == ["-m"] and os.getcwd() in sys.path and os.getcwd() != os.path.dirname(os.path.dirname(__file__)):
    for _name in ("bench.py", "bandit_bench.py"):
        if os.path.isfile(_name):
            sys.exit(f"error: {os.path.abspath(_name)}: found the name of a package of the suite, expected another")
