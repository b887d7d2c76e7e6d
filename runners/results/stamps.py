"""What stands beside a result of the code that made it, and digests of the files that belong to it: ``stamp.json``."""

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.digest import digest
from runners.results.capture import environment, kind_of_machine
from runners.results.store import read_json, write_text

FILE = "stamp.json"

_MADE_ONCE = ("environment.json", "manifest.json", "repetitions.parquet", "seconds.csv")
"""What tables and pictures are derived from."""

_EDITED = "{}: found content that differs from what was written with this result"


def read_stamps(folder: Path) -> dict[str, str]:
    """Return the stamps of a result's runs by key, as far as they are known: see `Experiment.stamp`."""
    found = read_json(folder / FILE).get("stamps")
    by_stamp = found if isinstance(found, dict) else {}
    return {key: stamp for stamp, keys in by_stamp.items() if isinstance(keys, list) for key in keys}


def write_stamps(folder: Path, stamps: Mapping[str, str]) -> None:
    """Note the stamps of a result's runs by key, and digests of all its other files, which are there by now.

    Its runs are not confirmed since they were made.
    """
    _write(folder, {"confirmed": None, "stamps": _by_stamp(stamps), "files": digests(folder)})


def _by_stamp(stamps: Mapping[str, str]) -> dict[str, list[str]]:
    by_stamp: dict[str, list[str]] = {}
    for key, stamp in sorted(stamps.items()):
        by_stamp.setdefault(stamp, []).append(key)
    return by_stamp


def _write(folder: Path, noted: Mapping[str, Any]) -> None:
    """Write what is noted of a result, with a digest of it, so that an edit is noticed."""
    content = {key: value for key, value in noted.items() if key != "digest"}
    write_text(folder / FILE, json.dumps(content | {"digest": digest(content, 20)}, indent=1) + "\n")


def renew_digests(folder: Path) -> None:
    """Note the digests of a result's tables and pictures after these were derived again; all else stays."""
    noted = read_json(folder / FILE)
    if noted:
        files = {name: found for name, found in digests(folder).items() if name not in _MADE_ONCE}
        files |= {name: found for name, found in noted["files"].items() if name in _MADE_ONCE}
        _write(folder, noted | {"files": dict(sorted(files.items()))})


def move_stamps(folder: Path, moves: Mapping[str, tuple[str, str]], confirmed: Mapping[str, Any]) -> None:
    """Give runs another stamp, by key, where they still have the one they had; note what confirmed it.

    All in one write; digests of files stay as they were noted.
    """
    stamps = read_stamps(folder)
    stamps |= {key: after for key, (before, after) in moves.items() if stamps.get(key, "") == before}
    _write(folder, read_json(folder / FILE) | {"confirmed": confirmed, "stamps": _by_stamp(stamps)})


def note_left(folder: Path, left: int) -> None:
    """Note how many runs of a result that was confirmed before are not confirmed; all else stays."""
    noted = read_json(folder / FILE)
    confirmed = noted.get("confirmed")
    if isinstance(confirmed, dict) and confirmed.get("left") != left:
        _write(folder, noted | {"confirmed": confirmed | {"left": left}})


def confirmation(repetitions: int, *, exact: bool, left: int) -> dict[str, Any]:
    """Return what is noted of repetitions that were played to confirm a result with today's code.

    ``left``: how many of its runs are still to be confirmed after it.
    """
    git = environment()["git"] or {}
    return {
        "day": datetime.now(UTC).date().isoformat(),
        "commit": git.get("commit"),
        "dirty": git.get("dirty"),
        "repetitions": repetitions,
        "exact": exact,
        "left": left,
        "machine": kind_of_machine(environment()),
    }


def digests(folder: Path) -> dict[str, str]:
    """Return digests of the files of a result by name, without those that git ignores and what is being written.

    Also of files in folders below it, which no result has.
    """
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and belongs(path.name)]
    return {path.relative_to(folder).as_posix(): digest(path.read_bytes(), 20) for path in files}


def damage(folder: Path, apart_from: Collection[str] = ()) -> list[str]:
    """Return a sentence for each file of a result that is missing, is not as it was written, or does not belong to it.

    ``apart_from``: names of files that are compared otherwise.
    """
    content = read_json(folder / FILE)
    noted, own = content.get("files"), content.pop("digest", None)
    if not isinstance(noted, dict) or not noted:
        return [f"{folder / FILE}: found no digests in it, expected those of the other files"]
    problems = [_EDITED.format(folder / FILE)] if own != digest(content, 20) else []
    found = digests(folder)
    for name in sorted((noted.keys() | found.keys()) - set(apart_from)):
        if name not in found:
            problems.append(f"{folder / name}: found no such file, expected the one of this result")
        elif name not in noted:
            problems.append(f"{folder / name}: found a file that does not belong to this result")
        elif found[name] != noted[name]:
            problems.append(_EDITED.format(folder / name))
    return problems


def packages_then(folder: Path) -> dict[str, Any]:
    """Return the versions of the packages that compute with which a result was made or last confirmed."""
    noted = read_json(folder / FILE).get("confirmed")
    made = read_json(folder / "environment.json")
    machine = noted.get("machine") if isinstance(noted, dict) else kind_of_machine(made)
    packages = machine.get("packages") if isinstance(machine, dict) else None
    return packages if isinstance(packages, dict) else {}


def belongs(name: str) -> bool:
    """Whether a file may be committed with a result: no other format of a table or picture, nothing half-written."""
    return name != FILE and not name.startswith(".") and not name.endswith((".pdf", ".tex", ".png", ".html", ".tmp"))
