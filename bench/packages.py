"""Installation commands of optional packages."""

from pathlib import Path

DISTRIBUTION = "bandit-tuning-bench"


def how_to_install(*extras: str) -> str:
    """Return the command that installs ``extras``, for the running checkout or for the installed suite.

    The suite is not on a package index, so pip finds it by name only where it is already installed.
    """
    checkout = Path(__file__).resolve().parents[1]
    names = f"[{','.join(extras)}]"
    if not (checkout / "conf").is_dir():  # in a wheel the file is in another place
        return f"pip install '{DISTRIBUTION}{names}'"
    here = "." if Path.cwd() == checkout else str(checkout)
    return f"pip install -e '{here}{names}'"
