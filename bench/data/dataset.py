"""One entry of the catalogue of data sets."""

from dataclasses import dataclass

from bench.data.download import Download


@dataclass(frozen=True)
class Dataset:
    """A data set: what it is called, where its file lies, how one gets it.

    Parameters
    ----------
    name
        Name on the command line and in settings.
    title
        Name for people.
    folder
        Folder of the data set, below ``BENCH_DATA_DIR`` or below the cache's ``data`` folder.
    file
        Name of its file in that folder, or a pattern such as ``clicks.*`` whose first match counts.
    licence
        What its licence asks, in one sentence.
    how_to_get
        How one gets it by hand, in one sentence.
    stand_in
        What is used where it is missing, if anything.
    download
        Where ``fetch`` gets it, or None for a data set that must be got by hand.
    """

    name: str
    title: str
    folder: str
    file: str
    licence: str
    how_to_get: str
    stand_in: str = ""
    download: Download | None = None
