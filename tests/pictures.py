"""The pictures of pages that README shows: python tests/pictures.py [RESULTS].

Run README's comparison before it, and `make gallery`.
"""

import io
import sys
import tempfile
from pathlib import Path

from chromium import Chromium
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "front": ("index.html#papers", "document.getElementById('papers')"),
    "figure": ("cdt/figure2/index.html", "document.querySelector('header')"),
    "comparison": ("compare/comparison/index.html", "document.querySelector('header')"),
}
WIDTH, HEIGHT, SHOWN = 1100, 900, 660
"""The window, and the width of the picture."""


def main(results: Path) -> None:
    """Write a PNG of the top of each page, from the part that matters on."""
    target = ROOT / "docs" / "pictures"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, Chromium(Path(profile)) as browser:
        for name, (page, part) in PAGES.items():
            browser.open(f"{results.as_uri()}/{page}", WIDTH)
            browser.run(
                "Promise.all([...document.images].map((own) => { own.loading = 'eager'; return own.decode(); }))"
            )
            browser.run(f"scrollTo(0, {part}.getBoundingClientRect().top + scrollY)")
            path = target / f"{name}.png"
            browser.picture(path, whole=False)
            image = Image.open(io.BytesIO(path.read_bytes())).convert("RGB")
            small = image.resize((SHOWN, SHOWN * image.height // image.width), Image.Resampling.LANCZOS)
            small.quantize(200).save(path, optimize=True)
            print(path, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "results").resolve())
