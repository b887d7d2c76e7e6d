"""Settings that pyproject.toml cannot state: what a wheel carries from beside the packages, below ``runners``."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
COMMITTED = [f"tournament/{figure}/paper" for figure in ("short", "ranks")]
"""Results that a user's own tuner is held against."""
OF_RESULTS = ("manifest.json", "environment.json", "repetitions.parquet")


class BuildWithFiles(build_py):
    """Copy configuration files, a notebook and committed results into the package ``runners``."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "runners")
        for folder in ("conf", "committed"):  # no file of an earlier build that is gone since
            shutil.rmtree(target / folder, ignore_errors=True)
        shutil.copytree(ROOT / "conf", target / "conf")
        shutil.copy(ROOT / "notebooks" / "first_steps.ipynb", target)
        for name in COMMITTED:
            (target / "committed" / name).mkdir(parents=True)
            for file in OF_RESULTS:
                shutil.copy(ROOT / "results" / name / file, target / "committed" / name)


setup(cmdclass={"build_py": BuildWithFiles})
