import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.errors import DataError


@dataclass(frozen=True)
class Dataset:
    """A data set, with the location of its file and the way to get the file.

    ``folder`` is below ``BENCH_DATA_DIR`` or below the cache's ``data`` folder; ``file`` may be a pattern such as
    ``clicks.*``, whose first match is used. ``stand_in`` describes the data used if the file is missing. For data that
    can be fetched, ``url`` is the address of a zip archive that contains the file as ``member``, or the common
    beginning of the addresses of plain files. Checksums are ``algorithm:digest`` of the archive, of the files by name,
    and, in ``text_checksum``, for copies that differ only in line ends, the sha256 of the text with LF line ends and no
    final line end. ``wheel`` names a package whose wheel contains, as ``wheel_member``, a copy of the file below a line
    of names; ``size`` is the size of a download, as text.
    """

    name: str
    title: str
    folder: str
    file: str
    licence: str
    how_to_get: str
    stand_in: str = ""
    url: str = ""
    member: str = ""
    archive_checksum: str = ""
    checksums: Mapping[str, str] = field(default_factory=dict)
    text_checksum: str = ""
    wheel: str = ""
    wheel_member: str = ""
    size: str = ""

    @property
    def missing(self) -> str:
        """The sentence for a user without the data set, with the stand-in and the way to get the data."""
        return f"{self.name} is not here: {self.stand_in}; to get it: {self.how_to_get}"


CATALOGUE = {
    name: Dataset(name=name, **entry)
    for name, entry in tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")).items()
}
MOVIELENS = CATALOGUE["movielens"]
CDT_FACTORS = CATALOGUE["cdt_factors"]
YAHOO_R6A = CATALOGUE["yahoo_r6a"]
OPEN_BANDIT = CATALOGUE["open_bandit"]
TITANIC = CATALOGUE["titanic"]
HOUSE_PRICES = CATALOGUE["house_prices"]
ALI_DISPLAY_AD = CATALOGUE["ali_display_ad"]


def find_dataset(name: str) -> Dataset:
    """Return the catalogue's entry called ``name``. Raises DataError, listing the valid names, if it is unknown."""
    if name not in CATALOGUE:
        raise DataError(f"found the unknown data set '{name}', expected one of: {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
