"""Words in pictures."""

import textwrap


def wrapped(label: str, letters: int) -> str:
    """Return a label broken into lines."""
    return "\n".join(textwrap.wrap(label, letters)) or label
