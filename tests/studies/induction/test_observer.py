"""What is read off attention, beside loops over the maps of the eager model."""

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from headscope import Settings, read, wrap
from headscope.capture.observer import small_blocks
from headscope.corpora import Options
from headscope.encoding.encoded import Encoded
from headscope.passes.passes import Pass
from headscope.studies.heads.induction.made_inputs import maker
from headscope.studies.heads.induction.observer import HeadAttention
from headscope.studies.heads.induction.reading import farthest_seen, gathered, reach_of, read_made
from headscope.studies.heads.induction.relations import RepeatWords
from support.repeating import with_window
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

MODELS = {"encoder": tiny_bert, "decoder": tiny_gpt2, "window": lambda: with_window(5)}


def eager(network: PreTrainedModel, input: Encoded) -> np.ndarray:
    """The maps [head, query, key] of an input, heads of all layers in a row."""
    network.set_attn_implementation("eager")
    inputs = {name: torch.from_numpy(ids)[None] for name, ids in input.inputs.items()}
    with torch.inference_mode():
        return np.concatenate([one[0].numpy() for one in network(**inputs, output_attentions=True).attentions])


@pytest.mark.parametrize("kind", MODELS)
def test_made_inputs_read_as_a_loop_reads_them(kind: str) -> None:
    model = wrap(MODELS[kind](), tiny_tokenizer())
    made = maker(model, 0).repeated(3, 8, 2)
    reach = reach_of(farthest_seen(model, maker(model, 0).unplanted(1, 40, 0)[0]), 42)
    with small_blocks():
        read_ = read_made(model, "made", made, 3, reach, Settings(resamples=2))
    for number, one in enumerate(made):
        _assert_same(read_, number, one, eager(model.network, one), len(model.capture.heads), 3)


def test_a_corpus_is_read_as_a_loop_reads_it() -> None:
    model, corpus = wrap(tiny_bert(), tiny_tokenizer()), read("sample", Options(limit=12))
    words = RepeatWords(model.tokenizer, model.max_tokens, seed=1)
    inputs = list(RepeatWords(model.tokenizer, model.max_tokens, seed=1).encode(corpus))
    read_ = HeadAttention.in_order(
        gathered(Pass(model, corpus, Settings(resamples=2), words), 5, np.full((3, 2), np.inf)).value
    )
    assert len(read_) == len(inputs) > 3 and sum(read_.queries[:, 0]) > 3
    for number, one in enumerate(inputs):
        _assert_same(read_, number, one, eager(model.network, one), 3, 5)


def _assert_same(read: HeadAttention, number: int, one: Encoded, maps: np.ndarray, layers: int, relations: int) -> None:
    heads, tokens, _ = maps.shape
    linked, uniform = np.zeros((heads, relations)), np.zeros((layers, relations))
    seen = np.any(maps.reshape(layers, -1, tokens, tokens) > 0, axis=1)  # [layer, query, key]
    visible = seen.sum(-1)
    for relation, query, key in one.links.tolist():
        linked[:, relation] += maps[:, query, key]
        uniform[:, relation] += 1 / visible[:, query]
    queries = [
        len({query for kind, query, _ in one.links.tolist() if kind == relation}) for relation in range(relations)
    ]
    to, share, distance = np.zeros((heads, 3)), np.zeros((layers, 3)), np.zeros(heads)
    for query in range(tokens):
        for key in range(tokens):
            focus = 0 if key == 0 else {1: 1, 2: 2}.get(int(one.token_class[key]))
            if focus is not None:
                to[:, focus] += maps[:, query, key] / tokens
                share[:, focus] += seen[:, query, key] / visible[:, query] / tokens
            distance += maps[:, query, key] * abs(query - key) / tokens
    for name, naive in (("linked", linked), ("uniform", uniform), ("to", to), ("share", share), ("distance", distance)):
        np.testing.assert_allclose(getattr(read, name)[number], naive, atol=1e-5, err_msg=name)
    assert read.queries[number].tolist() == queries


@pytest.mark.parametrize(("kind", "farthest"), [("encoder", (29, 29)), ("decoder", (29, 0)), ("window", (4, 0))])
def test_the_farthest_token_that_is_seen(kind: str, farthest: tuple[int, int]) -> None:
    model = wrap(MODELS[kind](), tiny_tokenizer())
    found = farthest_seen(model, maker(model, 0).unplanted(1, 28, 0)[0])
    assert found.tolist() == [list(farthest)] * len(model.capture.heads)
