"""The keys of figures, by kind of figure and of claim, and of headlines; the columns of result files."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

import bench.papers
import bench.report.kinds
from bench.audit.headlines import Headline
from bench.columns import FILES
from bench.report.claims.base import CaseClaim
from bench.report.claims.check import KINDS
from bench.report.figure import Figure
from bench.report.figure_keys import FigureKeys

Key = tuple[str, Any, Any]
"""Name, type and default of a key; the default of a required key is `...`."""
ABOUT = {
    "kind": "The kinds of figures, key `kind` of a figure's file. `any`: the keys of every kind.",
    "claim": "The kinds of claims, key `kind` of a claim. `any`: the keys of every kind.",
    "headline": "The entries of a paper's headlines.yaml, and the numbers that a finding may name.",
    "column": "The files of results that have the same columns for every figure.",
}


@cache
def figure_kinds() -> dict[str, type[Figure]]:
    """Return the suite's kinds of figures by name; the name of a kind for a single paper is a dotted path."""
    found = {}
    for package in (bench.report.kinds, bench.papers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for cls in vars(importlib.import_module(module.name)).values():
                if isinstance(cls, type) and issubclass(cls, Figure) and cls.__module__ == module.name:
                    is_general = package is bench.report.kinds
                    found[module.name.rpartition(".")[2] if is_general else f"{module.name}.{cls.__name__}"] = cls
    return found


def described(group: str) -> dict[str, Any]:
    """Return the entries of a group by name: the class of each kind, or the columns of each file."""
    if group == "column":
        return dict(FILES)
    if group == "headline":
        return {"any": Headline}
    if group == "kind":
        return {"any": FigureKeys, **figure_kinds()}
    own = {name: claim for kind in figure_kinds().values() for name, claim in kind.claim_kinds.items()}
    return {"any": CaseClaim, **KINDS, **own}


def keys_of(cls: type[BaseModel], base: type[BaseModel]) -> Iterator[tuple[type[BaseModel], list[Key]]]:
    """Yield a class with its keys, without the keys of ``base``, and then each model inside a key."""
    own = cls is base or not issubclass(cls, base)
    types = get_type_hints(cls, include_extras=True)
    fields = {name: field for name, field in cls.model_fields.items() if own or name not in base.model_fields}
    keys = [(name, types[name], _default(field)) for name, field in fields.items()]
    yield cls, keys
    for _, kind, _ in keys:
        for model in _models(kind):
            yield from keys_of(model, base)


def _default(field: FieldInfo) -> Any:
    value = ... if field.is_required() else field.get_default(call_default_factory=True)
    return value.model_dump() if isinstance(value, BaseModel) else value


def _models(kind: Any) -> list[type[BaseModel]]:
    inner = get_args(kind)
    is_model = isinstance(kind, type) and not inner and issubclass(kind, BaseModel)
    return [kind] if is_model else [model for part in inner for model in _models(part)]
