"""Where claims come from: stated in a paper, what a theorem says, or ours."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

Origin = Literal["stated", "theorem", "ours"]


class Sourced(BaseModel):
    """Where a claim comes from; what a figure says holds for all its claims that do not say otherwise.

    It is ``stated`` in the paper, what a ``theorem`` says, or ``ours``; its place is that in the paper, or the theorem
    with the constants and logarithms that belong to it. The cases of a claim or figure that it ``repeats`` count there
    alone.
    """

    origin: Origin = "ours"
    place: str = ""
    repeats: str = ""


def with_source(figure: Sourced, claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim as written, with what its figure says of the origin of all its claims."""
    is_other = claim.get("origin", figure.origin) != figure.origin
    place = "" if is_other else figure.place
    return {"origin": figure.origin, "place": place, "repeats": figure.repeats, **claim}
