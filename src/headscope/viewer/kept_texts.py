"""The texts that a page has asked for, with their maps."""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from headscope.storage.limits import MAPS_IN_FILE, MAPS_IN_MEMORY
from headscope.viewer.text_changes import TextChanges
from headscope.viewer.text_maps import MOST_WORDS, TextMaps


@dataclass(frozen=True)
class KeptText:
    """A text or a pair, and its maps by each model.

    * `against`: a text to compare with; `maps` are then those of both texts by one model, `changes` what differs.
    """

    first: str
    second: str | None
    maps: tuple[TextMaps, ...]
    against: str | None = None
    changes: TextChanges | None = None

    @property
    def by_words(self) -> bool:
        """Whether views show words by default, because the tokens of a model are bytes of characters."""
        texts = [maps.text for maps in self.maps]
        return any(text.in_bytes for text in texts) and all(len(text.words) <= MOST_WORDS for text in texts)

    def size(self, *, in_file: bool) -> int:
        """The bytes of the maps that are in a file, or in memory."""
        return sum(maps.levels.nbytes for maps in self.maps if maps.in_file == in_file)


class TextStore:
    """Texts by their identifier, which is the same for the same text; several threads may use it.

    * `in_memory`, `in_file`: the most bytes of all maps; the last text stays, whatever its size.
    """

    def __init__(self, in_memory: int = MAPS_IN_MEMORY, in_file: int = MAPS_IN_FILE):
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
            self._texts[identifier(text.first, text.second, text.against)] = text
            while len(self._texts) > 1 and any(self._size(kind) > most for kind, most in self._limits.items()):
                self._texts.popitem(last=False)

    def _size(self, in_file: bool) -> int:
        return sum(text.size(in_file=in_file) for text in self._texts.values())


def identifier(first: str, second: str | None, against: str | None = None) -> str:
    """The identifier of a text, a pair, or a text and the one that it is compared with.

    >>> identifier("It rained.", None)
    '4180dc840049ed8d'
    """
    parts = [first] if second is None else [first, second]
    content = "".join(f"{len(part)}:{part}" for part in parts) + ("" if against is None else f"against:{against}")
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
