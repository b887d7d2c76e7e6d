from dataclasses import fields
from typing import Any

import pytest

from bench.component import component, defaults, neutral, neutral_settings
from bench.errors import ConfigError


@component
class Old:
    """A class with a setting from the start and two that were added."""

    size: int = 3
    delay: int = neutral(default=0)
    path: str | None = neutral(default=None)


@component
class Derived(Old):
    """Inherits them and adds one of its own."""

    more: float = neutral(default=1.0)


def test_a_setting_that_was_added_later_names_the_value_at_which_it_changes_nothing() -> None:
    assert neutral_settings(Old) == {"delay": 0, "path": None}
    assert neutral_settings(Derived) == {"delay": 0, "path": None, "more": 1.0}
    assert {item.name for item in fields(Old) if item.metadata.get("neutral")} == {"delay", "path"}


def test_it_is_a_setting_like_any_other() -> None:
    assert defaults(Old) == {"size": 3, "delay": 0, "path": None}
    assert Derived(delay=4, more=2.0).delay == 4
    values: dict[str, Any] = {"delay": "soon"}
    with pytest.raises(ConfigError, match=r"^Old\.delay: found 'soon', expected a valid integer"):
        Old(**values)
