"""How many times longer the steps of a tokenizer can make a text: a few short steps may double it again and again."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError

MOST = 10_000
# The most characters that other steps make of one: the longest of Unicode's forms, bytes in UTF-8, blanks around it.
FACTORS = {"NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18, "Precompiled": 18, "Lowercase": 2, "ByteLevel": 4,
           "BertNormalizer": 4}  # fmt: skip


def refuse_growth(folder: Path, name: str) -> None:
    """Raise `HeadscopeError` if a tokenizer can make a text more than `MOST` times as long.

    * `name`: the model's name, for messages.
    """
    for path in sorted(folder.glob("tokenizer*.json")):
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            continue  # transformers says what is wrong with it
        parts = [stored.get(part) for part in ("normalizer", "pre_tokenizer")] if isinstance(stored, dict) else []
        if growth([step for part in parts for step in _steps(part)]) > MOST:
            raise HeadscopeError(
                f"model '{name}': the normalizer of {path.name} makes a text more than {MOST:,} times as long; "
                "save the model's own tokenizer into the folder"
            )


def growth(steps: list[Mapping[str, Any]]) -> float:
    """A bound of how many times longer the steps make a text; infinite above `MOST`.

    Each character weighs what it can become in the steps that follow, so the last step comes first. A text for which a
    step puts another one weighs as much as that; a pattern may match any character, or be put between all of them.

    >>> doubled = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    >>> growth([doubled] * 3), growth([doubled, {"type": "NFC"}]), growth([doubled] * 24)
    (8.0, 6.0, inf)
    """
    own: dict[str, float] = {}
    scale, shift, largest = 1.0, 0.0, 1.0

    def weight(text: str) -> float:
        return sum(scale * own.get(character, 1.0) + shift for character in text)

    for step in reversed(steps):
        factor = FACTORS.get(str(step.get("type")), 1)
        scale, shift, largest = scale * factor, shift * factor, largest * factor
        if step.get("type") == "Replace":
            old, new = _replaced(step)
            if old:
                times = max(1.0, weight(new) / weight(old))
                own |= {character: (weight(character) * times - shift) / scale for character in old}
                largest = max(largest, *map(weight, old))
            else:
                shift, largest = shift + weight(new), largest + weight(new)
        if largest > MOST:
            return float("inf")
    return largest


def _replaced(step: Mapping[str, Any]) -> tuple[str, str]:
    """The text that a step replaces, "" for a pattern, and the one that it puts in its place."""
    pattern, content = step.get("pattern"), step.get("content")
    old = pattern.get("String") if isinstance(pattern, dict) else None
    return old if isinstance(old, str) else "", content if isinstance(content, str) else ""


def _steps(part: object) -> Iterator[Mapping[str, Any]]:
    """The steps of a normalizer or pre-tokenizer and of the sequences in it, in their order."""
    if isinstance(part, dict):
        inner = [part.get(name) for name in ("normalizers", "pretokenizers")]
        sequences = [part for part in inner if isinstance(part, list)]
        if sequences:
            for part in sequences[0]:
                yield from _steps(part)
        else:
            yield part
