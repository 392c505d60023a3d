"""The text of a training: inputs to train on, and inputs that are held out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from jaxtyping import Float, Int
from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.masking import Masking, maskable, masked
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes import Settings
from headscope.training.dataset import MaskedTrainingSet
from headscope.training.loop import MaskedExamples


@dataclass(frozen=True)
class HeldOutText:
    """Inputs to train on and held-out inputs; `counts` has the number of inputs left out or cut, by reason."""

    train: list[Encoded]
    dev: list[Encoded]
    counts: Counter[str]

    def examples(self, tokenizer: PreTrainedTokenizerBase, masking: Masking, seed: int) -> MaskedExamples:
        """The inputs with masks: of `masking` and new in each epoch, or [MASK] alone and fixed where held out."""
        dev, pieces = zip(*(masked(encoded, tokenizer, seed) for encoded in self.dev), strict=True)
        return MaskedExamples(MaskedTrainingSet(self.train, tokenizer, masking, seed), list(dev), list(pieces))


def held_out_text(model: Model, corpus: Corpus, held_out: float, max_tokens: int, settings: Settings) -> HeldOutText:
    """Split a corpus: the last examples are held out, since neighbours may be of one document.

    * `held_out`: the fraction of the examples.
    * `max_tokens`: the longest input; `settings.long` says what becomes of longer ones.

    Raises `HeadscopeError` if there is nothing to train on, or nothing is held out.
    """
    n_dev = max(1, round(held_out * corpus.n_examples))
    n_train, longest = corpus.n_examples - n_dev, min(max_tokens, model.max_tokens)
    words = Words(model.tokenizer, longest, settings.long, by_document=corpus.by_document)
    train, dev = (list(words.encode(islice(corpus, *part))) for part in ((n_train,), (n_train, None)))
    if not train or not dev:
        raise HeadscopeError(
            f"corpus '{corpus.name}': {corpus.n_examples} examples give {len(train)} inputs to train on and {len(dev)} "
            "held-out ones; use more text, another --held-out, or --long window"
        )
    return HeldOutText(train, dev, words.counts)


def piece_counts(inputs: Sequence[Encoded], tokenizer: PreTrainedTokenizerBase, size: int) -> Int[np.ndarray, " piece"]:
    """How often each of `size` pieces occurs where it may be masked."""
    pieces = [encoded.inputs["input_ids"][maskable(encoded, tokenizer)] for encoded in inputs]
    return np.bincount(np.concatenate(pieces), minlength=size)


def log_frequencies(counts: Int[np.ndarray, " piece"]) -> Float[np.ndarray, " piece"]:
    """Log frequency in nats of each piece in further text, by its count.

    Pieces without a count share the frequency of those that occur once (Good 1953; one of each kind is added, so that
    it is neither 0 nor 1). A constant count for each would give them more where pieces are few: a head that has
    learned nothing but frequencies would then be better than these.

    >>> np.exp(log_frequencies(np.array([0, 0, 1, 7]))).round(3)
    array([0.1, 0.1, 0.1, 0.7])
    """
    unseen = counts == 0
    new = (np.sum(counts == 1) + 1) / (counts.sum() + 2) if unseen.any() else 0.0
    return np.log(np.where(unseen, new / max(unseen.sum(), 1), (1 - new) * counts / max(counts.sum(), 1)))
