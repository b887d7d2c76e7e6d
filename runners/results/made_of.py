"""Inputs of results, recorded below ``raw``, so that unchanged results are not made again."""

import json
import os
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bench.digest import digest
from runners.config.classes import file_of, is_suites, version
from runners.config.folders import CONFIGS, user_folder
from runners.results.store import read_json, results_folder, write_text

_ROOT = Path(__file__).resolve().parents[2]
_DRAWING = ("matplotlib", "numpy", "pandas", "scipy")


@cache
def code(root: Path = _ROOT) -> str:
    """Return the digest of the code that draws and judges, which consists of modules, templates and used packages."""
    paths = [path for room in ("bench", "runners") for path in sorted((root / room).rglob("*"))]
    files = {path: path.read_bytes() for path in paths if path.suffix in (".py", ".j2", ".css", ".js")}
    names = {path.relative_to(root).as_posix(): digest(content, 20) for path, content in files.items()}
    return digest([names, {name: version(name) for name in _DRAWING}], 20)


def conf_of(paper: str) -> dict[str, str]:
    """Return the digests of a paper's files of settings, labels, published numbers and looks, by path."""
    folders = [folder / "papers" / paper for folder in (CONFIGS, user_folder()) if folder]
    return {str(path): digest(path.read_bytes(), 20) for folder in folders for path in sorted(folder.glob("*.yaml"))}


def code_of_users(classes: Iterable[type]) -> dict[str, str]:
    """Return the digests of the files that define users' classes among ``classes``, by module."""
    paths = {cls.__module__: file_of(cls.__module__) for cls in classes if not is_suites(cls)}
    return {name: digest(Path(path).read_bytes(), 20) for name, path in paths.items() if path}


def note(folder: Path, made_of: str, names: Collection[str], about: Mapping[str, Any]) -> None:
    """Record the inputs of a result, the digests of its files ``names``, and further facts ``about`` the result."""
    write_text(_place(folder), json.dumps({"made_of": made_of, "files": _digests(folder, names), **about}) + "\n")


def noted(folder: Path, made_of: str) -> dict[str, Any] | None:
    """Return the record of a result if its inputs and its files are unchanged, else None."""
    found = read_json(_place(folder))
    files = found.get("files")
    if found.get("made_of") != made_of or not isinstance(files, dict) or _digests(folder, files) != files:
        return None
    return found


def of_pages(code_and_texts: Any, folder: Path) -> dict[str, Any]:
    """Return the record of the inputs of pages, which are code, configuration, texts, and a folder of results."""
    return {"made_of": code_and_texts, "folder": _folder_as_it_is(folder)}


def _folder_as_it_is(folder: Path) -> str:
    """Return the digest of the names, sizes and times of all files in a folder of results, including its pages."""
    found = []
    for root, names, files in os.walk(folder):
        names[:] = [name for name in names if name[0] != "." and (root != str(folder) or name != "raw")]
        for path in (os.path.join(root, name) for name in files if name[0] != "."):
            status = os.lstat(path)
            found.append([os.path.relpath(path, folder), status.st_size, status.st_mtime_ns])
    return digest(sorted(found), 20)


def _place(folder: Path) -> Path:
    """Return the path of the record, which git ignores so that committed files do not mention the drawing machine."""
    root = results_folder()
    return root / "raw" / "made_of" / f"{folder.relative_to(root).as_posix()}.json"


def _digests(folder: Path, names: Collection[str]) -> dict[str, str | None]:
    paths = {name: folder / name for name in sorted(names)}
    return {name: digest(path.read_bytes(), 20) if path.is_file() else None for name, path in paths.items()}
