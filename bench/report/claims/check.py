"""The check of all claims of a figure, and claims that count cases, such as "in most cases"."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import pandas as pd
from pydantic import BaseModel, ValidationError

from bench.columns import names_of
from bench.critical import rule
from bench.errors import ConfigError
from bench.report.claims.base import Case, CaseClaim, Claim, by_kind
from bench.report.claims.best_on_grid import BestOnGrid
from bench.report.claims.bound import Bound
from bench.report.claims.comparisons import PairedDifference, RelativeDifference
from bench.report.claims.judgement import (
    DOES_NOT_REMAIN,
    FAILS,
    HOLDS,
    NO_EVIDENCE,
    NO_INTERVAL,
    OPEN,
    REMAINS,
    TIE,
    Conditions,
    Finding,
)
from bench.report.claims.ratio import Ratio, Spread
from bench.report.claims.slope import Slope
from bench.report.figure_keys import Several
from bench.report.provenance import Provenance
from bench.report.results import Results
from bench.stats import Interval, holm


class Count(Claim):
    """A claim that more than half of the cases of other claims, whose ids are ``of``, hold.

    The claim holds if more than half of the cases hold, fails if at most half of the cases would hold even if all open
    cases did, and is open otherwise. Cases without results and verdicts that do not survive Holm's correction count as
    open. Cases without evidence are left out. A tie counts as holding for "no more" or "no less", and as failing for
    other claims. The estimate is the share of cases whose point estimate alone is as expected; its interval ranges from
    the share of cases that hold to the share of cases that do not fail.
    """

    threshold: ClassVar[float] = 0.5

    kind: Literal["count"]
    expect: Literal["mostly"] = "mostly"
    of: Several

    def unit(self) -> str:
        return f"share of cases of claim {', '.join(self.of)} that go as expected, against 1/2"

    def tally(self, cases: Sequence[Finding]) -> Finding:
        cases = [
            replace(case, verdict=OPEN, counts_as=OPEN) if case.holm == DOES_NOT_REMAIN else case for case in cases
        ]
        evidence = [case for case in cases if case.verdict != NO_EVIDENCE]
        n, verdicts = len(evidence), Counter(case.verdict for case in evidence)
        hold, fail = (sum(case.counts_as == verdict for case in evidence) for verdict in (HOLDS, FAILS))
        verdict = HOLDS if 2 * hold > n else FAILS if 2 * (n - fail) <= n else OPEN
        note = f"{verdicts[HOLDS]} hold, {verdicts[TIE]} tie, {verdicts[OPEN]} open, {verdicts[FAILS]} fail of {n}"
        note += " after Holm's correction"
        if len(cases) > n:
            note += f"; {len(cases) - n} no evidence"
        interval = NO_INTERVAL
        if n:
            agree = sum(case.agrees or case.counts_as == HOLDS for case in evidence)
            interval = Interval(agree / n, hold / n, (n - fail) / n, n)
        else:
            verdict = NO_EVIDENCE if cases else OPEN
        return Finding("all", interval, self.unit(), verdict, counts_as=verdict, note=note)


KINDS = by_kind(PairedDifference, RelativeDifference, Ratio, Spread, Bound, Slope, BestOnGrid, Count)


def verdicts_on(results: Results) -> pd.DataFrame:
    """Return the verdicts on all cases of all claims of a figure, with the columns of ``claims.csv``.

    Cases that need missing experiments are open. If the number of repetitions was chosen by looking at the verdicts,
    intervals are group-sequential and therefore remain valid. Only cases on genuine data are judged if other data is a
    stand-in or a packaged sample. Raises ConfigError if a claim has an unknown kind, key, axis or label, or lacks a
    required key.
    """
    claims, provenance = claims_of(results), results.provenance
    judged_by = rule(provenance.until_decided)
    setting = Conditions(judged_by, _no_evidence(provenance), provenance.genuine, provenance.parts)
    findings = _after_holm({of.id: of.findings(results, setting) for of in claims if isinstance(of, CaseClaim)})
    for claim in claims:
        if isinstance(claim, Count):
            cases = [case for of in claim.of for case in findings[of]]
            findings[claim.id] = [claim.tally(cases)]
    rows = [_row(claim, finding) for claim in claims for finding in findings[claim.id]]
    return pd.DataFrame(rows, columns=list(names_of("claims")))


def _row(claim: Claim, finding: Finding) -> dict[str, Any]:
    """Return the columns of ``claims.csv``; by default a column is an attribute of the finding or of the claim."""
    known: dict[str, Any] = {"claim": claim.id, "note": "; ".join(filter(None, [finding.note, finding.proviso]))}
    known |= zip(("estimate", "ci_low", "ci_high", "n"), finding.interval, strict=True)
    known |= zip(("relative", "relative_low", "relative_high"), finding.relative[:3], strict=True)
    for name in names_of("claims"):
        if name not in known:
            known[name] = getattr(finding if hasattr(finding, name) else claim, name)
    return known


def _after_holm(findings: Mapping[str, list[Finding]]) -> dict[str, list[Finding]]:
    """Return the findings, in which tested verdicts have their outcome under Holm's correction.

    Open cases were tested too: their p-values, above 5 %, come last and only add to the number of tests.
    """
    every = [case for cases in findings.values() for case in cases]
    tested = [case for case in every if case.verdict != NO_EVIDENCE and math.isfinite(case.interval.low)]
    remain = holm([case.p if math.isfinite(case.p) else 1.0 for case in tested])
    kept = {id(case) for case, is_kept in zip(tested, remain, strict=True) if is_kept}

    def judged(case: Finding) -> Finding:
        if not math.isfinite(case.p):
            return case
        return replace(case, holm=REMAINS if id(case) in kept else DOES_NOT_REMAIN)

    return {claim: list(map(judged, cases)) for claim, cases in findings.items()}


def still_open(results: Results) -> dict[tuple[str, str], tuple[list[dict[str, str]], float]]:
    """Return the labels of the experiments of each open case, and the repetitions that would decide the case.

    The keys are the claim and the case. The number of repetitions is approximate, and NaN if results are missing or a
    million would not suffice. Cases without evidence are left out. Raises the same errors as `verdicts_on`.
    """
    setting = Conditions(rule(results.provenance.until_decided))
    unfinished = dict[tuple[str, str], tuple[list[dict[str, str]], float]]()
    for claim in claims_of(results):
        if not isinstance(claim, CaseClaim):
            continue
        for labels in claim.cases(results):
            case = Case(claim, results, labels)
            finding = claim.finding(case, setting)
            if finding.verdict == OPEN:
                needed = [results.as_dict(key) for key in claim.experiments(case)]
                unfinished[claim.id, finding.case] = needed, finding.repetitions_needed
    return unfinished


def _no_evidence(provenance: Provenance) -> str:
    if provenance.altered:
        return "the data was altered, or generated in place of the real"
    if provenance.surrogate:
        return "the data was generated in place of the real"
    return "the data is a packaged sample, too small to conclude from" if provenance.packaged else ""


def claims_of(results: Results) -> list[Claim]:
    """Return the checked claims of the results' figure. Raises ConfigError with the claim, the key and the choices."""
    claims = [_read_one(raw, results) for raw in results.figure.claims]
    ids = [claim.id for claim in claims]
    countable = [claim.id for claim in claims if not isinstance(claim, Count)]
    for claim in claims:
        _check_ids(claim, ids, countable, f"figure '{results.name}', claim '{claim.id}'")
    return claims


def _check_ids(claim: Claim, ids: list[str], countable: list[str], where: str) -> None:
    if ids.count(claim.id) > 1:
        raise ConfigError(
            f"{where}: this id is used twice, but ids must differ within a figure; with 'for_each' an id needs "
            "the word in braces, such as id: '2 {method}'"
        )
    for counted in claim.of if isinstance(claim, Count) else ():
        if counted not in countable:
            raise ConfigError(f"{where}, key 'of': no claim '{counted}' to count, choose from {_list(countable)}")


def _read_one(raw: Any, results: Results) -> Claim:
    if not isinstance(raw, Mapping):
        raise ConfigError(f"figure '{results.name}', key 'claims': expected a list of mappings, found {raw!r}")
    where = f"figure '{results.name}', claim '{raw.get('id', '?')}'"
    figure, kind = results.figure, raw.get("kind")
    kinds: dict[str, Any] = KINDS | figure.claim_kinds
    if kind not in kinds:
        raise ConfigError(f"{where}, key 'kind': unknown kind {kind!r}, choose from {_list(kinds)}")
    model = kinds[kind]
    try:
        default = {"column": figure.column} if issubclass(model, CaseClaim) else {}
        claim: Claim = model.model_validate({**default, **figure.with_source(raw)})
    except ValidationError as error:
        raise complaint(f"{where} of kind '{kind}'", model, error) from None
    if isinstance(claim, CaseClaim):
        claim.validate_axes(results, where)
    return claim


def complaint(where: str, model: type[BaseModel], error: ValidationError) -> ConfigError:
    """Return the first of pydantic's errors as one sentence; unknown keys come before other errors."""
    first = min(error.errors(), key=lambda complaint: complaint["type"] != "extra_forbidden")
    key, message = ".".join(str(part) for part in first["loc"] if part != ""), first["msg"]
    if first["type"] == "extra_forbidden":
        fields: Any = model.model_fields
        for part in first["loc"][:-1]:
            inner = fields[part].annotation if part in fields else None
            fields = next((nested.model_fields for nested in _models(inner)), fields)
        return ConfigError(f"{where}: unknown key '{key}', valid ones: {_list(fields)}")
    if first["type"] == "missing":
        return ConfigError(f"{where}: key '{key}' is missing")
    message = message.removeprefix("Value error, ")
    if not key:
        return ConfigError(f"{where}: {message}")
    expected = message.removeprefix("Input should be ").removeprefix("expected ")
    expected = re.sub("a valid dictionary( or instance of .*)?$", "keys and values", expected)
    return ConfigError(f"{where}, key '{key}': found {first['input']!r}, expected {expected}")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models(part)


def _list(names: Any) -> str:
    return ", ".join(names) or "none"
