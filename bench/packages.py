"""How packages are installed that the suite can use but does not bring along."""

from pathlib import Path

DISTRIBUTION = "bandit-tuning-bench"


def how_to_install(*extras: str) -> str:
    """Return the command that installs extras: of the checkout that runs, or of the suite as it is installed.

    The suite is on no package index; by its name pip finds it only where it is installed already.
    """
    checkout = Path(__file__).resolve().parents[1]
    names = f"[{','.join(extras)}]"
    if not (checkout / "conf").is_dir():  # a wheel has it elsewhere
        return f"pip install '{DISTRIBUTION}{names}'"
    here = "." if Path.cwd() == checkout else str(checkout)
    return f"pip install -e '{here}{names}'"
