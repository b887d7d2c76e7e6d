"""Damage to files: of the kinds that bad disks, cut transfers, editors and spreadsheets do, drawn from a seed."""

import gzip
import random
from collections.abc import Callable
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

Draw = random.Random


class Mutant(NamedTuple):
    """Damaged content, and the names of what was done to it."""

    content: bytes
    kinds: tuple[str, ...]


def mutate(content: bytes, delimiter: bytes, draw: Draw) -> Mutant:
    """Return the content after one kind of damage, or, half as often, after two or three."""
    kinds = tuple(draw.choice(KINDS) for _ in range(draw.choice((1, 1, 1, 1, 2, 3))))
    for kind in kinds:
        content = kind(content, delimiter, draw)
    return Mutant(content, tuple(kind.__name__.strip("_") for kind in kinds))


def mutate_gzip(content: bytes, draw: Draw) -> Mutant:
    """Return the content packed, and damaged as a packed file."""
    packed = gzip.compress(content, mtime=0)
    kind = draw.choice(PACKED)
    return Mutant(kind(packed, b"", draw), (f"gzip {kind.__name__.strip('_')}",))


def _flip_bits(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    found = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 8)) if found else 0):
        found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    return bytes(found)


def _set_bytes(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    found = bytearray(content)
    for _ in range(draw.choice((1, 1, 4)) if found else 0):
        found[draw.randrange(len(found))] = draw.randrange(256)
    return bytes(found)


def _cut_bytes(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    start, end = _range(content, draw)
    return content[:start] + content[end:]


def _repeat_bytes(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    start, end = _range(content, draw)
    return content[:end] + content[start:]


def _zero_bytes(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    """A block that was never written."""
    start, end = _range(content, draw)
    return content[:start] + bytes(end - start) + content[end:]


def _truncate(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def _insert(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    at = draw.choice((0, len(content), draw.randrange(len(content) + 1), draw.randrange(len(content) + 1)))
    return content[:at] + draw.choice(GARBAGE) * draw.choice((1, 1, 1, 3)) + content[at:]


def _delete_line(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    lines = content.split(b"\n")
    del lines[draw.randrange(len(lines))]
    return b"\n".join(lines)


def _repeat_line(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    lines = content.split(b"\n")
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
    return b"\n".join(lines)


def _swap_lines(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    return b"\n".join(_swapped(content.split(b"\n"), draw))


def _shuffle_lines(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    lines = content.split(b"\n")
    draw.shuffle(lines)
    return b"\n".join(lines)


def _join_lines(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    return b"\n".join([*lines[:at], b"".join(lines[at : at + 2]), *lines[at + 2 :]])


def _blank_lines(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    lines = content.split(b"\n")
    at = draw.randrange(len(lines) + 1)
    return b"\n".join([*lines[:at], *[draw.choice((b"", b" ", b"\t"))] * draw.choice((1, 2, 5)), *lines[at:]])


def _set_field(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    def change(fields: list[bytes]) -> None:
        fields[draw.randrange(len(fields))] = draw.choice(VALUES).encode()

    return _in_a_line(content, delimiter, draw, change)


def _repeat_field(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    return _in_a_line(content, delimiter, draw, lambda fields: fields.insert(0, draw.choice(fields)))


def _delete_field(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    return _in_a_line(content, delimiter, draw, lambda fields: fields.pop(draw.randrange(len(fields))))


def _swap_fields(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    return _in_a_line(content, delimiter, draw, lambda fields: _swapped(fields, draw))


def _quote_field(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    def change(fields: list[bytes]) -> None:
        at = draw.randrange(len(fields))
        fields[at] = draw.choice((b'"%s"', b'"%s', b'%s"', b"'%s'", b'"%s"x', b" %s  ")) % fields[at]

    return _in_a_line(content, delimiter, draw, change)


def _set_column(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    """The same value in all lines, the header's name in place of it now and then."""
    value, first = draw.choice(VALUES).encode(), draw.choice((0, 1, 1, 1))
    at = draw.randrange(1 + max(line.count(delimiter) for line in content.split(b"\n")))

    def change(fields: list[bytes]) -> None:
        if at < len(fields):
            fields[at] = value

    return _in_all_lines(content, delimiter, change, first)


def _delete_column(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    at = draw.randrange(1 + max(line.count(delimiter) for line in content.split(b"\n")))
    return _in_all_lines(content, delimiter, lambda fields: fields.pop(at) if at < len(fields) else None)


def _swap_columns(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    seed = draw.random()
    return _in_all_lines(content, delimiter, lambda fields: _swapped(fields, random.Random(seed)))


def _other_delimiter(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    new = draw.choice(DELIMITERS)
    if draw.random() < 0.5:
        return content.replace(delimiter, new)
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    return b"\n".join([*lines[:at], lines[at].replace(delimiter, new), *lines[at + 1 :]])


def _other_line_ends(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    new = draw.choice((b"\r\n", b"\r\n", b"\r", b"\n\r", b"\n\n", b" \n", b"\x0b"))
    if draw.random() < 0.5:
        return content.replace(b"\n", new)
    return content.replace(b"\n", new, draw.randrange(1, 4))


def _other_encoding(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    text = content.decode("utf-8", errors="replace")
    return text.encode(draw.choice(("utf-8-sig", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-7")), "replace")


def _long_line(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    more = draw.choice((lines[at] or b"x", lines[at] + delimiter, b"9", b"a", b'"', b" ", delimiter))
    lines[at] += more * (draw.choice((1_000, 200_000)) // len(more))
    return b"\n".join(lines)


def _other_file(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    first, lines = content.partition(b"\n")[0], content.split(b"\n")
    others = [b"", b"\n", b"\n\n\n", b" ", b"\0", first, first + b"\n", lines[-2:][0], content + content]
    others += [content[len(first) + 1 :], b"<!doctype html><title>404</title>\n"]
    others += [b"version https://git-lfs.github.com/spec/v1\n", b"PK\x03\x04" * 9, gzip.compress(content, mtime=0)]
    return draw.choice([*others, bytes(1000), b"\xff" * 1000, b"\n".join(lines[::-1])])


def _append(content: bytes, delimiter: bytes, draw: Draw) -> bytes:
    """More after the end: of a packed file, a second one, whole or not."""
    return content + draw.choice((bytes(10), b"\n", b"garbage", content, content[: len(content) // 2], content[:1]))


KINDS: list[Callable[[bytes, bytes, Draw], bytes]] = [
    *(_flip_bits, _flip_bits, _set_bytes, _cut_bytes, _repeat_bytes, _zero_bytes, _truncate, _insert, _insert),
    *(_delete_line, _repeat_line, _swap_lines, _shuffle_lines, _join_lines, _blank_lines, _long_line),
    *(_set_field, _set_field, _set_field, _set_field, _repeat_field, _delete_field, _swap_fields, _quote_field),
    *(_set_column, _delete_column, _swap_columns, _other_delimiter, _other_line_ends, _other_encoding, _other_file),
]
PACKED: list[Callable[[bytes, bytes, Draw], bytes]] = [
    *(_flip_bits, _set_bytes, _cut_bytes, _repeat_bytes, _zero_bytes, _truncate, _insert, _append)
]


def _range(content: bytes, draw: Draw) -> tuple[int, int]:
    start = draw.randrange(len(content) + 1)
    return start, min(start + draw.choice((1, 1, 2, 10, 100)), len(content))


def _swapped(values: list[bytes], draw: Draw) -> list[bytes]:
    one, other = draw.randrange(len(values)), draw.randrange(len(values))
    values[one], values[other] = values[other], values[one]
    return values


def _in_a_line(content: bytes, delimiter: bytes, draw: Draw, change: Callable[[list[bytes]], object]) -> bytes:
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    fields = lines[at].split(delimiter)
    change(fields)
    return b"\n".join([*lines[:at], delimiter.join(fields), *lines[at + 1 :]])


def _in_all_lines(content: bytes, delimiter: bytes, change: Callable[[list[bytes]], object], first: int = 0) -> bytes:
    lines = content.split(b"\n")
    for at in range(first, len(lines)):
        if lines[at]:
            fields = lines[at].split(delimiter)
            change(fields)
            lines[at] = delimiter.join(fields)
    return b"\n".join(lines)
