"""One entry of the catalogue of data sets."""

from dataclasses import dataclass

from bench.data.download import Download, PlainFiles


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
    text_checksum
        The sha256 of its file with LF line ends and none at the end, where copies circulate that differ in these alone.
    """

    name: str
    title: str
    folder: str
    file: str
    licence: str
    how_to_get: str
    stand_in: str = ""
    download: Download | PlainFiles | None = None
    text_checksum: str = ""

    @property
    def checksums(self) -> dict[str, str]:
        """The known checksums of its files, by name; none where it must be downloaded manually."""
        if self.download is None:
            return {}
        if isinstance(self.download, Download):
            return {self.file: self.download.member_checksum}
        return dict(self.download.checksums)
