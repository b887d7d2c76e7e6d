"""The origin of claims: stated in a paper, in a theorem, or ours."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

Origin = Literal["stated", "theorem", "ours"]


class Sourced(BaseModel):
    """The origin of a claim; that of a figure is the default for all its claims.

    It is ``stated`` in the paper, part of a ``theorem``, or ``ours``; ``place`` is the place in the paper, or the
    theorem with its constants and logarithms. The cases of a claim or figure that it ``repeats`` count only there.
    """

    origin: Origin = "ours"
    place: str = ""
    repeats: str = ""


def with_source(figure: Sourced, claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim as written, with its figure's origin as default."""
    is_other = claim.get("origin", figure.origin) != figure.origin
    place = "" if is_other else figure.place
    return {"origin": figure.origin, "place": place, "repeats": figure.repeats, **claim}
