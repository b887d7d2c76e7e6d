"""Checks of the spelling in a user's table, for numbers in other notations and words that look alike."""

import re
import unicodedata
from collections.abc import Iterable

_CURRENCY = (
    r"[$€£¥₹₽₩₺₴₦₫₪₱฿¢]|R\$|US\$|C\$|A\$|Rs\.?|kr\.?|zł|Kč|Fr\.?|euros?|dollars?|"
    "EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|ZAR|MXN|KRW|SGD|HKD|RUB|UAH|ILS|THB"
)
_MARK = re.compile(rf"^(?:{_CURRENCY})\s*|\s*(?:{_CURRENCY}|%|‰|percent|pct\.?)$", re.IGNORECASE)
_NUMBER = re.compile(
    r"[+-]?\s*(?:\d{1,3}(?:[., '’_]\d{3})+(?:[.,]\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?|\d*[.,]?\d+|\d+[.,])"
    r"(?:[eE][+-]?\d{1,3})?-?"
)
PLAINLY = (
    "a number such as 1234.5, with a decimal point, without thousands separators, currency or percent sign (for words, "
    "put a letter before each)"
)


def is_number_written_otherwise(text: str) -> bool:
    """Return whether a text is a number with decimal comma, separators, currency or percent sign, or other digits."""
    try:
        float(text)
    except ValueError:
        pass
    else:
        return "_" in text or not text.strip().isascii()  # 1_000 and other digits, which pandas does not read
    text = "".join(str(unicodedata.decimal(c, c)) for c in unicodedata.normalize("NFKC", text)).strip()
    text = re.sub("[−–‐]", "-", re.sub(r"\s", " ", text))
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    sign = text[:1] if text[:1] in ("-", "+") else ""
    bare = text[len(sign) :].strip()
    while (shorter := _MARK.sub("", bare).strip()) != bare:
        bare = shorter
    return _NUMBER.fullmatch(bare) is not None


def folded(word: str) -> str:
    """Return a word without invisible differences in Unicode form, outer or repeated blanks, and marks of width 0."""
    text = "".join(c for c in unicodedata.normalize("NFKC", word) if unicodedata.category(c) != "Cf")
    return " ".join(text.split())


def alike(words: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of different words that differ only in blanks, letter case or Unicode form."""
    first: dict[str, str] = {}
    return [(other, word) for word in words if (other := first.setdefault(folded(word).casefold(), word)) != word]


def shown(*words: str) -> list[str]:
    """Return words for a message, with invisible differences made visible."""
    texts = [repr(word) for word in words]
    seen = {unicodedata.normalize("NFC", text) for text in texts}
    return texts if len(seen) == len(texts) and all(map(str.isprintable, words)) else [ascii(word) for word in words]
