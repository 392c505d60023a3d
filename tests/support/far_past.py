"""A decoder of which one KV head needs the far past: it looks at a topic, and the words that follow depend on it.

>>> network().config.n_layer, network().config.n_head
(2, 2)
"""

from random import Random
from typing import Any

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from headscope import Corpus
from headscope.linguistics.sentence import Example, Sentence
from support.claim_texts import corpus
from support.planted_words import TOKENIZER

VOCABULARY = TOKENIZER.get_vocab()
WIDTH = 2 * len(VOCABULARY)
SPREAD = (1 / WIDTH * (1 - 1 / WIDTH)) ** 0.5  # of a one-hot vector, by which layer normalisation divides
# After "the" each topic expects a word of its own.
TOPICS = {"cat": "ran", "dog": "sat"}
LAYER, HEAD = 2, 1  # of the head that looks at the topic
WORDS = 20


def network(seed: int = 0, *, looks: bool = True) -> GPT2LMHeadModel:
    """The decoder; its other heads add nothing. Without `looks` the planted one adds nothing, either."""
    config = GPT2Config(
        vocab_size=len(VOCABULARY), n_embd=WIDTH, n_layer=2, n_head=2, n_positions=64, n_inner=1,
        tie_word_embeddings=False, layer_norm_epsilon=0.0,
    )  # fmt: skip
    made: Any = GPT2LMHeadModel(config).eval()
    block, first = made.transformer.h[LAYER - 1], (HEAD - 1) * WIDTH // 2
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.zero_()
        made.transformer.wte.weight[:, : len(VOCABULARY)] = torch.eye(len(VOCABULARY))
        for norm in (*(layer.ln_1 for layer in made.transformer.h), made.transformer.ln_f):
            norm.weight.fill_(SPREAD)
            norm.bias.fill_(1 / WIDTH)
        for number, (topic, word) in enumerate(TOPICS.items()):
            if looks:
                block.attn.c_attn.bias[first] = 20.0 * (WIDTH / 2) ** 0.5
                block.attn.c_attn.weight[VOCABULARY[topic], WIDTH + first] = 1
                block.attn.c_attn.weight[VOCABULARY[topic], 2 * WIDTH + first + number] = 1
            block.attn.c_proj.weight[first + number, len(VOCABULARY) + number] = 1
            made.lm_head.weight[VOCABULARY[word], len(VOCABULARY) + number] = 8
        made.lm_head.weight[:, VOCABULARY["the"]] = -4
        for word in TOPICS.values():
            made.lm_head.weight[VOCABULARY[word], VOCABULARY["the"]] = 8
            made.lm_head.weight[VOCABULARY["the"], VOCABULARY[word]] = 20
    return made


def topics(seed: int, n: int, shuffled: bool = False) -> Corpus:
    """Texts that name a topic and then repeat its word; or words of both topics at random."""
    random, made = Random(seed), []
    for _ in range(n):
        topic = random.choice([*TOPICS])
        words = random.choices([*TOPICS.values()], k=WORDS) if shuffled else [TOPICS[topic]] * WORDS
        made.append(f"she {topic} {' '.join(f'the {word}' for word in words)}")
    return corpus(Example(str(number), (Sentence(text),)) for number, text in enumerate(made))
