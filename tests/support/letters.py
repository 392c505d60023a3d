"""A tokenizer of amino acids with a small BERT for it, and sequences."""

from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

import headscope
from headscope.corpora.readers.fasta import AMINO_ACIDS
from support.planted import PIECES, looks_at_piece, planted
from support.tiny import tiny_bert

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def letter_tokenizer(max_tokens: int = 64) -> PreTrainedTokenizerBase:
    """A fast tokenizer whose words are single amino acids, which stand apart."""
    vocabulary = {piece: number for number, piece in enumerate((*SPECIAL, *AMINO_ACIDS))}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.Strip()
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))  # type: ignore[assignment]
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=max_tokens, **names)


def letter_model(seed: int = 0, sharp: float = 1.0, kind: type = AutoModel) -> headscope.Model:
    """A BERT of two layers and four heads with random weights; `sharp` multiplies its queries."""
    network: Any = tiny_bert(seed, kind, vocab_size=len(SPECIAL) + len(AMINO_ACIDS), num_hidden_layers=2)
    for layer in network.base_model.encoder.layer:
        layer.attention.self.query.weight.data *= sharp
    return headscope.wrap(network, letter_tokenizer())


def planted_letters(head: tuple[int, int], letter: str) -> headscope.Model:
    """A BERT with a head in which every token looks at one amino acid; all others look at all tokens alike."""
    number = len(SPECIAL) + AMINO_ACIDS.index(letter)
    return headscope.wrap(planted({head: looks_at_piece(list(PIECES)[number])}), letter_tokenizer())


def sequences(number: int, length: int, seed: int = 0) -> list[str]:
    """Random sequences of about this length, their letters apart."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(list(AMINO_ACIDS), length + at % 3)) for at in range(number)]
