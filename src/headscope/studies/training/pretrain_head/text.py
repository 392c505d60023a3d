"""The text of a training: inputs to train on, and inputs that are held out."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.masking import Masking, masked
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
