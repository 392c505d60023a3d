"""The least recently used texts go."""

from types import SimpleNamespace
from typing import Any

from headscope.viewer.kept_texts import KeptText, TextStore, identifier


def kept(name: str, size: int, *, in_file: bool = False) -> KeptText:
    maps: Any = SimpleNamespace(levels=SimpleNamespace(nbytes=size), in_file=in_file)
    return KeptText(name, None, (maps,))


def names(store: TextStore, *texts: str) -> list[str]:
    return [text for text in texts if store.get(identifier(text, None))]


def test_the_least_recently_used_text_goes_first() -> None:
    store = TextStore(in_memory=10, in_file=100)
    for name in "abc":
        store.add(kept(name, 3))
    assert store.get(identifier("a", None))
    store.add(kept("d", 3))
    assert names(store, *"abcd") == ["a", "c", "d"]


def test_memory_and_files_have_limits_of_their_own() -> None:
    store = TextStore(in_memory=10, in_file=100)
    store.add(kept("a", 90, in_file=True))
    store.add(kept("b", 9))
    assert names(store, "a", "b") == ["a", "b"]
    store.add(kept("c", 90, in_file=True))
    assert names(store, "a", "b", "c") == ["b", "c"]


def test_the_last_text_stays_whatever_its_size() -> None:
    store = TextStore(in_memory=10, in_file=100)
    store.add(kept("a", 5))
    store.add(kept("b", 500))
    assert names(store, "a", "b") == ["b"]


def test_a_pair_is_not_its_texts_joined() -> None:
    assert len({identifier("a", "b"), identifier("ab", None), identifier("a", ""), identifier("a", None)}) == 4
