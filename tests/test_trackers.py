"""The example of docs/library.md with a tracker runs, and the tracker then has the comparison's numbers."""

import re
import subprocess
import sys

import pandas as pd
import pytest
from commands import PATIENCE, ROOT, Commands

pytest.importorskip("mlflow", reason="MLflow (mlflow-skinny will do) is not installed, and nothing else needs it")


def test_a_comparison_goes_to_mlflows_store_of_files(tmp_path):
    commands = Commands(tmp_path)
    (code,) = re.findall(r"^```python\n# track.py\n(.*?)^```$", (ROOT / "docs/library.md").read_text(), re.M | re.S)
    (commands.cwd / "track.py").write_text(code)
    environ = {**commands.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "track.py"], cwd=commands.cwd, env=environ, check=True, timeout=PATIENCE)
    (run,) = (path.parent for path in commands.cwd.glob("mlruns/*/*/artifacts"))
    assert (run / "artifacts/regret.png").stat().st_size > 1_000
    table = pd.read_csv(run / "artifacts/comparison/table.csv").set_index("method")["mean"]
    for method in ("TL", "UCB1"):
        assert float((run / "metrics/regret" / method).read_text().split()[1]) == pytest.approx(table[method])
