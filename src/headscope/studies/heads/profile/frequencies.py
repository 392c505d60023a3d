"""Frequencies of pieces: in a corpus, by a list of words and counts, or of what a model predicts; and their classes."""

import csv
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from jaxtyping import Int

from headscope.corpora import Corpus
from headscope.corpora.parsing.lines import lines
from headscope.encoding.encoded import Encoded, token_classes
from headscope.encoding.encoder import Words
from headscope.encoding.frequencies import Frequencies, counted
from headscope.encoding.masking import IGNORED, maskable, masked
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.prediction_heads import is_causal
from headscope.outputs.losses import refuse_non_finite
from headscope.outputs.words.few_tokens import Reader, fastest_reader
from headscope.outputs.words.inputs import PredictedPieces
from headscope.passes import Settings
from headscope.passes.batches import collator
from headscope.passes.passes import Pass
from headscope.passes.shards import Fold
from headscope.results.variables import Variables
from headscope.results.vocabulary import FREQUENCIES
from headscope.studies.heads.profile import STUDY

WHAT, REMEDY = "frequency list", "a line has a word and its count with a tab or a comma between, such as 'the,22038'"
# Words that are tokenized together; "." and "," are in no class unless they are asked for.
TOGETHER, PUNCTUATION = 10_000, {".", ","}
# A causal model predicts the token after every seventh one, about as many as are masked.
EVERY = 7

Places = Int[np.ndarray, " place"]
Counts = Int[np.ndarray, " piece"]


def word_counts(source: str | Path) -> dict[str, float]:
    """The count of each word of a list; a word that stands there several times has the sum. `.gz` is unpacked.

    A first line whose second column is no number is its header. Empty lines are passed over.

    Raises `HeadscopeError` for a file that cannot be read, naming the line, and for one without any word.
    """
    counts: dict[str, float] = {}
    for number, text in lines(source, WHAT):
        fields = [field.strip() for field in (text.split("\t") if "\t" in text else next(csv.reader([text]), []))]
        value = _number(fields[-1]) if len(fields) == 2 and fields[0] else None
        if value is not None:
            counts[fields[0]] = counts.get(fields[0], 0.0) + value
        elif text.strip() and not (number == 1 and len(fields) == 2 and all(fields)):
            raise HeadscopeError(f"{WHAT} '{source}', line {number}: {text[:60]!r} is no word with a count; {REMEDY}")
    if not any(counts.values()):
        raise HeadscopeError(f"{WHAT} '{source}' has no word with a count above 0; {REMEDY}")
    return counts


def _number(text: str) -> float | None:
    """A count, whole or not, such as one per million; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def piece_frequencies(counts: Mapping[str, float], model: Model, read: Frequencies) -> Frequencies:
    """The frequencies that a list gives the pieces of a model: each piece has the counts of its words.

    Words are tokenized as they stand within a text, after a blank.

    * `read`: the counts of the corpus that is read.
    """
    by_piece = np.zeros(max(len(model.tokenizer), len(read.counts)))
    words = [word for word in counts if read.punctuation or word not in PUNCTUATION]
    for first in range(0, len(words), TOGETHER):
        some = words[first : first + TOGETHER]
        encoded: Any = model.tokenizer([f"a {word}" for word in some], add_special_tokens=False, verbose=False)
        for word, encoding in zip(some, encoded.encodings, strict=True):
            pieces = [piece for piece, (_, end) in zip(encoding.ids, encoding.offsets, strict=True) if end > len("a ")]
            np.add.at(by_piece, pieces, counts[word])
    return Frequencies.of_list(by_piece, read.causal, read.punctuation)


def frequency_variables(
    frequencies: Frequencies, kind: str = "frequency", read: Frequencies | None = None
) -> dict[str, xr.DataArray]:
    """The share of the tokens in each class, and the smallest count of its pieces; NaN for a class without any.

    * `kind`: "frequency" in the corpus, or "predicted"; `read`: of a list, the counts of the corpus that is read.
    """
    used = np.flatnonzero(frequencies.classes >= 0)
    number, tokens = frequencies.classes[used], frequencies.tokens[used]
    if read is not None:
        tokens = np.bincount(frequencies.counts[: len(read.counts)], read.counts, len(frequencies.classes))[used]
    counts = used.astype(float) if frequencies.listed is None else frequencies.listed[used]
    share = np.bincount(number, tokens, len(FREQUENCIES)) / max(1, tokens.sum())
    least = [counts[number == index].min(initial=np.inf) for index in range(len(FREQUENCIES))]
    variables = Variables({"frequency": FREQUENCIES}, STUDY.source, STUDY.labels)
    variables.add(f"{kind}_share", share)
    variables.add(f"{kind}_least", np.where(share > 0, least, np.nan))
    return variables.arrays


def frequencies_of(model: Model, corpus: Corpus, settings: Settings, punctuation: bool = False) -> Frequencies:
    """How often each piece stands in a corpus as a model reads it; Ctrl-C here leaves nothing to keep."""
    words, counts = Words(model.tokenizer, model.max_tokens, settings.long), Counter[int]()
    for example, encodings in words.tokenized(corpus):
        for encoding in encodings:
            known = counted(token_classes(example, encoding, model.tokenizer), punctuation)
            counts.update(np.array(encoding.ids)[known].tolist())
    by_piece = np.zeros(max(counts, default=0) + 1, dtype=np.int64)
    by_piece[list(counts)] = list(counts.values())
    return Frequencies(by_piece, causal=not model.looks_ahead, punctuation=punctuation)


def predictions_of(model: Model, corpus: Corpus, settings: Settings, standing: Frequencies) -> Frequencies:
    """How often a model with a head for words predicts each piece, at a sample of the tokens of a corpus.

    A masked model predicts the pieces of 15% of the tokens of an input, masked together (Devlin et al. 2019); a
    causal model the token after every seventh one. The piece with the highest logit counts, right or wrong.

    * `standing`: how often each piece stands in the corpus.

    Raises `KeyboardInterrupt` after Ctrl-C: the same run goes on from its checkpoint.
    """
    vocabulary = max(len(model.tokenizer), len(standing.counts), _embedded(model))
    read = fastest_reader(model, any_tokens=True)
    start = partial(_Counter, model, read, settings.seed, vocabulary)
    settings = replace(settings, keep_interrupted=False)
    counts = Pass(model, corpus, settings).fold(Fold(start, operator.add, Counts)).read().value
    standing_of = np.pad(standing.counts, (0, vocabulary - len(standing.counts)))
    return Frequencies(counts, standing.causal, standing_of, punctuation=standing.punctuation)


def _embedded(model: Model) -> int:
    embeddings = model.network.get_input_embeddings()
    return int(embeddings.weight.shape[0])  # type: ignore[union-attr]


class _Counter:
    """Adds up the pieces that are predicted, batch by batch."""

    def __init__(self, model: Model, read: Reader, seed: int, vocabulary: int):
        self.model, self.read, self.counts = model, read, np.zeros(vocabulary, np.int64)
        self.asked, self.collate = asked_of(model, seed), collator(model)

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        asked = [self.asked(encoded) for encoded in group]
        inputs = dict(self.collate([text.encoded for text in asked]).inputs)
        ids = inputs.pop("input_ids").cpu().numpy()
        row = np.repeat(np.arange(len(asked)), [len(text.places) for text in asked])
        token, none = np.concatenate([text.places for text in asked]), np.zeros(0, int)
        with torch.inference_mode():
            for logits in self.read(PredictedPieces(ids, row, token, none, none, none, further=inputs)):
                refuse_non_finite(self.model.name, logits)
                self.counts += np.bincount(logits.argmax(-1).cpu().numpy(), minlength=len(self.counts))

    def state(self) -> Counts:
        """The counts of all batches so far."""
        return self.counts.copy()


@dataclass(frozen=True)
class Asked:
    """An input as the model reads it, and the tokens at which its prediction is read."""

    encoded: Encoded
    places: Places


def asked_of(model: Model, seed: int) -> Callable[[Encoded], Asked]:
    """A function from an input to the tokens that are asked of it, the same in any batch."""

    def behind_masks(encoded: Encoded) -> Asked:
        hidden, pieces = masked(encoded, model.tokenizer, seed)
        return Asked(hidden, np.flatnonzero(pieces != IGNORED))

    def before_tokens(encoded: Encoded) -> Asked:
        places = np.flatnonzero(maskable(encoded, model.tokenizer)[1:])
        return Asked(encoded, places[(encoded.index + seed) % EVERY :: EVERY])

    return before_tokens if is_causal(model) else behind_masks
