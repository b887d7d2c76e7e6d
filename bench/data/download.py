"""Where a data set can be downloaded, and its checksums."""

from collections.abc import Mapping
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


@dataclass(frozen=True)
class PlainFiles:
    """Files on a server, each at an address of its own.

    Parameters
    ----------
    url
        What their addresses begin with; the name follows.
    checksums
        Name of a file -> its checksum, written ``algorithm:digest``. The first is the data set's ``file``.
    """

    url: str
    checksums: Mapping[str, str]
