"""Scores of texts are those of a loop that predicts one piece at a time, in whatever batches and order."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertForMaskedLM, DistilBertConfig, DistilBertForMaskedLM, GPT2LMHeadModel

import headscope
from headscope import Settings
from headscope.corpora.suites import Candidate
from headscope.corpora.suites.item import filled, sentence
from headscope.errors import HeadscopeError
from headscope.models.prediction_heads import is_causal
from headscope.models.tokenizer import refuse_beyond
from headscope.outputs.words import few_tokens
from headscope.outputs.words.few_tokens import all_tokens, last_layer_alone
from headscope.outputs.words.inputs import scored_pieces
from headscope.outputs.words.predictor import WordPredictor, text_scores
from support.tiny import tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary

TOKENIZER = tiny_tokenizer()
TEXTS = [
    *map(sentence, ["The cat slept.", "The cat sleeps.", "It isn't raining here, is it?", "a", "The cat slept."]),
    filled("The dog [MASK] the garden.", "slept"),
    filled("The dog [MASK] the garden.", "saw"),
    filled("He said it was [MASK].", "the old house"),
]
MODELS: dict[str, Callable] = {
    "bert": lambda: tiny_bert(0, BertForMaskedLM),
    "distilbert": lambda: tiny_network(
        DistilBertConfig(vocab_size=len(tiny_vocabulary()), dim=24, n_layers=2, n_heads=4, hidden_dim=32),
        0,
        DistilBertForMaskedLM,
    ),
    "gpt2": lambda: tiny_gpt2(0, GPT2LMHeadModel),
}


@pytest.fixture(scope="module", params=MODELS)
def predictor(request: pytest.FixtureRequest) -> WordPredictor:
    return WordPredictor(headscope.wrap(MODELS[request.param](), TOKENIZER))


def naive(predictor: WordPredictor, text: Candidate, plain: bool = False) -> float:
    """One forward pass for each piece."""
    encoding = TOKENIZER(text.text, return_offsets_mapping=True)
    ids, words, total = encoding["input_ids"], encoding.word_ids(), 0.0
    scored = [
        at
        for at, (start, end) in enumerate(encoding["offset_mapping"])
        if words[at] is not None and start < text.end and end > text.start
    ]
    causal = predictor.model.network.config.model_type == "gpt2"
    for at in scored:
        if causal:
            read, position = ids[:at], -1
        else:
            unit = [
                other for other in scored if text.is_answer or (words[other] == words[at] and not plain) or other == at
            ]
            read = [
                TOKENIZER.mask_token_id if number in unit and number >= at else piece
                for number, piece in enumerate(ids)
            ]
            position = at
        logits = predictor.model.network(torch.tensor([read])).logits[0, position]
        total += float(logits.log_softmax(-1)[ids[at]])
    return total


@torch.inference_mode()
@pytest.mark.parametrize("plain", [False, True])
def test_scores_are_those_of_one_prediction_at_a_time(predictor: WordPredictor, plain: bool) -> None:
    expected = [naive(predictor, text, plain) for text in TEXTS]
    assert text_scores(predictor, TEXTS, plain=plain).values == pytest.approx(expected, abs=1e-4)


def test_scores_do_not_depend_on_batches_or_order(predictor: WordPredictor) -> None:
    batched = text_scores(predictor, TEXTS).values
    small = text_scores(predictor, TEXTS[::-1], Settings(batch_tokens=1)).values[::-1]
    assert small == pytest.approx(batched, abs=1e-4)
    assert batched[0] == batched[4]


def test_head_and_last_layer_run_at_the_scored_pieces_alone(predictor: WordPredictor) -> None:
    network, tokens = predictor.model.network, dict[str, Any]()
    last, head = predictor.model.projections[-1].output, cast(nn.Module, network.get_output_embeddings())

    def counted(name: str) -> Callable[[nn.Module, Any], None]:
        return lambda module, args: tokens.update({name: args[0].shape[1]})

    hooks = [module.register_forward_pre_hook(counted(name)) for name, module in (("last layer", last), ("head", head))]
    fewer = text_scores(predictor, TEXTS[7:]).values
    for hook in hooks:
        hook.remove()
    assert tokens["head"] == 3 and (tokens["last layer"] > 3 if is_causal(predictor.model) else 1)
    full = WordPredictor(predictor.model)
    full.reader = all_tokens(predictor.model)
    assert text_scores(full, TEXTS[7:]).values == pytest.approx(fewer, abs=1e-4)


def test_equal_tokens_pass_the_maps_of_the_first_layer_once() -> None:
    predictor = WordPredictor(headscope.wrap(tiny_bert(0, BertForMaskedLM), TOKENIZER))
    width = predictor.model.network.config.hidden_size
    (copies,) = predictor.inputs(list(scored_pieces(predictor.model, TEXTS[:1])))
    operations = []
    for reader in (predictor.reader, last_layer_alone(predictor.model)):
        with FlopCounterMode(display=False) as counter:
            list(reader(copies))
        operations.append(counter.get_total_flops())
    rows, tokens = copies.ids.shape
    saved = rows * tokens - len({(token, piece) for row in copies.ids for token, piece in enumerate(row.tolist())})
    assert operations[1] - operations[0] == saved * 3 * 2 * width**2 > 0


def test_the_head_reads_as_many_tokens_as_cells_allow_and_the_layers_run_once(
    predictor: WordPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, tokens = predictor.model.network, {"layers": list[int](), "head": list[int]()}
    expected = text_scores(predictor, TEXTS).values
    modules = {"layers": predictor.model.projections[0].output, "head": network.get_output_embeddings()}
    hooks = [
        cast(nn.Module, module).register_forward_pre_hook(
            lambda _, args, *, name=name: tokens[name].append(args[0].shape[1])
        )
        for name, module in modules.items()
    ]
    text_scores(predictor, TEXTS)
    passes = len(tokens["layers"])
    tokens["layers"].clear()
    tokens["head"].clear()
    monkeypatch.setattr(few_tokens, "CELLS", 2 * len(TOKENIZER))
    few = text_scores(predictor, TEXTS).values
    for hook in hooks:
        hook.remove()
    assert few == pytest.approx(expected, abs=1e-5)
    assert max(tokens["head"]) == 2 and len(tokens["layers"]) == passes < len(tokens["head"])


def test_a_piece_without_an_embedding_is_never_tried() -> None:
    """Gemma 3 has a special token for pictures, and no embedding of it."""
    tokenizer = tiny_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<picture>"]})
    model = headscope.wrap(tiny_gpt2(0, GPT2LMHeadModel), tokenizer)
    refuse_beyond(model.network, tokenizer, "tiny")
    assert text_scores(WordPredictor(model), TEXTS).values == pytest.approx(
        text_scores(WordPredictor(headscope.wrap(model.network, TOKENIZER)), TEXTS).values
    )


def test_causal_model_reads_each_prefix_once() -> None:
    predictor = WordPredictor(headscope.wrap(tiny_gpt2(0, GPT2LMHeadModel), TOKENIZER))
    texts = list(scored_pieces(predictor.model, TEXTS[:5]))
    (part,) = predictor.inputs(texts)
    assert part.seen is not None
    read = [tuple(part.ids[0, seen].tolist()) for seen in part.seen[0]]
    prefixes = {tuple(text.ids[:end].tolist()) for text in texts for end in range(1, 1 + text.places[-1])}
    assert sorted(prefix for prefix in read if prefix != (0,)) == sorted(prefixes)


def test_pieces_of_answers_are_counted_and_long_texts_have_no_score(predictor: WordPredictor) -> None:
    long = sentence("the cat " * 40)
    scores = text_scores(predictor, [*TEXTS, long, Candidate("The cat.", 3, 4)])
    assert scores.pieces[5:].tolist() == [5, 1, 3, -1, 0]
    assert np.isnan(scores.values[-2:]).all() and not np.isnan(scores.values[:-2]).any()


def test_model_without_a_head_for_words_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="without a head that predicts words; train one with"):
        WordPredictor(headscope.wrap(tiny_bert(), TOKENIZER))
