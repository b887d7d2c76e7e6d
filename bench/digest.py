"""The project's digest of one value: of bytes as they are, of anything else as canonical JSON.

What is digested piece by piece, as large files are, or taken as raw bytes, as seeds are, uses hashlib itself.
"""

import hashlib
import json
from typing import Any


def digest(value: Any, digits: int = 64) -> str:
    """Return the first hexadecimal digits of the sha256 of bytes, or of plain data whatever the order of its keys."""
    content = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(content).hexdigest()[:digits]
