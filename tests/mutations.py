"""Damage to files: of the kinds that bad disks, cut transfers, editors and spreadsheets do, drawn from a seed."""

import gzip
import random
from typing import NamedTuple

VALUES = [
    *("", " ", "NULL", "NA", "None", "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "true", "x"),
    *("'", '"', '"a', '""', "-1", "-0", "0", "1", "2", "+1", "1.5", "-0.5", "1e3", "1e400", "-1e400", "1.7e308"),
    *("1e-400", "1_0", "0x10", "1,5", "7", "999", "2147483647", "2147483648", "-2147483649"),
    *("9223372036854775807", "9223372036854775808", "1e18", "10000000000000000000000000000000", "9" * 5000),
    *("=1+1", "１", "٣", "²", "½", "é", "\u2028", "\ufeff", "a\tb", "a b", "|"),
    *("1997-13-45", "2019-11-24 00:00:00", "9999-12-31 23:59:59+00:00", "0001-01-01 00:00:00+00:00"),
]
"""What a field may turn into."""

GARBAGE = [
    *(b"\0", b"\0\0\0\0", b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xef\xbb\xbf"),
    *(b"\r", b"\n", b"\n\n", b"\r\r\n", b"\x0b", b"\x0c", b"\x1a", b"\x1b[31m", b"\x85", "\u2028\u202e".encode()),
    *(b'"', b'""', b",", b"\t", b" ", b"|", b":", b";", b"\x1f\x8b", b"<html>", "日本".encode(), b"#"),
]
"""What may get into a file."""

DELIMITERS = [b",", b"\t", b" ", b";", b"|", b":", b"::", b", ", b",,", b""]
LINE_ENDS = [b"\r\n", b"\r", b"\n\r", b"\n\n", b" \n", b"\x0b"]
ENCODINGS = ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-7"]


class Mutant(NamedTuple):
    """Damaged content, and the names of what was done to it."""

    content: bytes
    kinds: tuple[str, ...]


def mutate(content: bytes, delimiter: bytes, draw: random.Random) -> Mutant:
    """Return the content after one kind of damage, or, half as often, after two or three."""
    kinds = draw.choices((some_bytes, a_line, a_field, the_whole), (5, 4, 7, 3), k=draw.choice((1, 1, 1, 1, 2, 3)))
    for kind in kinds:
        content = kind(content, delimiter, draw)
    return Mutant(content, tuple(kind.__name__ for kind in kinds))


def mutate_gzip(content: bytes, draw: random.Random) -> Mutant:
    """Return the content packed, and damaged as a packed file or followed by more."""
    packed = gzip.compress(content, mtime=0)
    more = (bytes(10), b"\n", b"garbage", packed, packed[: len(packed) // 2], packed[:1])
    damaged = packed + draw.choice(more) if draw.random() < 0.15 else some_bytes(packed, b"", draw)
    return Mutant(damaged, ("gzip",))


def some_bytes(content: bytes, delimiter: bytes, draw: random.Random) -> bytes:
    """Change, cut, repeat, zero or insert a few bytes, or cut the end off."""
    start = draw.choice((0, len(content), *[draw.randrange(len(content) + 1)] * 6))
    part = content[start : start + draw.choice((1, 1, 2, 10, 100))]
    flipped = bytes(byte ^ 1 << draw.randrange(8) for byte in part)
    new = [flipped, flipped, draw.randbytes(len(part)), b"", part + part, bytes(len(part))]
    new += [draw.choice(GARBAGE) * draw.choice((1, 1, 1, 3)) + part] * 3
    return draw.choice([content[:start] + text + content[start + len(part) :] for text in new] + [content[:start]])


def a_line(content: bytes, delimiter: bytes, draw: random.Random) -> bytes:
    """Delete, repeat, swap, shuffle, join, insert or lengthen lines."""
    lines = content.split(b"\n")
    i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(7):
        case 0:
            del lines[i]
        case 1:
            lines.insert(j, lines[i])
        case 2:
            lines[i], lines[j] = lines[j], lines[i]
        case 3:
            draw.shuffle(lines)
        case 4:
            lines[i : i + 2] = [b"".join(lines[i : i + 2])]
        case 5:
            lines[i:i] = [draw.choice((b"", b" ", b"\t"))] * draw.choice((1, 2, 5))
        case 6:
            more = draw.choice((lines[i] or b"x", lines[i] + delimiter, b"9", b"a", b'"', b" ", delimiter))
            lines[i] += more * (draw.choice((1_000, 200_000)) // len(more))
    return b"\n".join(lines)


def a_field(content: bytes, delimiter: bytes, draw: random.Random) -> bytes:
    """Set, repeat, delete, swap or quote a field of one line, or now and then of all."""
    lines = [line.split(delimiter) for line in content.split(b"\n")]
    at, other, kind, value = draw.randrange(100), draw.randrange(100), draw.randrange(8), draw.choice(VALUES).encode()
    quoted = draw.choice((b'"%s"', b'"%s', b'%s"', b"'%s'", b'"%s"x', b" %s  "))
    all_lines = lines[draw.choice((0, 1, 1, 1)) :]
    for fields in all_lines if draw.random() < 0.25 else [draw.choice(lines)]:
        i, j = at % len(fields), other % len(fields)
        if kind < 4:
            fields[i] = value
        elif kind == 4:
            fields.insert(0, fields[i])
        elif kind == 5:
            del fields[i]
        elif kind == 6:
            fields[i], fields[j] = fields[j], fields[i]
        else:
            fields[i] = quoted % fields[i]
    return b"\n".join(delimiter.join(fields) for fields in lines)


def the_whole(content: bytes, delimiter: bytes, draw: random.Random) -> bytes:
    """Change delimiters, line ends or the encoding, everywhere or at a few places, or put another file in the place."""
    times = draw.choice((-1, 1, 3))
    first, text = content.partition(b"\n")[0], content.decode("utf-8", errors="replace")
    others = [b"", b"\n", b"\n\n\n", b" ", b"\0", first, first + b"\n", content + content, content[len(first) + 1 :]]
    others += [b"<!doctype html><title>404</title>\n", b"version https://git-lfs.github.com/spec/v1\n"]
    others += [b"PK\x03\x04" * 9, gzip.compress(content, mtime=0), bytes(1000), b"\xff" * 1000]
    changed = [content.replace(delimiter, draw.choice(DELIMITERS), times)]
    changed += [content.replace(b"\n", draw.choice(LINE_ENDS), times)]
    changed += [text.encode(draw.choice(ENCODINGS), "replace"), draw.choice(others)]
    return draw.choice(changed)
