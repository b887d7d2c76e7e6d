"""The project's digest of a value, computed from bytes directly and from other values as canonical JSON.

Large files, which are read piece by piece, and seeds, which are raw bytes, use hashlib directly.
"""

import hashlib
import json
from typing import Any


def digest(value: Any, digits: int = 64) -> str:
    """Return the first ``digits`` hexadecimal digits of the SHA-256 of bytes, or of plain data in any order of keys."""
    content = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(content).hexdigest()[:digits]
