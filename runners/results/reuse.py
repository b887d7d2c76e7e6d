"""Reused repetitions: the message about them, and their deletion."""

from collections.abc import Collection, Mapping
from datetime import datetime

from runners.results.store import Store


def reuse_line(store: Store, shown: Mapping[str, Collection[int]], renew: str = "renew=true") -> str:
    """Return the days of reused repetitions, and the argument that runs them again; "" if there are none.

    ``shown``: their numbers by run id. Example: "5 of 2026-11-27 08:12, renew=true runs them again".
    """
    sides = [store.read_side(run_id, number) for run_id, numbers in shown.items() for number in numbers]
    if not sides:
        return ""
    times = sorted(datetime.fromisoformat(side["finished"]).astimezone() for side in sides if "finished" in side)
    ends = [f"{time:%Y-%m-%d %H:%M}" for time in times[:: max(1, len(times) - 1)]]
    return f"{len(sides)} of {' to '.join(dict.fromkeys(ends)) or 'an unknown day'}, {renew} runs them again"


def finished(store: Store, wanted: Mapping[str, int], *, renew: bool = False) -> dict[str, set[int]]:
    """Return the finished repetitions among the requested ones, by run id; ``renew`` deletes them instead."""
    done = {run_id: store.done(run_id) & set(range(n)) for run_id, n in wanted.items()}
    for run_id, n in wanted.items() if renew else ():
        for number in range(n):
            for suffix in (".parquet", ".json", ".failed.json"):
                store.path(run_id, number, suffix).unlink(missing_ok=True)
        done[run_id] = set()
    return done
