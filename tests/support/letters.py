"""A tokenizer of amino acids with a small BERT for it, and sequences."""

from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoModel,
    BertTokenizer,
    EsmConfig,
    EsmTokenizer,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

import headscope
from headscope.corpora.readers.fasta import AMINO_ACIDS
from support.planted import PIECES, looks_at_piece, planted
from support.tiny import tiny_bert, tiny_network

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


ESM = "<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H W C X B U Z O . - <null_1> <mask>"


def esm(folder: Path) -> headscope.Model:
    """A tiny ESM with its tokenizer of Python, which reads letters that stand together."""
    (folder / "esm.txt").write_text(ESM.replace(" ", "\n"))
    config: dict[str, Any] = {"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32, "max_position_embeddings": 66}
    config |= {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    network = tiny_network(EsmConfig(position_embedding_type="rotary", token_dropout=True, **config))
    return headscope.wrap(network, EsmTokenizer(str(folder / "esm.txt"), model_max_length=64))


def prot_bert() -> headscope.Model:
    """A tiny BERT with ProtBERT's vocabulary of 30 pieces, whose letters stand apart."""
    pieces = (*SPECIAL, *"LAGVESIKRDTPNQFYMHCWXUBZO")
    tokenizer = BertTokenizer({piece: number for number, piece in enumerate(pieces)}, do_lower_case=False)
    return headscope.wrap(tiny_bert(vocab_size=len(pieces), num_hidden_layers=2), tokenizer)


def planted_letters(head: tuple[int, int], letter: str) -> headscope.Model:
    """A BERT with a head in which every token looks at one amino acid; all others look at all tokens alike."""
    number = len(SPECIAL) + AMINO_ACIDS.index(letter)
    return headscope.wrap(planted({head: looks_at_piece(list(PIECES)[number])}), letter_tokenizer())


def sequences(number: int, length: int, seed: int = 0) -> list[str]:
    """Random sequences of about this length, their letters apart."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(list(AMINO_ACIDS), length + at % 3)) for at in range(number)]
