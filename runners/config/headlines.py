"""What a paper says in general, read from its file."""

from bench.audit.headlines import Headline, read_headlines
from bench.errors import ConfigError
from runners.config.figures import figure_names
from runners.config.filled import filled
from runners.config.tree import expect, one_of, path_of, placed, read


def load_headlines(paper: str) -> list[Headline]:
    """Return a paper's headlines. Raises ConfigError where one rests on a figure or claim that there is not."""
    file = f"headlines/{paper}"
    if path_of(file) is None:
        return []
    with placed(file):
        content = read(file)
        for key in content.keys() - {"headlines"}:
            raise ConfigError(f"found the key '{key}', expected headlines alone", at=[key])
        headlines = read_headlines(paper, expect(list, content.get("headlines"), "headlines"))
        for number, headline in enumerate(headlines, start=1):
            for key, parts in {"rests_on": headline.rests_on, "beside": headline.beside}.items():
                for part, references in parts.items():
                    for reference in references:
                        _check(paper, reference, f"headline {number}, {key}.{part}")
    return headlines


def _check(paper: str, reference: str, where: str) -> None:
    """Refuse ``figure#claim@case`` where there is no such figure or claim."""
    figure, _, rest = reference.partition("#")
    claim = rest.partition("@")[0]
    figures = [name.partition("/")[2] for name in figure_names(paper)]
    if figure not in figures:
        raise ConfigError(
            f"{where}: found '{reference}', but no figure is called {figure}, {one_of(figure, figures)}", at=[reference]
        )
    with placed(f"figure/{paper}/{figure}"):
        claims = [str(given.get("id")) for given in filled(f"{paper}/{figure}")["claims"]]
    if claim not in claims:
        raise ConfigError(
            f"{where}: found '{reference}', but {figure} has no claim '{claim}', {one_of(claim, claims)}",
            at=[reference],
        )
