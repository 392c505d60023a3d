"""Tiny seeded models and a tiny tokenizer, made in code: no network, no files.

>>> tokenizer = tiny_tokenizer()
>>> tokenizer.convert_ids_to_tokens(tokenizer("The cat slept.")["input_ids"])
['[CLS]', 'the', 'cat', 's', '##l', '##e', '##p', '##t', '.', '[SEP]']
>>> tiny_bert().config.num_hidden_layers
3
"""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE, WordPiece
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModel,
    BertConfig,
    GPT2Config,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

Network = TypeVar("Network", bound=torch.nn.Module)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    "a an and as at be but by for from he her his i in is it of on or she that the they this to was were with you "
    "bank bird book cat child dog door garden house man night river road school story town tree water woman year "
    "came ran saw sat said walked old small new not very ##s ##ed ##ing ##ly ##er"
).split()


def tiny_vocabulary() -> dict[str, int]:
    """Some whole words, and all ASCII characters as first and as later pieces, so that no ASCII word is unknown."""
    letters = string.ascii_lowercase + string.digits
    later = [f"##{letter}" for letter in letters]
    pieces = dict.fromkeys((*SPECIAL, *string.punctuation, *letters, *later, *WORDS))
    return {piece: number for number, piece in enumerate(pieces)}


def tiny_tokenizer(max_tokens: int = 64) -> PreTrainedTokenizerBase:
    """A fast, lower-casing WordPiece tokenizer with [CLS] and [SEP], as BERT has it."""
    vocabulary = tiny_vocabulary()
    backend = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=max_tokens, **dict(zip(names, SPECIAL, strict=True))
    )


def byte_tokenizer(merges: Sequence[tuple[str, str]] = ()) -> PreTrainedTokenizerBase:
    """Every byte is a token, so that a letter may have several; and so is what is merged."""
    pieces = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *map("".join, merges)]
    backend = Tokenizer(BPE({piece: number for number, piece in enumerate(pieces)}, list(merges)))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=512)


def randomised(network: Network, seed: int = 0, spread: float = 0.4) -> Network:
    """The network with weights large enough that its attention is far from uniform, in evaluation mode.

    At the small weights that models start from, a wrong scale or a swapped layer would hardly show.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim > 1:
                parameter.normal_(std=spread, generator=generator)
    return network.eval()


def tiny_network(config: PreTrainedConfig, seed: int = 0, kind: type = AutoModel) -> PreTrainedModel:
    """A model of any family from its configuration; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        build = kind.from_config if kind.__name__.startswith("Auto") else kind
        return randomised(build(config), seed)


def tiny_bert(seed: int = 0, kind: type = AutoModel, **config: Any) -> PreTrainedModel:
    """A BERT of 3 layers with 4 heads each that reads what `tiny_tokenizer` writes.

    `kind` is AutoModel or a class with a head, such as BertForSequenceClassification; `config` overrides its settings.
    """
    settings: dict[str, Any] = {
        "vocab_size": len(tiny_vocabulary()),
        "hidden_size": 24,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 32,
        "max_position_embeddings": 64,
    }
    return tiny_network(BertConfig(**(settings | config)), seed, kind)


def tiny_gpt2(seed: int = 0, kind: type = AutoModel, **config: Any) -> PreTrainedModel:
    """A GPT-2 (causal attention) of 2 layers with 4 heads each that reads what `tiny_tokenizer` writes."""
    settings: dict[str, Any] = {
        "vocab_size": len(tiny_vocabulary()),
        "n_embd": 24,
        "n_layer": 2,
        "n_head": 4,
        "n_positions": 64,
    }
    specials: dict[str, Any] = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    return tiny_network(GPT2Config(**(settings | specials | config)), seed, kind)


def save_tiny(
    folder: Path, network: PreTrainedModel | None = None, tokenizer: PreTrainedTokenizerBase | None = None
) -> Path:
    """Save a model (by default `tiny_bert()`) and a tokenizer as `load` reads them; gives the folder back."""
    (network or tiny_bert()).save_pretrained(folder)
    (tokenizer or tiny_tokenizer()).save_pretrained(folder)
    return folder
