"""Check a class of your own against the requirements of its kind: bandit-bench check my_module.MyTuner [rounds=20000].

A tuner, a contextual algorithm or an environment, by its dotted path or by its name as a choice; settings follow in
parentheses: "my_module.MyTuner(threshold=0.9)". Each requirement is printed; the last line counts the failures, and the
exit code is 1 if there are any.
"""

import sys
from functools import partial

from runners.command import plain_command, read_words


def check(words: list[str]) -> bool:
    """Run all checks on a class; return whether all pass."""
    from bandit_bench._check import check as run  # slow to import
    from bench.errors import ConfigError
    from runners.compare import part_in_words

    names = [word for word in words if "=" not in word.partition("(")[0]]
    given = read_words([word for word in words if word not in names], {"rounds": 20_000})
    if len(names) != 1:
        raise ConfigError(f"check: found {len(names)} classes, expected one: bandit-bench check my_module.MyTuner")
    _, part = part_in_words("check", names[0])
    return run(part, rounds=given["rounds"])


main = partial(plain_command, __doc__, check)

if __name__ == "__main__":
    sys.exit(main())
