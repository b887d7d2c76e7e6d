"""The production loop that docs/changepoint_gp.md shows, run twice: the second run goes on where the first stopped."""

import json
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "changepoint_gp.md"


def test_production_loop_runs_and_goes_on(tmp_path, monkeypatch):
    (body,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    steps = []
    for _ in range(2):
        exec(compile(body, str(PAGE), "exec"), {"__name__": "loop"})
        state = json.loads(Path("tuner.json").read_text())
        steps.append(state["state"]["step"])
    assert steps == [195, 390]  # five rewards of each call are still on their way
    assert list(tmp_path.iterdir()) == [tmp_path / "tuner.json"]
