"""Nonsense in a configuration: one sentence that names the key, or a part that works; no files outside the results.

``BENCH_EXAMPLES=1000 python -m pytest tests/test_bad_configuration.py`` tries as many for every class.
"""

import itertools
import math
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import registry
from commands import Commands, assert_one_sentence
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bench.data.__main__ import main as data_command
from bench.errors import BenchError, ConfigError, one_line
from bench.space import HyperParameter
from runners.config.compose import RunSettings, from_overrides
from runners.config.experiment import build
from runners.config.runner import Runner

EXAMPLES = int(os.environ.get("BENCH_EXAMPLES", "10"))
properties = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture(autouse=True)
def no_real_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)


# What may be written where a value is expected

NUMBERS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([10**6, -(10**6), 2**31, 2**63 - 1, 2**63, 10**30]),
    st.floats(-2, 12).map(lambda value: round(value, 3)),
    st.sampled_from(
        [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-300, 5e-324, 1e300, -1e300, 1e18, 0.5, 1.0, 1e-9, 1.0000001]
    ),
)
TEXTS = st.one_of(
    st.sampled_from(["", " ", "abc", "1", "-1", "1e5", "nan", "none", "true", "../x", "/etc/passwd", "a.b", "x" * 500]),
    st.sampled_from(["é", "\n", "\x1b[31m", "\0", "\u2028", "<b>", "'", "a b", "${seed}", "%s", "{}", "ridge"]),
)
VALUES = st.recursive(
    st.one_of(NUMBERS, NUMBERS, TEXTS, st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["a", "low", "candidates", "ridge", "exploration_rate"]), inner, max_size=2),
    ),
    max_leaves=6,
)
FIELDS = st.dictionaries(
    st.sampled_from(["candidates", "low", "high", "log", "integer", "default", "when"]),
    st.one_of(NUMBERS, VALUES, st.lists(NUMBERS, max_size=4)),
    max_size=4,
)


def spelt(value: Any) -> str:
    """Return a value as it is written in an override."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return f"[{','.join(map(spelt, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{spelt(item)}' for key, item in value.items())}}}"
    return {"None": "null", "True": "true", "False": "false"}.get(repr(value), repr(value))


# The classes, each with others that fit

SMALL = ["env.n_arms=5", "env.dim=3"]
COMPANIONS: list[list[str]] = [
    [*SMALL],
    ["task=copies", *SMALL],
    ["env=synthetic_logistic", "algorithm=ucb_glm", *SMALL],
    ["env=switching_sine", "algorithm=none", "tuner=zooming_ts"],
    ["env=gaussian_arms", "algorithm=none", "tuner=ucb1"],
    ["env=synthetic_logged", "algorithm=softmax_policy", "tuner=random"],
    ["env=titanic", "algorithm=random_forest", "tuner=random"],
    ["env=ali_display_ad", "algorithm=candidate_generation", "tuner=random"],
]
PARTS = [(group, name) for group in ("env", "algorithm", "tuner", "task") for name in registry.names(group)]


def companions(group: str, name: str) -> list[str]:
    """Return overrides that choose the class, and further ones with which it can be built."""
    for words in COMPANIONS:
        own = [word for word in words if not word.startswith(f"{group}=")]
        if group == "env":
            own = [word for word in own if not word.startswith("env.")]
        try:
            build(from_overrides([f"{group}={name}", *own]).experiment)
            return [f"{group}={name}", *own]
        except BenchError:
            continue
    raise AssertionError(f"nothing fits {group}={name}")


def keys_of(group: str, name: str) -> list[str]:
    """Return the dotted keys of a class's settings, and one unknown key."""
    values = registry.settings(group, name)
    keys = [key for key in values if key != "_target_"]
    keys += [f"space.{parameter}" for parameter in values.get("space", {})]
    keys += [f"space.{p}.{key}" for p in values.get("space", {}) for key in ("candidates", "low", "high", "default")]
    return [*keys, "_target_"]


def assert_names(error: BenchError, *names: str) -> None:
    text = one_line(error)
    assert text.isprintable(), f"not one line: {text!r}"
    assert "found " in text or "the space is empty" in text, text
    assert "expected " in text, text
    assert any(name in text for name in names), f"names none of {names}: {text!r}"
    assert len(text) < 2_000, text


@pytest.mark.parametrize(("group", "name"), PARTS, ids=lambda value: value)
def test_any_value_of_any_setting_is_refused_in_one_sentence_or_taken(group: str, name: str) -> None:
    chosen, keys = companions(group, name), keys_of(group, name)

    @properties
    @given(key=st.sampled_from(keys), value=VALUES, fields=FIELDS)
    def check(key: str, value: Any, fields: dict[str, Any]) -> None:
        if key.startswith("space.") and key.count(".") == 1:
            value = fields
        dotted = f"{group}.{key}"
        add = "" if key in registry.settings(group, name) else "++"
        try:
            build(from_overrides([*chosen, f"{add}{dotted}={spelt(value)}"]).experiment)
        except ConfigError as error:
            assert_names(error, dotted, key.split(".")[-1], ".".join(dotted.split(".")[:3]))

    check()


@pytest.mark.parametrize("key", [*RunSettings.__annotations__, *(f"runner.{key}" for key in Runner.__annotations__)])
def test_any_value_of_a_run_is_refused_in_one_sentence_or_is_in_range(key: str) -> None:
    @properties
    @given(value=VALUES)
    def check(value: Any) -> None:
        try:
            run = from_overrides([f"++{key}={spelt(value)}"])
        except BenchError as error:
            assert_names(error, key)
            return
        assert 1 <= run.settings.horizon <= 10**9
        assert 1 <= run.settings.repetitions <= 10**6
        assert run.settings.seed >= 0
        assert run.settings.jobs >= 1
        assert run.settings.output in ("text", "json")
        assert run.experiment.settings["horizon"] == run.settings.horizon
        assert run.runner.time_limit is None or 0 < run.runner.time_limit < math.inf

    check()


# Search spaces


@settings(properties, max_examples=max(200, EXAMPLES))
@given(fields=FIELDS)
def test_a_hyper_parameter_is_refused_in_one_sentence_or_gives_values_within_it(fields: dict[str, Any]) -> None:
    try:
        made = HyperParameter("x", **fields)
    except ConfigError as error:
        assert_names(error, "'x'", "HyperParameter")
        return
    assert made.candidates or made.continuous
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for u in (0.0, 1e-300, 0.25, 0.5, 1.0 - 2**-53, 1.0) if made.continuous else ():
            value = made.from_unit(u)
            assert made.low <= value <= made.high, f"{u} becomes {value}"
            assert not made.integer or value == int(value)
        drawn = made.sample(np.random.default_rng(0))
    assert made.continuous or any(drawn is candidate for candidate in made.candidates)
    if not made.continuous:
        with pytest.raises(ConfigError, match="no interval"):
            made.from_unit(0.5)


BOUNDS = st.floats(allow_nan=False, allow_infinity=False)


@settings(properties, max_examples=max(300, EXAMPLES))
@given(ends=st.tuples(BOUNDS, BOUNDS).map(sorted), log=st.booleans(), us=st.lists(st.floats(0, 1), min_size=2))
def test_the_unit_interval_is_mapped_in_order_within_the_ends(ends: list[float], log: bool, us: list[float]) -> None:
    low, high = ends
    assume(low < high and (low > 0 or not log))
    try:
        parameter = HyperParameter("x", low=low, high=high, log=log)
    except ConfigError as error:
        assert_names(error, "narrower")
        assert not math.isfinite(high / low if log else high - low)
        return
    values = [parameter.from_unit(u) for u in sorted(us)]
    assert all(low <= value <= high for value in values), values
    slack = 1e-12 * max(abs(low), abs(high))
    assert all(later >= earlier - slack for earlier, later in itertools.pairwise(values))
    assert (parameter.from_unit(0.0), parameter.from_unit(1.0)) == (low, high)
    if abs(low) > 1e-100 and abs(high) < 1e100:
        middle = math.sqrt(low * high) if log else (low + high) / 2
        assert parameter.from_unit(0.5) == pytest.approx(middle, rel=1e-12, abs=slack)


# The command line says it, and nothing leaves the folder of results

PATHS = ["../x", "/tmp/x", "a\\b", "x\0y"]


@pytest.fixture
def call(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Any]:
    """Call a command in this process, which must not write outside of its folder of results."""
    from hydra.core.global_hydra import GlobalHydra

    def called(command: str, *words: str) -> Any:
        GlobalHydra.instance().clear()
        before = {path for path in tmp_path.rglob("*") if "results" not in path.parts}
        answer = commands.here(monkeypatch, capsys, command, *words)
        after = {path for path in tmp_path.rglob("*") if "results" not in path.parts}
        assert {path for path in after - before if ".cache" not in path.parts} == set()
        return answer

    return called


@pytest.mark.parametrize("path", PATHS)
def test_a_name_that_is_a_path_is_refused(call: Callable[..., Any], path: str) -> None:
    assert_one_sentence(call("reproduce", f"figure={path}"), "figure")
    assert_one_sentence(call("run", f"scale={path}"), "scale")


@pytest.mark.parametrize(
    "word", ["env.features='\u202eabc'", "tuner._target_='a\x07.b'", "algorithm.tune=['\x1b]0;title\x07']"]
)
def test_an_error_cannot_steer_the_terminal(call: Callable[..., Any], word: str) -> None:
    """A value is shown, not executed."""
    answer = call("run", word, "repetitions=1")
    assert answer.code == 1
    assert answer.err.splitlines()[-1].startswith("error: ")
    assert answer.err.replace("\n", "").isprintable(), repr(answer.err)


def test_a_damaged_data_file_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert one_line(ConfigError("file, line 1: found '\x1b[2J\r\x85\u2028', expected a number")).isprintable()
    assert data_command(["fetch", "\x1b[2J\r\x85\u2028"]) == 1
    (line,) = capsys.readouterr().err.removesuffix("\n").split("\n")
    assert line.startswith("error: ")
    assert line.isprintable(), repr(line)
    assert "'\\x1b[2J\\r\\x85\\u2028'" in line
