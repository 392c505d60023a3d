"""Seeded mutations of bytes: damaged, shuffled, and with pieces that break careless readers."""

from collections.abc import Callable
from random import Random

PIECES = (
    *(b"\0", b"\r", b"\r\n", b"\t", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[31m", "\u2028".encode()),
    *(b"9" * 5000, b"-1", b"1e999", b"NaN", b"Infinity", b"18446744073709551616", b"0.0", b"true", b"null", b"_"),
    *(b"[" * 2000, b"{" * 2000, b"(" * 2000, b"<a>" * 500, b"\\ud800", b"\\u0000", b"&x;", b"<!DOCTYPE a>", b"%00"),
    *(b'"', b"'", b"#", b"=", b"|", b"a" * 20_000, b"../", b"CON", b"\xc3\xa9"),
)  # fmt: skip


def mutate(content: bytes, random: Random) -> bytes:
    """Apply one to four random mutations to some bytes."""
    for _ in range(random.choice((1, 1, 2, 4))):
        content = random.choice(MUTATIONS)(content, random)
    return content


def flip(content: bytes, random: Random) -> bytes:
    """Change one, three or ten bytes."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 3, 10))):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _insert(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random, 0)
    return content[:start] + random.choice(PIECES) + content[end:]


def _replace(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random, 12)
    return content[:start] + random.choice(PIECES) + content[end:]


def _delete(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random, 40)
    return content[:start] + content[end:]


def _repeat(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random, 40)
    return content[:start] + content[start:end] * random.choice((2, 3, 50)) + content[end:]


def _truncate(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _swap_lines(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines)


def _change_fields(content: bytes, random: Random) -> bytes:
    """Give a field, between tabs, commas, blanks or quotation marks, the value of another."""
    mark = random.choice((b"\t", b",", b" ", b'"', b"\n"))
    fields = content.split(mark)
    fields[random.randrange(len(fields))] = random.choice(fields)
    return mark.join(fields)


def _span(content: bytes, random: Random, longest: int) -> tuple[int, int]:
    start = random.randrange(len(content) + 1)
    return start, start + random.randint(0, longest)


MUTATIONS: tuple[Callable[[bytes, Random], bytes], ...] = (
    flip, _insert, _replace, _delete, _repeat, _truncate, _swap_lines, _change_fields,
)  # fmt: skip
