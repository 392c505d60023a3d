"""Errors that a user can mend: one line that names the thing, the value and the remedy."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMES = 20
# Characters of a line; the middle of a longer one, which a name or a value from a file makes so long, is left out.
MOST_CHARACTERS = 2000

# What Python, the system, torch and safetensors say where memory or address space is used up.
FULL_MEMORY = ("llocate memory", "out of memory", "failed to map segment", "not enough memory", "start new thread")


# An option in a line, and its value, which is one of these words or in capitals.
OPTION = re.compile(
    r"--([a-z][a-z0-9-]*)(?: (truncate|window|float32|bf16|mean|best|framenet|links|no|[A-Z][A-Z,]*)\b)?"
)
OF_TASK = re.compile(r"--task (NAME\b(?: \(.*?\)|,NAME)?),? (?:and )?--data FOLDER")
# What an option is called in Python, where that is another name.
IN_PYTHON = {"from": "from_", "train": "training", "train_limit": "limit", "trust_remote_code": "remote_code"}


class HeadscopeError(Exception):
    """An error that a user can fix; the command line prints its one line and exits with status 2.

    Its line is written with options of the command line (`names_options`); in Python it names arguments in their place.

    >>> raise HeadscopeError("corpus 'x.tsv', line 12: 3 columns, expected 4; use --columns")
    Traceback (most recent call last):
    headscope.errors.HeadscopeError: corpus 'x.tsv', line 12: 3 columns, expected 4; use columns=
    """

    names_options = False

    def __init__(self, line: str):
        line, half = " ".join(line.splitlines()), MOST_CHARACTERS // 2  # names and values from files may have breaks
        super().__init__(line if len(line) <= MOST_CHARACTERS else f"{line[:half]} ... {line[-half:]}")

    def __str__(self) -> str:
        line = str(self.args[0])
        return line if HeadscopeError.names_options else in_python(line)


def in_python(line: str) -> str:
    """A line with the options that it names as arguments of a Python function.

    >>> in_python("no example fits; use --long truncate or more --batch-tokens")
    "no example fits; use long='truncate' or more batch_tokens="
    >>> in_python("--no-single disables the sets of --heads alone")
    'single=False disables the sets of heads= alone'
    """
    line = OF_TASK.sub("task=headscope.read_task(NAME, FOLDER)", line)
    return OPTION.sub(_argument, line)


def _argument(option: re.Match[str]) -> str:
    name, value = option[1].replace("-", "_"), option[2]
    if name.startswith("no_"):
        return f"{name[3:]}=False"
    return f"{IN_PYTHON.get(name, name)}={repr(value) if value else ''}"


class DrawingError(HeadscopeError):
    """A page that lacks a part, or a table that could not be printed; the numbers are saved, and the line says where.

    The command line exits with status 1.
    """


class ClusterLostError(HeadscopeError):
    """A cluster whose processes ended during a run; the command line exits with status 1."""


# What no study is to raise: the other studies of a survey run all the same.
UNEXPECTED = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def as_one_line(error: Exception) -> HeadscopeError:
    """The error itself if a user can correct it; else its kind and its words, and how to see where it arose."""
    if isinstance(error, HeadscopeError):
        return error
    words = " ".join(str(error).split())[:200]
    return HeadscopeError(f"it ended with {type(error).__name__}: {words}; run it alone to see where")


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


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most like `name`, if one is; case, hyphens and underscores do not count.

    >>> nearest("mrcp", ["CoLA", "MRPC"])
    'MRPC'
    """
    plain = {plain_name(word): word for word in names}
    near = get_close_matches(plain_name(name), plain, n=1, cutoff=cutoff)
    return plain[near[0]] if near else None


def plain_name(name: str) -> str:
    """A name without what people write in different ways: case, hyphens and underscores.

    >>> plain_name("STS-B") == plain_name("sts_b")
    True
    """
    return name.casefold().replace("-", "").replace("_", "")


def spelled(name: str, names: Iterable[str]) -> str | None:
    """The one of some names that is this one, as it is spelled there; None for another name.

    >>> spelled("sts_b", ["MRPC", "STS-B"]), spelled("mine", ["MRPC"])
    ('STS-B', None)
    """
    return {plain_name(word): word for word in names}.get(plain_name(name))
