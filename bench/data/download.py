from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Download:
    """A zip archive on a server, and the path in it of the one file needed; checksums are ``algorithm:digest``."""

    url: str
    archive_checksum: str
    member: str
    member_checksum: str


@dataclass(frozen=True)
class PlainFiles:
    """Files at addresses that begin with ``url`` and end with their names; the first is the data set's ``file``."""

    url: str
    checksums: Mapping[str, str]
