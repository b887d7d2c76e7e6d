"""Kinds of data that results rest on, and how the fingerprint of data tells its kind."""

from enum import StrEnum


class DataKind(StrEnum):
    """What data is: on any but real and synthetic data no verdict about a paper rests.

    ``synthetic`` data is drawn by a rule and has no fingerprint; ``surrogate`` data is generated in place of real data
    that is missing; ``altered`` data differs from the published; a ``packaged`` sample comes with a library; where
    numbers were ``computed`` nothing was run.
    """

    REAL = "real"
    SYNTHETIC = "synthetic"
    PACKAGED = "packaged"
    SURROGATE = "surrogate"
    ALTERED = "altered"
    COMPUTED = "computed"

    @classmethod
    def of(cls, fingerprint: str | None) -> "DataKind":
        """Return the kind of data with a fingerprint: see `marked`; None is that of no data at all."""
        if fingerprint is None:
            return cls.SYNTHETIC
        word = fingerprint.partition("-")[0]
        return cls(word) if word in (cls.SURROGATE, cls.ALTERED, cls.PACKAGED) else cls.REAL

    def marked(self, checksum: str) -> str:
        """Return the fingerprint of data with a checksum: after the kind, such as ``altered-``, unless it is real."""
        return checksum if self is self.REAL else f"{self}-{checksum}"

    @property
    def is_replaced(self) -> bool:
        """Whether other data stands in for the real: generated or altered."""
        return self in (self.SURROGATE, self.ALTERED)

    @property
    def is_evidence(self) -> bool:
        """Whether a verdict may rest on it."""
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
