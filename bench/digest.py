"""The project's digest of one value: of bytes directly, of other values as canonical JSON.

Large files, which are read piece by piece, and seeds, which are raw bytes, use hashlib directly.
"""

import hashlib
import json
from typing import Any


def digest(value: Any, digits: int = 64) -> str:
    """Return the first hexadecimal digits of the sha256 of bytes, or of plain data in any order of keys."""
    content = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(content).hexdigest()[:digits]
