"""The kinds of data behind a result, and the prefix of a fingerprint that shows the kind."""

from enum import StrEnum


class DataKind(StrEnum):
    """The kind of a data set; only real and synthetic data support a verdict about a paper.

    ``synthetic`` data is drawn by a rule and has no fingerprint; ``surrogate`` data is generated in place of missing
    real data; ``altered`` data differs from the published data; a ``packaged`` sample is part of a library;
    ``computed`` numbers come without a run.
    """

    REAL = "real"
    SYNTHETIC = "synthetic"
    PACKAGED = "packaged"
    SURROGATE = "surrogate"
    ALTERED = "altered"
    COMPUTED = "computed"

    @classmethod
    def of(cls, fingerprint: str | None) -> "DataKind":
        """Return the kind that ``fingerprint`` shows (see `marked`); None means that there is no data."""
        if fingerprint is None:
            return cls.SYNTHETIC
        word = fingerprint.partition("-")[0]
        return cls(word) if word in (cls.SURROGATE, cls.ALTERED, cls.PACKAGED) else cls.REAL

    def marked(self, checksum: str) -> str:
        """Return the fingerprint for a checksum: the kind as a prefix, such as ``altered-``, except for real data."""
        return checksum if self is self.REAL else f"{self}-{checksum}"

    @property
    def is_replaced(self) -> bool:
        """Whether generated or altered data replaces the real data."""
        return self in (self.SURROGATE, self.ALTERED)

    @property
    def is_evidence(self) -> bool:
        """Whether a verdict may rest on this data."""
        return not self.is_replaced and self is not self.PACKAGED

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    DataKind.REAL: "real data",
    DataKind.SYNTHETIC: "synthetic: generated at random",
    DataKind.PACKAGED: "a small packaged sample of the real data, too small to conclude from",
    DataKind.SURROGATE: "data generated in place of the real: no evidence about the paper",
    DataKind.ALTERED: "data that differs from the published data: no evidence about the paper",
    DataKind.COMPUTED: "none: computed, nothing was run",
}
