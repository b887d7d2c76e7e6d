"""Check a class of your own against the requirements of its kind: bandit-bench check my_module.MyTuner [rounds=20000].

A tuner, a contextual algorithm or an environment, by its dotted path or by its name as a choice; settings follow in
parentheses: "my_module.MyTuner(threshold=0.9)". Each requirement is printed; the last line counts the failures, and the
exit code is 1 if there are any.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from bandit_bench._parts import Part, Piece, is_direct, part_of
from bench.errors import BenchError, ConfigError
from runners.command import plain_command, read_words
from runners.compare import part_in_words
from runners.config.classes import construct, describe, import_class, is_named, not_settings


def check(words: list[str]) -> bool:
    """Run all checks on a class and return whether all pass."""
    names = [word for word in words if "=" not in word.partition("(")[0]]
    given = read_words([word for word in words if word not in names], {"rounds": 20_000})
    if len(names) != 1:
        raise ConfigError(f"check: found {len(names)} classes, expected one: bandit-bench check my_module.MyTuner")
    return check_class(part_in_words("check", names[0]).given, rounds=given["rounds"])


def check_class(part: Part, *, rounds: int = 20_000) -> bool:
    """Run the suite's conformance checks on a class and return whether all pass.

    ``part`` is a tuner, a contextual algorithm or an environment, given as in `compare`. ``rounds`` is the length of
    the longest check. Each requirement is printed with its violation, if there is one; the capabilities of a tuner
    follow. Raises ConfigError for another kind of class.
    """
    from bench.conformance.capabilities import capabilities  # slow to import

    group, cls, settings = _found(part)
    found = []
    for requirement, error in _results(group, cls, settings, rounds):
        print(f"{'FAILED' if error else 'ok    '}  {requirement}{f' Found: {error}' if error else ''}", flush=True)
        found.append(error)
    if group == "tuner":
        for words, can in capabilities(construct(group, cls, settings)).items():
            print(f"{'can   ' if can else 'cannot'}  {words}")
    if names := not_settings(cls):
        print(f"{', '.join(names)}: no settings, as {cls.__name__} has no @component (of bandit_bench) above it")
    failed = len([error for error in found if error])
    print(f"{failed} of {len(found)} checks failed" if failed else f"all {len(found)} checks passed")
    return not failed


def _results(group: str, cls: type, settings: dict[str, Any], rounds: int) -> Iterator[tuple[str, str]]:
    """Yield each requirement with the violation that its check found, or "" if there is none."""
    from bench.conformance.checks import CHECKS, REMEDY
    from runners.execute.workers import apart

    build = partial(construct, group, cls, settings)
    for each in CHECKS[group]:
        yield (each.__doc__ or "").strip(), _error(each, build, rounds)
    here, there = _digest(cls, group, settings), apart(_digest, None if is_named(cls) else cls, group, settings)
    same = str(there) if isinstance(there, Exception) else f"another process gave a different result, {REMEDY}"
    yield "Another process gives the same result with the same seed.", same * (here != there)


def _found(part: Part) -> tuple[str, type, dict[str, Any]]:
    from bench.algorithms.contextual import ContextualAlgorithm  # slow to import
    from bench.conformance.drive import is_played

    errors = []
    for group in ("tuner", "algorithm", "env"):
        try:
            piece = part_of(group, part)
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


def _error(function: Callable[..., None], build: Callable[[], Any], rounds: int) -> str:
    try:
        function(build, rounds)
    except (Exception, SystemExit) as error:  # the class may raise any error
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
        return digest_of(drive[group](construct(group, handed or import_class(group, settings), settings), 3, 50))
    except (Exception, SystemExit) as error:  # a check has reported it
        return describe(error)


main = partial(plain_command, __doc__, check)

if __name__ == "__main__":
    sys.exit(main())
