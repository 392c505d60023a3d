"""The tokens of the typical inputs of a result, and their text."""

from dataclasses import dataclass

import xarray as xr

STARTS = ("Ġ", "▁")  # of a word, as byte-level and SentencePiece tokenizers write it


@dataclass(frozen=True)
class InputTokens:
    """The tokens of an input as people read them, and as the tokenizer writes them (`raw`)."""

    tokens: tuple[str, ...]
    raw: tuple[str, ...]

    @property
    def text(self) -> str:
        """The input as text, with its special tokens.

        >>> InputTokens(("un", "##seen"), ("un", "##seen")).text
        'unseen'
        >>> InputTokens(("It", "'s", "un", "seen"), ("It", "'s", "Ġun", "seen")).text
        "It's unseen"
        """
        if not any(each.startswith(STARTS) for each in self.raw):
            return " ".join(self.tokens).replace(" ##", "")
        pieces = zip(self.tokens, self.raw, strict=True)
        return "".join(f" {token}" if raw.startswith(STARTS) else token for token, raw in pieces).strip()


def typical_tokens(result: xr.Dataset) -> tuple[InputTokens, ...]:
    """The tokens of each typical input; results of former versions have them only as the tokenizer writes them."""
    raw = result["typical_raw_token" if "typical_raw_token" in result.coords else "typical_token"]
    rows = zip(result["typical_token"].values.tolist(), raw.values.tolist(), strict=True)
    return tuple(InputTokens(*(tuple(filter(None, each)) for each in pair)) for pair in rows)
