import tomllib
from pathlib import Path
from typing import Any

from bench.data.dataset import Dataset
from bench.data.download import Download, PlainFiles
from bench.errors import DataError


def _dataset(name: str, entry: dict[str, Any]) -> Dataset:
    download: Download | PlainFiles | None = None
    if "archive" in entry:
        download = Download(**entry.pop("archive"))
    elif "files" in entry:
        download = PlainFiles(**entry.pop("files"))
    return Dataset(name=name, download=download, **entry)


CATALOGUE = {
    name: _dataset(name, entry)
    for name, entry in tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text()).items()
}
MOVIELENS = CATALOGUE["movielens"]
CDT_FACTORS = CATALOGUE["cdt_factors"]
YAHOO_R6A = CATALOGUE["yahoo_r6a"]
OPEN_BANDIT = CATALOGUE["open_bandit"]
TITANIC = CATALOGUE["titanic"]
HOUSE_PRICES = CATALOGUE["house_prices"]
ALI_DISPLAY_AD = CATALOGUE["ali_display_ad"]


def find_dataset(name: str) -> Dataset:
    """Return the catalogue's entry called ``name``. Raises DataError, listing the valid names, if there is none."""
    if name not in CATALOGUE:
        raise DataError(f"found the unknown data set '{name}', expected one of: {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
