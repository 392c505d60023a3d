"""A classifier of inference that follows word overlap alone, by two heads, and a tokenizer of the shortcuts' words.

Head 1-1 finds the copies of each token; what it reads is whether one stands in the premise. With head 2-1 [CLS] adds
that up over the nouns and verbs of the hypothesis.

>>> overlap_model().config.id2label
{0: 'entailment', 1: 'not_entailment'}
"""

import re
from functools import cache
from typing import Any

import torch
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, PreTrainedModel, PreTrainedTokenizerFast

from headscope.corpora.tasks.shortcuts import shortcut_pairs
from support.planted import CERTAIN
from support.tiny import SPECIAL

HEADS, WIDTH, POSITIONS = 2, 96, 48
HIDDEN = HEADS * WIDTH
PREMISE, HYPOTHESIS, COPIED, SUM = range(HIDDEN - 4, HIDDEN)
FREQUENT = ("the", ".", "[SEP]")
LABELS = ("entailment", "not_entailment")


@cache
def vocabulary() -> dict[str, int]:
    """The special pieces, and all words of the pairs."""
    texts = " ".join(f"{pair.premise} {pair.hypothesis}" for pair in shortcut_pairs())
    words = dict.fromkeys([*SPECIAL, *sorted(set(re.findall(r"\w+|[^\w\s]", texts.lower())))])
    return {word: number for number, word in enumerate(words)}


def overlap_tokenizer() -> PreTrainedTokenizerFast:
    """A word a token, in lower case."""
    backend = Tokenizer(WordLevel(vocabulary(), unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary()[token]) for token in ("[CLS]", "[SEP]")],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=POSITIONS,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **dict(zip(names, SPECIAL, strict=True)),
    )


def overlap_model(labels: tuple[str, ...] = LABELS) -> PreTrainedModel:
    """The first label where all nouns and verbs of the hypothesis stand in the premise, else the second."""
    config = BertConfig(
        vocab_size=len(vocabulary()), hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=HEADS,
        intermediate_size=8, max_position_embeddings=POSITIONS, id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )  # fmt: skip
    network: Any = BertForSequenceClassification(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.bert.embeddings.word_embeddings.weight[:, : len(vocabulary())] = torch.eye(len(vocabulary()))
        network.bert.embeddings.token_type_embeddings.weight[[0, 1], [PREMISE, HYPOTHESIS]] = 1
        for module in network.modules():
            if isinstance(module, nn.LayerNorm):  # vectors of two ones stay as they are
                mean = 2 / HIDDEN
                module.weight.fill_((mean - mean**2 + module.eps) ** 0.5)
                module.bias.fill_(mean)
        first, second = (layer.attention for layer in network.bert.encoder.layer)
        signs = torch.randn(WIDTH, len(vocabulary()), generator=torch.Generator().manual_seed(0)).sign()
        first.self.key.weight[:WIDTH, : len(vocabulary())] = signs / WIDTH**0.5
        first.self.query.weight[:WIDTH] = 3 * CERTAIN * WIDTH**0.5 * first.self.key.weight[:WIDTH]
        first.self.value.weight[0, PREMISE] = 2
        first.output.dense.weight[COPIED, 0] = 1
        second.self.query.bias[0] = CERTAIN * WIDTH**0.5
        second.self.key.weight[0, HYPOTHESIS] = 2
        second.self.key.weight[0, [vocabulary()[word] for word in FREQUENT]] = -2
        second.self.value.weight[0, COPIED] = 1
        second.output.dense.weight[SUM, 0] = 1
        network.bert.pooler.dense.weight[0, SUM] = 8
        network.bert.pooler.dense.bias[0] = -4
        network.classifier.weight[:, 0] = torch.tensor([2.0, *(-2.0 for _ in labels[1:])])
    return network
