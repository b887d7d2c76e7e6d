"""Where a data set can be downloaded, and its checksums."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Download:
    """An archive on a server, and the one file needed from it.

    Parameters
    ----------
    url
        Address of a zip archive.
    archive_checksum
        Checksum of the archive as published, written ``algorithm:digest``.
    member
        Path of the needed file inside the archive.
    member_checksum
        Checksum of that file, written ``algorithm:digest``.
    """

    url: str
    archive_checksum: str
    member: str
    member_checksum: str
