import hashlib
from dataclasses import dataclass, field, fields

import numpy as np


@dataclass(frozen=True, eq=False)
class Log:
    """A record of read-only arrays; ``counts`` holds, by kind, the numbers of items that were read and left out."""

    counts: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def arrays(self) -> dict[str, np.ndarray]:
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def fingerprint(self) -> str:
        """Return the sha256 of the arrays, independent of the files."""
        digest = hashlib.sha256()
        for name, array in self.arrays().items():
            digest.update(f"{name} {array.shape} ".encode())
            if array.dtype.kind == "U":
                digest.update("\n".join(array.tolist()).encode())
            else:
                digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()
