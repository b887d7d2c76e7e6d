"""One entry of the catalogue of data sets."""

from dataclasses import dataclass

from bench.data.download import Download


@dataclass(frozen=True)
class Dataset:
    """A data set: its name, the location of its file, and how to get it.

    Parameters
    ----------
    name
        Name on the command line and in settings.
    title
        Name for display.
    folder
        Folder of the data set, below ``BENCH_DATA_DIR`` or below the cache's ``data`` folder.
    file
        Name of its file in that folder, or a pattern such as ``clicks.*`` whose first match is used.
    licence
        Terms of its licence, in one sentence.
    how_to_get
        How to get it manually, in one sentence.
    stand_in
        What is used if it is missing, if anything.
    download
        Where ``fetch`` gets it, or None for a data set that must be downloaded manually.
    """

    name: str
    title: str
    folder: str
    file: str
    licence: str
    how_to_get: str
    stand_in: str = ""
    download: Download | None = None
