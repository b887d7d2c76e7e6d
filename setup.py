"""Settings that pyproject.toml cannot state: a wheel carries ``conf`` as ``runners/conf``."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithConf(build_py):
    """Copy the configuration files, which lie beside the packages in a checkout, into the package ``runners``."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "runners", "conf")
            shutil.rmtree(target, ignore_errors=True)  # no file of an earlier build that is gone since
            shutil.copytree(Path(__file__).parent / "conf", target)


setup(cmdclass={"build_py": BuildWithConf})
