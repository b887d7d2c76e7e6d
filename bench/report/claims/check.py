"""Check all claims of a figure."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import ValidationError

from bench.errors import ConfigError
from bench.report.claims.base import CaseClaim, Claim
from bench.report.claims.best_on_grid import BestOnGrid
from bench.report.claims.bound import Bound
from bench.report.claims.count import Count
from bench.report.claims.finding import Finding
from bench.report.claims.paired_difference import PairedDifference
from bench.report.claims.ratio import Ratio
from bench.report.claims.slope import Slope
from bench.report.claims.spread import Spread
from bench.report.experiments import Experiments

KINDS: dict[str, type[Claim]] = {
    "paired_difference": PairedDifference,
    "ratio": Ratio,
    "spread": Spread,
    "bound": Bound,
    "slope": Slope,
    "best_on_grid": BestOnGrid,
    "count": Count,
}

COLUMNS = (
    "claim",
    "text",
    "kind",
    "case",
    "estimate",
    "ci_low",
    "ci_high",
    "n",
    "unit",
    "expect",
    "verdict",
    "note",
)


def check(figure: Mapping[str, Any], finals: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Return the verdict on every case of every claim of a figure.

    Parameters
    ----------
    figure
        The figure as a plain dict, with `name`, `column`, `runs` and `claims`.
    finals
        Final values: axis columns, `repetition`, `rounds`, one column per trace column. Experiments may be missing:
        the cases that need them are open.
    curves
        Mean curves: axis columns, `column`, `round`, `mean`, `std`, `ci_low`, `ci_high`, `n`.

    Returns
    -------
    DataFrame
        One row per case, in the figure's order, with the columns `COLUMNS`; `verdict` is "holds", "fails" or "open",
        `unit` says what the estimate is, `note` why a verdict is open or what is missing.

    Raises
    ------
    ConfigError
        If a claim has an unknown kind, key, axis or label, or lacks one.
    DataError
        If ``finals`` is not such a table.
    """
    data = Experiments(figure, finals)
    claims = read(figure, data)
    found: dict[str, list[Finding]] = {
        claim.id: claim.findings(data, curves) for claim in claims if isinstance(claim, CaseClaim)
    }
    for claim in claims:
        if isinstance(claim, Count):
            found[claim.id] = [claim.tally([case for id_ in claim.of for case in found[id_]])]
    rows = [
        (
            claim.id,
            claim.text,
            claim.kind,
            finding.case,
            finding.estimate,
            finding.low,
            finding.high,
            finding.n,
            finding.unit,
            claim.expect,
            finding.verdict,
            finding.note,
        )
        for claim in claims
        for finding in found[claim.id]
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read(figure: Mapping[str, Any], data: Experiments) -> list[Claim]:
    """Return a figure's claims, checked against its axes and labels.

    Raises
    ------
    ConfigError
        Naming figure, claim, key and the valid choices.
    """
    claims = [_read_one(figure, raw, data) for raw in figure.get("claims") or ()]
    ids = [claim.id for claim in claims]
    for claim in claims:
        where = f"figure '{data.name}', claim '{claim.id}'"
        if ids.count(claim.id) > 1:
            raise ConfigError(f"{where}: this id is used twice, ids must differ within a figure")
        if isinstance(claim, Count):
            countable = [other.id for other in claims if not isinstance(other, Count)]
            for id_ in claim.of:
                if id_ not in countable:
                    raise ConfigError(f"{where}, key 'of': no claim '{id_}' to count, choose from {_list(countable)}")
    return claims


def _read_one(figure: Mapping[str, Any], raw: Any, data: Experiments) -> Claim:
    if not isinstance(raw, Mapping):
        raise ConfigError(f"figure '{data.name}', key 'claims': expected a list of mappings, found {raw!r}")
    where = f"figure '{data.name}', claim '{raw.get('id', '?')}'"
    kind = raw.get("kind")
    if kind not in KINDS:
        raise ConfigError(f"{where}, key 'kind': unknown kind {kind!r}, choose from {_list(KINDS)}")
    model = KINDS[kind]
    try:
        default = {"column": str(figure["column"])} if "column" in figure and issubclass(model, CaseClaim) else {}
        claim = model.model_validate({**default, **raw})
    except ValidationError as error:
        raise ConfigError(_sentence(where, kind, model, error)) from None
    if isinstance(claim, CaseClaim):
        claim.validate_axes(data, where)
    return claim


def _sentence(where: str, kind: str, model: type[Claim], error: ValidationError) -> str:
    """Return the first of pydantic's complaints as one sentence."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        valid = model.model_fields if len(first["loc"]) == 1 else ("left", "right")
        return f"{where}: unknown key '{key}', valid for kind '{kind}': {_list(valid)}"
    if first["type"] == "missing":
        return f"{where}: key '{key}' is missing, kind '{kind}' needs it"
    message = first["msg"].removeprefix("Value error, ")
    return f"{where}, key '{key}': {message}, found {first['input']!r}" if key else f"{where}: {message}"


def _list(names: Any) -> str:
    return ", ".join(names) or "none"
