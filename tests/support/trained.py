"""Tokenizers of other kinds than BERT's, trained in a moment on the bundled corpus.

>>> tokenizer = tokenizer_of("t5")
>>> tokenizer.convert_ids_to_tokens(tokenizer("It was.")["input_ids"])
['▁It', '▁was', '.', '</s>']
"""

from functools import cache
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from headscope.corpora import read
from headscope.linguistics.sentence import segment_text

SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
SIZE = 600
# One token for each role; a model that has none of them has none of their names either.
ROLES = {
    "gpt2": {"bos_token": "</s>", "eos_token": "</s>"},
    "roberta": {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"},
    "t5": {"eos_token": "</s>"},
    "deberta-v2": {"cls_token": "<s>", "sep_token": "</s>"},
}
TEMPLATES = {
    "roberta": ("<s> $A </s>", "<s> $A </s> </s> $B </s>"),
    "t5": ("$A </s>", "$A </s> $B </s>"),
    "deberta-v2": ("<s> $A </s>", "<s> $A </s> $B:1 </s>:1"),
}


def tokenizer_of(kind: str, max_tokens: int = 80) -> PreTrainedTokenizerBase:
    """The tokenizer of a type of `ROLES`: byte-level pieces for gpt2 and roberta, SentencePiece's for the others."""
    backend = Tokenizer.from_str(_byte_level() if kind in ("gpt2", "roberta") else _sentencepiece())
    if kind in TEMPLATES:
        single, pair = TEMPLATES[kind]
        ids = [(token, backend.token_to_id(token)) for token in ("<s>", "</s>")]
        backend.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)
    names: dict[str, Any] = {"pad_token": "<pad>", "unk_token": "<unk>"} | ROLES[kind]
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=max_tokens,
        model_input_names=["input_ids", "attention_mask"],
        **names,
    )


@cache
def _byte_level() -> str:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _trained(
        backend,
        trainers.BpeTrainer(vocab_size=SIZE, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False),
    )


@cache
def _sentencepiece() -> str:
    backend = Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    return _trained(
        backend,
        trainers.UnigramTrainer(vocab_size=SIZE, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False),
    )


def _trained(backend: Tokenizer, trainer: trainers.Trainer) -> str:
    texts = [segment_text(segment) for example in read("sample") for segment in example.segments]
    backend.train_from_iterator(texts, trainer)
    return backend.to_str()
