"""How long the texts with a planted pair are, in tokens."""

from collections.abc import Callable

from headscope.errors import HeadscopeError

# The most tokens where no lengths are named: by default, and with `--full`.
SHORTEST, LONGEST, COMPLETE = 8, 128, 512


def text_lengths(written: str, room: int, on_notice: Callable[[str], None], *, full: bool = False) -> list[int]:
    """The lengths of texts with a planted pair, in tokens, in ascending order.

    * `written`: as 128,512; "" for a quarter and all of what fits, up to `LONGEST`, or up to `COMPLETE` if `full`.
    * `room`: the most tokens of a text; `on_notice`: called with a line where `full` takes longer texts.

    Raises `HeadscopeError` for a length that is no number, or that does not fit into the model.

    >>> text_lengths("", 510, print, full=True), text_lengths("60,20", 510, print)
    ([127, 510], [20, 60])
    >>> text_lengths("", 510, print)
    texts with a planted pair have at most 128 tokens; --full has some of 510, in some 4 times the time
    [32, 128]
    """
    if written:
        return sorted({_length(word.strip(), room) for word in written.split(",")})
    most, longest = (min(room, length) for length in (COMPLETE if full else LONGEST, COMPLETE))
    if most < longest:
        on_notice(
            f"texts with a planted pair have at most {most} tokens; --full has some of {longest}, in some "
            f"{longest / most:.0f} times the time"
        )
    return sorted({max(SHORTEST, most // 4), max(SHORTEST, most)})


def _length(word: str, room: int) -> int:
    if not word.isdecimal() or not SHORTEST <= int(word) <= room:
        raise HeadscopeError(f"contexts '{word}' is no length from {SHORTEST} to {room} tokens")
    return int(word)
