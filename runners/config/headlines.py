"""Reading of a paper's headlines."""

from collections.abc import Callable, Sequence
from functools import cache, partial

from bench.audit.headlines import Headline, read_headlines
from bench.errors import ConfigError
from runners.config.figures import figure_names
from runners.config.filled import filled
from runners.config.nearest import one_of
from runners.config.tree import expect, path_of, placed, read


def load_headlines(paper: str) -> list[Headline]:
    """Return a paper's headlines. Raises ConfigError if one rests on an unknown figure or claim."""
    file = f"headlines/{paper}"
    if path_of(file) is None:
        return []
    with placed(file):
        content = read(file)
        for key in content.keys() - {"headlines"}:
            raise ConfigError(f"found the key '{key}', expected headlines alone", at=[key])
        headlines = read_headlines(paper, expect(list, content.get("headlines"), "headlines"))
        figures = [name.partition("/")[2] for name in figure_names(paper)]
        claims_of = cache(partial(_claims, paper))  # headlines rest on the same few figures
        for number, headline in enumerate(headlines, start=1):
            for key in ("rests_on", "beside", "totals"):
                for part, references in getattr(headline, key).items():
                    for reference in references:
                        _check(reference, f"headline {number}, {key}.{part}", figures, claims_of)
    return headlines


def _check(reference: str, where: str, figures: Sequence[str], claims_of: Callable[[str], list[str]]) -> None:
    """Raise ConfigError for ``figure#claim@case`` with an unknown figure or claim."""
    figure, _, rest = reference.partition("#")
    claim = rest.partition("@")[0]
    if figure not in figures:
        raise ConfigError(
            f"{where}: found '{reference}', but no figure is called {figure}, {one_of(figure, figures)}", at=[reference]
        )
    if claim not in claims_of(figure):
        raise ConfigError(
            f"{where}: found '{reference}', but {figure} has no claim '{claim}', {one_of(claim, claims_of(figure))}",
            at=[reference],
        )


def _claims(paper: str, figure: str) -> list[str]:
    with placed(f"figure/{paper}/{figure}"):
        return [str(given.get("id")) for given in filled(f"{paper}/{figure}")["claims"]]
