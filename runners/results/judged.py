"""What judges a paper by its figure: claims under each of its readings, and its published numbers beside ours."""

from bench.audit.readings import render_readings
from bench.columns import is_measured
from bench.report.tables import to_csv
from runners.config.papers import load_paper
from runners.results.derive import Derived


def judged_tables(derived: Derived) -> dict[str, bytes]:
    """Return ``readings.csv`` of a figure with several readings, and ``numbers.csv`` of one with published numbers."""
    figure = derived.results.figure
    is_time = figure.source != "runs" or is_measured(figure.column)
    if len(derived.by_reading) < 2 and (not figure.published or is_time):
        return {}
    size = figure.published_repetitions or figure.repetitions or load_paper(figure.paper)["settings"]["repetitions"]
    found = render_readings(derived.by_reading, size, derived.claims)
    files = {"readings.csv": found.claims} if len(derived.by_reading) > 1 else {}
    if len(found.numbers) and not is_measured(figure.column):
        files["numbers.csv"] = found.numbers
    return {name: to_csv(table).encode() for name, table in files.items()}
