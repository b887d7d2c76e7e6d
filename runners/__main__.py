"""One command for all others: ``bandit-bench run env=movielens`` is ``python -m runners.run env=movielens``."""

import os
import sys

from bench.packages import DISTRIBUTION

PROGRAM = "bandit-bench"
COMMANDS = {
    "run": ("runners.run", "run one experiment: any environment, algorithm and tuner"),
    "compare": ("runners.compare", "compare tuners, your own among them: a picture, tables, verdicts"),
    "tournament": ("runners.tournament", "put your own tuner beside all others, on the tournament's tasks"),
    "reproduce": ("runners.reproduce", "make the figures of a paper, or of all papers"),
    "verify": ("runners.verify", "run a sample of the results of scale paper again and compare"),
    "gallery": ("runners.gallery", "write the HTML pages of all results"),
    "list": ("runners.list", "list the choices, or the settings of a choice: list tuner cdt"),
    "check": ("runners.check", "check your own class against the requirements on every class"),
    "lesson": ("runners.lesson", "copy a first lesson on bandits, a notebook, to the current folder"),
    "data": ("bench.data", "list or fetch data sets"),
}
"""The module behind each command, and its purpose."""
_HELP = f"""
for example: {PROGRAM} compare tuner=cdt,tl env=synthetic_linear horizon=2000 repetitions=5
Each command accepts --help. Results go to the folder ./results of the current folder (in a checkout: to
that of the checkout) or to BENCH_RESULTS_DIR. Your own configuration files are read from ./conf, or
from BENCH_CONF_DIR."""


def main() -> int:
    """Run the command that the first argument names; return an exit code if there is no such command."""
    name, *words = sys.argv[1:] or ["--help"]
    if name in COMMANDS:
        # -P: files in the current folder cannot take the place of the suite's modules
        os.execv(sys.executable, [sys.executable, "-P", "-m", COMMANDS[name][0], *words])
    if name in ("-h", "--help"):
        print(f"usage: {PROGRAM} COMMAND [key=value ...]\n")
        print("\n".join(f"  {name:<10} {about}" for name, (_, about) in COMMANDS.items()))
        print(_HELP)
        return 0
    if name == "--version":
        from runners.config.classes import version  # slow to import

        print(version(DISTRIBUTION))
        return 0
    print(f"error: found the command '{name}', expected one of: {', '.join(COMMANDS)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
