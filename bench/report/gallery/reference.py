"""A page of classes: what their docstrings say, and the settings that they take."""

import inspect
import re
from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from markdown_it import MarkdownIt
from markupsafe import Markup

from bench.component import defaults, explanations

_SECTION = re.compile(r"^(\w+)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_MARKDOWN = MarkdownIt("commonmark", {"html": False})
_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


class Setting(NamedTuple):
    """A key: its type and default in words, and what it means."""

    name: str
    type: str
    default: str
    about: str


class Entry(NamedTuple):
    """A class: what chooses it, where it is, its first sentence, the rest of its text as HTML, settings and methods."""

    name: str
    path: str
    summary: str
    text: str
    settings: list[Setting]
    methods: list[tuple[str, str]]

    @property
    def words(self) -> str:
        """All that it says, for a search."""
        settings = (f"{setting.name}: {setting.about}" for setting in self.settings)
        return " ".join([self.path, self.summary, re.sub(r"<[^>]*>|\s+", " ", self.text), *settings])


def entry(name: str, thing: Any, *, has_methods: bool = False) -> Entry:
    """Return what is said of a class or function; ``name`` is what chooses it."""
    doc = inspect.getdoc(thing) or ""
    sections = [section for section in _SECTION.findall(doc) if section[0] != "Parameters"]
    text = doc[: match.start()] if (match := _SECTION.search(doc)) else doc
    text += "".join(f"\n\n**{title}** {' '.join(body.split())}" for title, body in sections)
    summary, _, rest = text.strip().partition("\n\n")
    methods = [
        (f"{key}{inspect.signature(value)}".replace("bench.", ""), " ".join((inspect.getdoc(value) or "").split()))
        for key, value in vars(thing).items()
        if has_methods and inspect.isclass(thing) and inspect.isfunction(value) and key[0] != "_" and value.__doc__
    ]
    return Entry(name, f"{thing.__module__}.{thing.__qualname__}", " ".join(summary.split()), _html(rest),
                 _settings(thing), methods)  # fmt: skip


def _settings(thing: Any) -> list[Setting]:
    about = explanations(thing) if inspect.isclass(thing) else {}
    try:
        given = defaults(thing)
        types: Mapping[str, Any] = get_type_hints(thing, include_extras=True)
        names = [name for name in inspect.signature(thing).parameters if name not in ("self", "args", "kwargs")]
    except (NameError, TypeError, ValueError):
        return []
    return [
        Setting(name, _type(types.get(name)), repr(given[name]) if name in given else "", about.get(name, ""))
        for name in names
    ]


def _type(annotation: Any) -> str:
    """Return a type in words: ``int > 0 or None``."""
    if annotation is None:
        return ""
    bounds = getattr(annotation, "__metadata__", ())
    if bounds:
        signs = [f"{sign} {value:g}" for bound in bounds for key, sign in _SIGNS.items()
                 if (value := getattr(bound, key, None)) is not None]  # fmt: skip
        return " ".join([_type(get_args(annotation)[0]), *signs])
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(map(_type, get_args(annotation)))
    if get_origin(annotation) is Literal:
        return " or ".join(map(repr, get_args(annotation)))
    words = getattr(annotation, "__name__", "") if not get_args(annotation) else ""
    words = words or re.sub(r"\b(typing|collections\.abc|bench(\.\w+)+)\.", "", str(annotation))
    return "None" if words == "NoneType" else words


def inline(text: str) -> Markup:
    """Return a sentence of a docstring as HTML."""
    return Markup(_MARKDOWN.renderInline(text))


def _html(text: str) -> str:
    html: str = _MARKDOWN.render(re.sub(r"::\n", ":\n", text))
    return html.replace("<pre>", '<pre class="scroll" tabindex="0">')
