"""The texts that a page has asked for, with their maps; the least recently used ones go."""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from headscope.viewer.text_maps import IN_FILE, IN_MEMORY, TextMaps


@dataclass(frozen=True)
class KeptText:
    """A text or a pair, and its maps by each model."""

    first: str
    second: str | None
    maps: tuple[TextMaps, ...]

    def size(self, *, in_file: bool) -> int:
        """The bytes of the maps that are in a file, or in memory."""
        return sum(maps.levels.nbytes for maps in self.maps if maps.in_file == in_file)


class TextStore:
    """Texts by their identifier, which is the same for the same text; several threads may use it.

    * `in_memory`, `in_file`: the most bytes of all maps; the last text stays, whatever its size.
    """

    def __init__(self, in_memory: int = IN_MEMORY, in_file: int = IN_FILE):
        self._limits = {False: in_memory, True: in_file}
        self._texts: OrderedDict[str, KeptText] = OrderedDict()
        self._lock = Lock()

    def get(self, identifier: str) -> KeptText | None:
        """The text, which is now the most recently used; None if it is not kept."""
        with self._lock:
            if identifier in self._texts:
                self._texts.move_to_end(identifier)
            return self._texts.get(identifier)

    def add(self, text: KeptText) -> None:
        """Keep a text, and let the least recently used ones go."""
        with self._lock:
            self._texts[identifier(text.first, text.second)] = text
            while len(self._texts) > 1 and any(self._size(kind) > most for kind, most in self._limits.items()):
                self._texts.popitem(last=False)

    def _size(self, in_file: bool) -> int:
        return sum(text.size(in_file=in_file) for text in self._texts.values())


def identifier(first: str, second: str | None) -> str:
    """The identifier of a text or a pair.

    >>> identifier("It rained.", None)
    '4180dc840049ed8d'
    """
    parts = [first] if second is None else [first, second]
    content = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
