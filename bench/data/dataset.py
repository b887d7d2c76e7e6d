from dataclasses import dataclass

from bench.data.download import Download, PlainFiles


@dataclass(frozen=True)
class Dataset:
    """A data set: the location of its file, and how to get it.

    ``folder`` is below ``BENCH_DATA_DIR`` or below the cache's ``data`` folder; ``file`` may be a pattern such as
    ``clicks.*``, whose first match is used. ``how_to_get`` is for those without a ``download``; ``stand_in`` says what
    is used if it is missing. ``text_checksum`` is the sha256 with LF line ends and none at the end, where copies differ
    in these alone.
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
        if self.download is None:
            return {}
        if isinstance(self.download, Download):
            return {self.file: self.download.member_checksum}
        return dict(self.download.checksums)
