"""The tool that puts faults into the code, on a package of one function and tests that notice them or do not."""

import pytest

from tools import mutants

MODULE = "def area(a, b):\n    return a * b\n\n\n" + "# a module that is long enough\n" * 20
CALLS = "from bench.shapes import area\n\n\ndef test_area():\n    assert area(6, 2) {}\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # half of the time that pytest takes
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    for part in ("bench", "runners", "tests"):
        (tmp_path / part).mkdir()
    (tmp_path / "bench" / "shapes.py").write_text(MODULE)
    return tmp_path


def test_a_fault_is_one_change_that_still_parses(project):
    mutant = next(mutants.mutants(project, seed=0))
    assert mutant == (project / "bench" / "shapes.py", MODULE.replace("a * b", "(a / b)"), mutant.name)
    assert mutant.name == "bench/shapes.py:2 a * b -> a / b"


@pytest.mark.parametrize(("check", "is_noticed"), [("== 12", True), ("> 0", False)])
def test_a_fault_is_noticed_if_the_tests_of_its_module_fail_and_it_is_taken_back(project, check, is_noticed):
    (project / "tests" / "test_shapes.py").write_text(CALLS.format(check))
    assert mutants.judge(project, next(mutants.mutants(project, seed=0))) is is_noticed
    assert (project / "bench" / "shapes.py").read_text() == MODULE
