"""The conformance checks on a user's class, in a separate process."""

from collections.abc import Callable
from typing import Any, NamedTuple

from yaml import YAMLError

from bandit_bench._parts import Part, Piece, is_direct, part_of
from bench.errors import BenchError, ConfigError
from runners.config.classes import construct, describe, import_class, is_named, not_settings
from runners.config.yaml_text import load


class Checked(NamedTuple):
    """The requirement that a check tests, and the violation that it found; "" if none."""

    tests: str
    error: str


class CheckedClass(NamedTuple):
    """The checks of a class, and its capabilities."""

    results: list[Checked]
    notes: list[str]


def check(part: Part, *, rounds: int = 20_000) -> CheckedClass:
    """Run the suite's conformance checks on a tuner, contextual algorithm or environment.

    ``part`` as in `compare`; ``rounds``: the length of the longest check. Raises ConfigError for another kind of class.
    """
    from bench.conformance.checks import CHECKS, REMEDY  # slow to import
    from runners.execute.workers import apart

    group, cls, settings = _found(part)
    asked = (None if is_named(cls) else cls, group, settings)
    checks = CHECKS[group]
    *errors, here, can = apart(*((_run, *asked, each, rounds) for each in checks), (_digest, *asked), (_can, *asked))
    (there,) = apart((_digest, *asked))
    results = [Checked((each.__doc__ or "").strip(), str(error)) for each, error in zip(checks, errors, strict=True)]
    if isinstance(there, Exception):
        same = str(there)
    else:
        same = "" if here == there else f"another process gave a different result, {REMEDY}"
    results.append(Checked("Another process gives the same result with the same seed.", same))
    notes = can if isinstance(can, list) else [f"what it can do could not be determined: {can}"]
    if names := not_settings(cls):
        notes.append(f"{', '.join(names)}: no settings, as {cls.__name__} has no @component (of bandit_bench) above it")
    return CheckedClass(results, notes)


def _found(part: Part) -> tuple[str, type, dict[str, Any]]:
    from bench.algorithms.contextual import ContextualAlgorithm  # slow to import
    from bench.conformance.drive import is_played

    errors = []
    for group in ("tuner", "algorithm", "env"):
        try:
            piece = part_of(group, _split(part))
            if group == "env" and is_direct(part):
                piece += Piece({"algorithm": "none"})
            experiment = piece.composed().experiment
            settings, cls = experiment.settings[group], experiment.classes[group]
        except BenchError as error:
            errors.append(str(error))
            continue
        made = construct(group, cls, settings)
        if group == "tuner" or isinstance(made, ContextualAlgorithm) or is_played(made):
            return group, cls, settings
        raise ConfigError(
            f"check: found {cls.__name__}, which has a task of its own, expected a class that is played in rounds"
        )
    raise ConfigError(f"check: {errors[0]}")


def _split(part: Part) -> Part:
    """Return a part with settings in parentheses as a pair of name and settings."""
    if not isinstance(part, str) or not part.endswith(")"):
        return part
    name, _, inside = part[:-1].partition("(")
    try:
        return name, load(f"{{{inside.replace('=', ': ')}}}")
    except (YAMLError, ValueError):
        raise ConfigError(f"check: found '{part}', expected settings as in {name}(key=value, key=value)") from None


def _built(handed: type | None, group: str, settings: dict[str, Any]) -> Callable[[], Any]:
    cls = handed or import_class(group, settings)
    return lambda: construct(group, cls, settings)


def _run(handed: type | None, group: str, settings: dict[str, Any], function: Callable[..., None], rounds: int) -> str:
    try:
        function(_built(handed, group, settings), rounds)
    except Exception as error:  # the class may raise any error
        return describe(error)
    return ""


def _digest(handed: type | None, group: str, settings: dict[str, Any]) -> str:
    from bench.conformance.drive import digest_of, drive_algorithm, drive_environment, drive_tuner

    drive: dict[str, Callable[..., Any]] = {
        "tuner": drive_tuner,
        "algorithm": drive_algorithm,
        "env": drive_environment,
    }
    try:
        return digest_of(drive[group](_built(handed, group, settings)(), 3, 50))
    except Exception as error:  # a check has reported it
        return describe(error)


def _can(handed: type | None, group: str, settings: dict[str, Any]) -> list[str]:
    from bench.conformance.capabilities import WORDS, capabilities

    if group != "tuner":
        return []
    can = capabilities(_built(handed, group, settings)())
    return [f"{'can   ' if getattr(can, name) else 'cannot'}  {words}" for name, words in WORDS.items()]
