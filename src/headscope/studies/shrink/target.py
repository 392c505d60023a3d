"""What a smaller model has to reach, so many times the speed or at most so many megabytes, and what may go for it."""

import re
from dataclasses import dataclass

from headscope.errors import HeadscopeError, suggest

SPEED = re.compile(r"(\d{1,4}(?:\.\d{1,6})?)x?", re.ASCII)
SIZE = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)(KB|MB|GB|%)?", re.ASCII | re.IGNORECASE)
UNITS = {"KB": 1e-3, "MB": 1.0, "GB": 1e3}
# Without a target: half as fast again.
DEFAULT = 1.5
KINDS = ("neurons", "heads", "layers")
# With the width of embeddings, which makes a BERT an ALBERT.
ALL_KINDS = (*KINDS, "embeddings")


@dataclass(frozen=True)
class SizeTarget:
    """The least speed, as times that of the whole model, and the most megabytes; None for any."""

    speed: float | None
    megabytes: float | None

    def fast_enough(self, share: float) -> bool:
        """Whether this share of the whole model's time is short enough."""
        return self.speed is None or share * self.speed <= 1

    def small_enough(self, megabytes: float) -> bool:
        """Whether a model of this size is small enough."""
        return self.megabytes is None or megabytes <= self.megabytes

    def words(self) -> str:
        """The target in words.

        >>> SizeTarget(1.5, 10.0).words()
        '1.5 times as fast and at most 10 MB'
        """
        speed = f"{self.speed:g} times as fast" if self.speed else ""
        size = f"at most {self.megabytes:g} MB" if self.megabytes else ""
        return " and ".join(filter(None, (speed, size)))


def target(speed: str | None, size: str | None, megabytes: float) -> SizeTarget:
    """The target of the options `--speed` and `--size`; without them, 1.5 times the speed.

    * `megabytes`: of the whole model, of which a size may be a percentage.

    Raises `HeadscopeError` for a text that is no speed or no size.

    >>> target("3x", None, 80).speed, target(None, "10MB", 80).megabytes, target(None, "60%", 80).megabytes
    (3.0, 10.0, 48.0)
    """
    times = most = None
    if speed is not None:
        match = SPEED.fullmatch(speed.strip())
        if match is None or (times := float(match.group(1))) < 1:
            raise HeadscopeError(f"speed '{speed[:20]}' is no number of times from 1 on; write one as in 1.5x")
    if size is not None:
        match = SIZE.fullmatch(size.strip())
        units = UNITS | {"%": megabytes / 100}
        if match is None or not (most := float(match.group(1)) * units[(match.group(2) or "MB").upper()]):
            raise HeadscopeError(f"size '{size[:20]}' is no size of a model; write one as in 10MB or 60%")
    return SizeTarget(DEFAULT, None) if times is None and most is None else SizeTarget(times, most)


def numbers(name: str, text: str, most: int) -> tuple[int, ...]:
    """Whole numbers from 1 to `most`, separated by commas; none for an empty text.

    Raises `HeadscopeError` for anything else.

    >>> numbers("batches", "1,32", 1024)
    (1, 32)
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isascii() and word.isdigit() and len(word) < 10 and 0 < int(word) <= most for word in words):
        raise HeadscopeError(f"{name} '{text[:40]}': write whole numbers from 1 to {most}, as in 1,32")
    return tuple(map(int, words))


def kinds(parts: str) -> tuple[str, ...]:
    """The kinds of parts of a list such as "neurons,layers".

    Raises `HeadscopeError` for a name that is none.

    >>> kinds("layers, neurons")
    ('neurons', 'layers')
    """
    wanted = [name.strip() for name in parts.split(",") if name.strip()]
    if unknown := next((name for name in wanted or [parts] if name not in ALL_KINDS), None):
        raise HeadscopeError(f"part '{unknown[:40]}' is unknown; {suggest(unknown, ALL_KINDS)}")
    return tuple(kind for kind in ALL_KINDS if kind in wanted)
