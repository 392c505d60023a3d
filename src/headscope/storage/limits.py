"""All bounds of what comes from elsewhere: beyond them a file is damaged, or was made to stop its reader.

`TABLE` has their rows for docs/reliability.md: what is bounded, and the bound.
"""

from typing import Any

TABLE: list[tuple[str, str]] = []


class _Number(int):
    """A number that a row may also show as bytes."""

    @property
    def size(self) -> str:
        unit, name = next((unit, name) for unit, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")) if self >> unit)
        return f"{self / (1 << unit):g} {name}"


def _limits(what: str, bound: str, *numbers: int) -> tuple[int, ...]:
    """Declare numbers with their row of the table, in which `{0:,}` and `{0.size}` stand for the first."""
    TABLE.append((what, bound.format(*map(_Number, numbers))))
    return numbers


def _limit(what: str, bound: str, number: int) -> int:
    return _limits(what, bound, number)[0]


LONGEST_LINE = _limit("a line of text, a row of CSV", "{0.size}", 1 << 24)
# A tokenizer takes some 250 bytes for each character.
LONGEST_TEXT = _limit("a text; a sentence of a treebank: its lines, or its brackets", "{0:,} characters", 1_000_000)
MOST_COLUMNS = _limit("columns of a table, fields of a JSON object", "{0:,}", 10_000)
UNPACKED_TIMES, UNPACKED_LEAST = _limits("a .gz file, unpacked", "{0} times its bytes, or {1.size}", 100, 1 << 22)
LARGEST_FILE = _limit("an XML file, a packed Parquet file, a file of SQuAD", "{0.size} unpacked", 1 << 28)
MOST_ELEMENTS = _limit("elements and attributes of an XML file", "{0:,}", 500_000)
LONGEST_TAG = _limit("a tag of XML", "{0.size}", 1 << 20)
LARGEST_FOOTER = _limit("footer of a Parquet file", "{0.size}", 1 << 22)
LARGEST_PAGE = _limit("a page of a Parquet file", "{0.size} unpacked", 1 << 27)
LARGEST_BATCH = _limit("rows of Parquet that share a page", "{0.size}, or one row, are unpacked at once", 1 << 26)
IN_MEMORY, BYTES_IN_MEMORY = _limits(
    "examples kept in memory", "{0:,} of {1.size} of text; a larger corpus is read again in each pass", 4_000, 1 << 24
)
# Fast tokenizers work in parallel within a call.
TOGETHER, CHARACTERS = _limits(
    "texts that are tokenized together", "{0}, and no further one from {1:,} characters on", 256, 1_000_000
)
DEEPEST = _limit("levels of XML elements or of a parse", "{0}", 200)
MOST_DIGITS = _limit("digits of a whole number", "{0}", 18)
# A result stores these.
LONGEST_NAME = _limit(
    "id, label, relation, part of speech, phenomenon, condition", "{0:,} characters, no NUL, no surrogate", 1_000
)
MOST_NUMBERS = _limit("numbers of a word vector", "{0:,}", 10_000)
LONGEST_WORD = _limit("bytes of a word with a vector", "{0:,}", 10_000)
MOST_MENTIONS = _limit("mentions in a line of WinoBias", "{0}", 100)
MOST_TEXTS = _limit("texts of a field of a suite", "{0}", 100)
LARGEST_CLAIMS = _limit("a file of claims", "{0.size}", 1 << 20)
LARGEST_CARD = _limit("a card of a model", "{0.size}", 1 << 24)
LARGEST_BODY, OTHER_BODY = _limits(
    "body of a request to a local page", "{0.size}, or {1.size} where it has no text", 1 << 19, 1 << 16
)
MOST_LETTERS = _limit("a text in the viewer", "{0:,} characters", 100_000)
MAPS_IN_MEMORY, MAPS_IN_FILE = _limits(
    "maps of a text in the viewer", "{0.size} in memory, or {1.size} in a temporary file", 1 << 26, 1 << 32
)
MOST_FIELDS = _limit("fields of a view's state", "{0}", 64)
MOST_ENTRIES, MOST_SIDES = _limits("keys, and weights, of a GGUF file; sides of a weight", "{0:,}; {1}", 100_000, 4)
# Layers may share weights, and a model without its head keeps its number of labels.
FEW_LAYERS = _limit("layers in config.json", "the arrays in the weight files, or {0}", 100)
FEW_LABELS = _limit("labels in config.json", "the longest side of a weight, or {0:,}", 10_000)
# Embeddings that are tied later are made several times; a head is new, and masks are of all pairs of positions.
TIMES, MORE_NUMBERS, MORE_WEIGHTS = _limits(
    "what config.json makes",
    "{0} times the numbers in the weight files and {1:,}; {0} times their arrays and {2:,}",
    *(4, 1 << 26, 1_000),
)
# More than any model has.
MOST_HEADS, MOST_IN_ALL = _limits(
    "heads of a pruned model before its pruning", "{0:,} in a layer, {1:,} in all", 10_000, 100_000
)
MOST_NEURONS = _limit("neurons of a pruned layer", "{0:,}", 10_000_000)
# A few steps may double it again and again.
MOST_GROWTH = _limit("text that a tokenizer makes of a text", "{0:,} times as long", 10_000)
# The intervals of all pairs of 96 x 96 heads, the most that a study writes, have 1.4 gigabytes.
LARGEST_VARIABLE, LARGEST_RESULT = _limits(
    "a variable of a result; all of them", "{0.size}; {1.size}, texts with the room of the longest", 3 << 29, 5 << 29
)
# Studies save values as they are.
PACKED_TIMES, PACKED_LEAST = _limits(
    "numbers of a result that another program has packed", "{0} times the file, or {1.size}", 10, 1 << 24
)
PADDED_TIMES, PADDED_LEAST, _ = _limits(
    "texts of a result, with the room of the longest",
    "{0} times the file, or {1.size}; together no more bytes than the file, or {2.size}",
    *(100, 1 << 26, PACKED_LEAST),
)
MOST_VARIABLES = _limit("variables of a result", "{0:,}", 1_000)
# Those of studies are single; the lists of netCDF have a value for each dimension.
MOST_VALUES, _ = _limits(
    "values of an attribute of a result",
    "{0}; of all attributes together no more bytes than the file, or {1.size}",
    *(64, PACKED_LEAST),
)
# No measure comes near it, and the squares of such numbers can still be added up.
LARGEST_EXPONENT = _limit("a value of a result", "from -1e{0} to 1e{0}; NaN is a missing value", 100)
# A path is the longest.
LONGEST_WORDS = _limit("words of a variable of a result (`long_name`, `units`, `source`)", "{0:,} characters", 5_000)
LAST_LAYER, _ = _limits(
    "a label of a result", "{1:,} characters; a layer or head from 1 to {0:,}", 10_000, LONGEST_WORDS
)
SECONDS, SILENCE = _limits("an answer of the hub", "{0} s for the first one, then {1} s without a byte", 5, 30)


def limit_waiting() -> None:
    """End any request of this process to the hub once it is silent for so long, unless its user has set a limit."""
    from huggingface_hub import get_session, set_client_factory
    from huggingface_hub.utils import _http

    factory: Any = _http._GLOBAL_CLIENT_FACTORY  # its user's, whose proxies and certificates stay

    def limited() -> Any:
        session = factory()
        if session.timeout.read is None:
            session.timeout = SILENCE
        return session

    if get_session().timeout.read is None:  # the library's default: it would wait forever
        set_client_factory(limited)  # also of those that it makes after a failed connection
