"""Attention between words as loops over tokens find it; what a tree loses with its tokens."""

from collections import Counter

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings

from headscope.encoding.block_parts import SPECIAL
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.parsed_sentences import ROOT, UNKNOWN, Parsed, parsed
from headscope.linguistics.sentence import Example, Sentence
from headscope.passes.batches import collate
from headscope.studies.heads.probe.observer import TreebankObserver
from headscope.testing.hand_made import padded
from support.any_examples import examples, overlapping, spoken
from support.tiny import tiny_tokenizer

LAYERS, HEADS = 2, 3


def read(
    inputs: list[Encoded], block: int = 10**6, seed: int = 0
) -> tuple[list[Parsed], list[np.ndarray], list[np.ndarray]]:
    """The sentences of random maps of two layers, `block` queries at a time; those kept, and all, [layer head, ...]."""
    random = torch.Generator().manual_seed(seed)
    layers = [
        [torch.randn(HEADS, len(encoded), len(encoded), generator=random).softmax(-1) for encoded in inputs]
        for _ in range(LAYERS)
    ]
    reader = TreebankObserver()
    reader.start(collate(inputs, pad=0, class_exists=[True] * 4, device=torch.device("cpu")))
    for layer, maps in enumerate(layers):
        attention = padded(maps)
        for first in range(0, attention.shape[2], block):
            queries = slice(first, min(first + block, attention.shape[2]))
            reader(layer, attention[:, :, queries], slice(0, len(inputs)), queries)
    return *reader.finish(), [torch.cat(maps).numpy() for maps in zip(*layers, strict=True)]


def inputs_of(*made: Example) -> list[Encoded]:
    return list(Words(tiny_tokenizer(200), 200, aligned=True).encode(made))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(examples)
def test_kept_attention_is_that_of_loops(example: Example) -> None:
    if not (inputs := inputs_of(example)):
        return
    sentences, maps, (attention,) = read(inputs, block=3)
    said = spoken(example)
    seps = {position for position, token in enumerate(said["segments"]) if token is None} - {0}
    found = {sentence.number: kept for sentence, kept in zip(sentences, maps, strict=True)}
    for number, (_, tokens) in enumerate(overlapping(example, said)):
        words = [{0}, seps, *(its for its in tokens if its)]
        if number in found:
            expected = np.array(
                [
                    [[np.mean([sum(head[query, key] for key in key_tokens) for query in query_tokens])
                      for head in attention] for key_tokens in words]
                    for query_tokens in words
                ]
            )  # fmt: skip
            np.testing.assert_allclose(found[number], expected, atol=1e-3)
        else:
            assert len(words) == SPECIAL


def test_heads_are_counted_among_the_words_that_have_tokens() -> None:
    sentence = Sentence(
        "a b c d", ((0, 1), (2, 3), (4, 5), (6, 7)), heads=(3, 1, 0, 2), deprel=("x:y", "x", "root", "x")
    )
    example, counts = Example("1", (Sentence("e", ((0, 1),)), sentence)), Counter()
    (found,) = parsed(example, 7, 3, [(5,), (1,), (), (2, 3), (4,)], counts)
    assert found.order == (7, 1) and found.unit == 3 and found.words.tolist() == [1, 3, 4]
    assert found.forms == ("a", "c", "d") and found.pieces == ((1,), (2, 3), (4,))
    assert found.heads.tolist() == [2, ROOT, UNKNOWN] and found.relations.tolist() == ["x", "root", "x"]
    assert counts == {"sentences without a tree": 1, "words whose head has no token": 1}


def test_a_root_without_a_token_leaves_its_words_unknown() -> None:
    sentence = Sentence("a b", ((0, 1), (2, 3)), heads=(0, 1), deprel=("root", "x"))
    (found,) = parsed(Example("1", (sentence,)), 0, 0, [(), (1,)])
    assert found.heads.tolist() == [UNKNOWN]
