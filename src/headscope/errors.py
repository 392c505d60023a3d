"""Errors that a user can mend: one line that names the thing, the value and the remedy."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMES = 20
# Characters of a line; the middle of a longer one, which a name or a value from a file makes so long, is left out.
MOST_CHARACTERS = 2000

# What Python, the system, torch and safetensors say where memory or address space is used up.
FULL_MEMORY = ("llocate memory", "out of memory", "failed to map segment", "not enough memory", "start new thread")


class HeadscopeError(Exception):
    """An error that a user can mend; the command line prints its one line and exits with status 2.

    >>> raise HeadscopeError("corpus 'x.tsv', line 12: 3 columns, expected 4; use --columns")
    Traceback (most recent call last):
    headscope.errors.HeadscopeError: corpus 'x.tsv', line 12: 3 columns, expected 4; use --columns
    """

    def __init__(self, line: str):
        line, half = " ".join(line.splitlines()), MOST_CHARACTERS // 2  # names and values from files may have breaks
        super().__init__(line if len(line) <= MOST_CHARACTERS else f"{line[:half]} ... {line[-half:]}")


class DrawingError(HeadscopeError):
    """A page that lacks a part, or a table that could not be printed; the numbers are saved, and the line says where.

    The command line exits with status 1.
    """


class ClusterLostError(HeadscopeError):
    """A cluster whose processes ended during a run; the command line exits with status 1."""


def names_full_memory(error: BaseException) -> bool:
    """Whether an error says that there is no more memory or address space.

    >>> names_full_memory(MemoryError()), names_full_memory(OSError("Cannot allocate memory (os error 12)"))
    (True, True)
    """
    return isinstance(error, MemoryError) or any(words in str(error) for words in FULL_MEMORY)


def suggest(name: str, known: Iterable[str], *, remedy: str = "") -> str:
    """The end of an error about an unknown name: the nearest name, then all names, or `remedy` in their place.

    >>> suggest("entrpy", ["entropy", "surface"])
    "did you mean 'entropy'? there are: entropy, surface"
    >>> suggest("7", ["entropy", "surface"])
    'there are: entropy, surface'
    """
    names = list(dict.fromkeys(known))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    remedy = remedy or (f"there are: {', '.join(names[:MOST_NAMES])}{more}" if names else "there are none")
    near = nearest(name, names)
    return f"did you mean '{near}'? {remedy}" if near else remedy


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most like `name`, if one is; case, hyphens and underscores do not count.

    >>> nearest("mrcp", ["CoLA", "MRPC"])
    'MRPC'
    """
    plain = {_plain(word): word for word in known}
    near = get_close_matches(_plain(name), plain, n=1, cutoff=cutoff)
    return plain[near[0]] if near else None


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")
