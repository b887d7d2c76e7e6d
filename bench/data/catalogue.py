"""The data sets that the project knows."""

from bench.data.dataset import Dataset
from bench.data.download import Download
from bench.errors import DataError

MOVIELENS = Dataset(
    name="movielens",
    title="MovieLens 100K (GroupLens)",
    folder="movielens-100k",
    file="u.data",
    licence="research use with acknowledgement (Harper and Konstan 2015); it must not be redistributed or used "
    "commercially without permission from GroupLens",
    how_to_get="python -m bench.data fetch movielens",
    stand_in="generated surrogate ratings take its place",
    download=Download(
        url="https://files.grouplens.org/datasets/movielens/ml-100k.zip",
        archive_checksum="md5:0e33842e24a9c977be4e0107933c0723",
        member="ml-100k/u.data",
        member_checksum="sha256:06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
    ),
)

CATALOGUE: dict[str, Dataset] = {dataset.name: dataset for dataset in (MOVIELENS,)}


def find_dataset(name: str) -> Dataset:
    """Return the catalogue's entry called ``name``.

    Raises
    ------
    DataError
        If there is none; the message lists the names there are.
    """
    if name not in CATALOGUE:
        raise DataError(f"found the unknown data set '{name}', expected one of: {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
