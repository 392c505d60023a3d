"""The loss of words: that of plain calls of the model, a uniform guess, and a head that alone copies a word."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, BertLMHeadModel, GPT2LMHeadModel

from headscope import HeadscopeError, Settings, wrap
from headscope.ablation.sweep import sweep
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, score, words
from headscope.linguistics.sentence import Example, Sentence
from headscope.outputs.gradient_importance import importance
from headscope.outputs.losses import SUMMED, log_normaliser
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import TaskInputs, task_inputs
from headscope.outputs.words import few_tokens
from support.planted import HEADS, HIDDEN, PIECES, POSITIONS, WIDTH, looks_at_offset, planted
from support.planted_task import SEEN
from support.planted_words import causal_table
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

TEXTS = ("the cat saw the old bird.", "a dog ran", "she was in town, not at school.", "it", "they sat.", "he saw her")


def corpus(texts: tuple[str, ...] = TEXTS, documents: int = 0) -> Corpus:
    names = [str(number % documents) if documents else "" for number in range(len(texts))]
    examples = [
        Example(str(number), (Sentence(text, document=name),))
        for number, (text, name) in enumerate(zip(texts, names, strict=True))
    ]
    return Corpus("texts", "0" * 64, len(examples), {}, partial(iter, examples), n_documents=documents)


def task_of(read: Corpus) -> Task:
    return Task(name="words:texts", kind="words", metrics=("loss", "perplexity", "bits_per_character"), dev=read)


def inputs_of(network: Any, read: Corpus) -> TaskInputs:
    return task_inputs(wrap(network, tiny_tokenizer()), task_of(read), read)


def loss_of(inputs: TaskInputs, settings: Settings) -> list[float]:
    outputs = task_outputs(inputs, settings)
    return [float(score(metric, outputs, np.zeros(len(outputs)))) for metric in inputs.task.metrics]


@pytest.mark.parametrize("batch_tokens", [1, 40, 2048])
def test_the_loss_of_next_words_is_that_of_transformers(batch_tokens: int) -> None:
    network, total, count = tiny_gpt2(kind=GPT2LMHeadModel), 0.0, 0
    for text in TEXTS:
        ids = torch.tensor([tiny_tokenizer()(text)["input_ids"]])
        labels = ids.clone()
        labels[:, -1] = -100  # [SEP] is no word
        with torch.no_grad():
            total += float(network(ids, labels=labels).loss) * (ids.shape[1] - 2)
        count += ids.shape[1] - 2
    loss, perplexity, bits = loss_of(inputs_of(network, corpus()), Settings(batch_tokens=batch_tokens))
    assert [loss, perplexity] == pytest.approx([total / count, np.exp(total / count)], rel=1e-5)
    assert bits == pytest.approx(total / sum(map(len, TEXTS)) / np.log(2), rel=1e-5)


def test_the_loss_of_masked_words_is_that_of_one_mask_at_a_time() -> None:
    network, tokenizer = tiny_bert(kind=BertForMaskedLM), tiny_tokenizer()
    inputs, total, count = inputs_of(network, corpus()), 0.0, 0
    for encoded, pieces in zip(inputs.inputs, inputs.masked_pieces, strict=True):
        hidden = np.flatnonzero(pieces >= 0)
        ids = encoded.inputs["input_ids"].copy()
        assert (ids[hidden] == tokenizer.mask_token_id).all() and len(set(np.diff(hidden))) <= 1
        ids[hidden] = pieces[hidden]
        text = tokenizer.decode(ids, skip_special_tokens=True)
        assert text in [tokenizer.decode(tokenizer(own)["input_ids"], skip_special_tokens=True) for own in TEXTS]
        with torch.no_grad():
            logits = network(torch.from_numpy(encoded.inputs["input_ids"])[None]).logits[0].double().log_softmax(-1)
        total -= sum(float(logits[token, pieces[token]]) for token in hidden)
        count += len(hidden)
    assert len(set(inputs.texts)) == len(TEXTS)
    assert loss_of(inputs, Settings())[0] == pytest.approx(total / count, rel=1e-5)


def test_a_uniform_guess_has_the_loss_of_the_vocabulary() -> None:
    masked: Any = tiny_bert(kind=BertForMaskedLM, tie_word_embeddings=False)
    masked.cls.predictions.decoder.weight.data.zero_()
    masked.cls.predictions.decoder.bias.data.zero_()
    for network in (causal_table({}).network, masked):
        size = network.config.vocab_size
        assert loss_of(inputs_of(network, corpus()), Settings())[:2] == pytest.approx([np.log(size), size], rel=1e-5)


def copying() -> Any:
    """A causal BERT in which head 1-2 alone carries the word before: "cat" or "dog", which comes next again."""
    network: Any = tiny_bert(
        kind=BertLMHeadModel,
        is_decoder=True,
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        max_position_embeddings=POSITIONS,
        tie_word_embeddings=False,
    )
    network.bert.load_state_dict(planted({(1, 2): looks_at_offset(-1)}, 2).state_dict(), strict=False)
    head, transform, decoder = (
        slice(WIDTH, 2 * WIDTH),
        network.cls.predictions.transform,
        network.cls.predictions.decoder,
    )
    with torch.no_grad():
        for number, layer in enumerate(network.bert.encoder.layer):
            value, output = layer.attention.self.value.weight, layer.attention.output.dense.weight
            value.normal_(std=0.02, generator=torch.Generator().manual_seed(number))
            output[list(SEEN)] = 0
            if number == 0:
                value[head], output[:, head] = 0, 0
                for number, (seen, piece) in enumerate(zip(SEEN, ("cat", "dog"), strict=True)):
                    value[head.start + number, PIECES[piece]], output[seen, head.start + number] = 1, 0.5
        for parameter in (transform.dense.weight, transform.dense.bias, decoder.weight, decoder.bias):
            parameter.zero_()
        for number, piece in enumerate(("cat", "dog")):
            transform.dense.weight[number, SEEN[number]], transform.dense.weight[number, SEEN[1 - number]] = 20, -20
            decoder.weight[PIECES[piece], number] = 2
    return network


def test_the_head_that_alone_copies_a_word_is_found_by_what_the_loss_becomes_without_it() -> None:
    texts = tuple(" ".join(pair * 5) for pair in (("cat", "dog"), ("dog", "cat"), ("cat", "cat"), ("dog", "dog"))) * 3
    inputs = inputs_of(copying(), corpus(texts))
    assert len(inputs.inputs) == len(texts)
    swept = sweep(inputs, mode="zero").mapped(inputs.by_example)
    zeros = np.zeros(len(texts))
    lost = score("loss", swept.heads, zeros) - score("loss", swept.plain, zeros)
    assert lost[0, 1] > 1
    lost[0, 1] = 0
    assert np.abs(lost).max() < 0.01
    alone = sweep(inputs, mode="zero", sets=[np.eye(2, HEADS, k=1, dtype=bool)], single=False)
    assert alone.heads is alone.layers is None
    np.testing.assert_array_equal(alone.plain, swept.plain)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_batches_of_few_logits_change_no_loss(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = tiny_gpt2(kind=GPT2LMHeadModel) if kind == "causal" else tiny_bert(kind=BertForMaskedLM)
    texts = tuple(f"{text} " * 4 for text in TEXTS)
    uncut = inputs_of(network, corpus(texts))
    expected, heads = task_outputs(uncut), sweep(uncut, mode="zero").heads
    most = []
    monkeypatch.setattr(few_tokens, "CELLS", 20 * network.config.vocab_size // 4)
    network.register_forward_hook(lambda module, given, output: most.append(output.logits.shape[:2].numel()))
    np.testing.assert_allclose(task_outputs(uncut), expected, rtol=1e-5)
    np.testing.assert_allclose(sweep(uncut, mode="zero").heads, heads, rtol=1e-4)
    assert max(most) <= max(map(len, uncut.inputs))
    windows = inputs_of(network, corpus(texts))
    assert max(map(len, windows.inputs)) <= 20 and len(set(windows.texts)) == len(texts)
    assert task_outputs(windows).shape == expected.shape and windows.cut["windows"] == 2


def test_log_normaliser_in_parts_is_that_of_all() -> None:
    logits = torch.linspace(-1, 1, SUMMED + 2).reshape(1, 2, -1)
    np.testing.assert_allclose(log_normaliser(logits), logits.logsumexp(-1), rtol=1e-6)


def test_a_half_of_the_documents_is_trained_on_and_documents_are_resampled() -> None:
    read = corpus(TEXTS * 8, documents=24)
    task = words(read)
    train, dev = ({example.document for example in split} for split in (task.training(), task.dev))
    assert train.isdisjoint(dev) and len(train) == len(dev) == 12 and task.dev.by_document
    found = importance(wrap(tiny_gpt2(kind=GPT2LMHeadModel), tiny_tokenizer()), task, task.dev)["importance"]
    assert found.sizes["estimator"] == 4 and bool(found.notnull().all())


@pytest.mark.parametrize(
    ("network", "texts", "words"),
    [
        (tiny_bert(), TEXTS, "without a head that predicts words; train one with 'headscope pretrain-head'"),
        (tiny_gpt2(kind=GPT2LMHeadModel), ("\u4f60", "\u4f60"), "corpus 'texts' has no word to predict"),
    ],
)
def test_refusals(network: Any, texts: tuple[str, ...], words: str) -> None:
    with pytest.raises(HeadscopeError, match=words):
        inputs_of(network, corpus(texts))


def test_a_single_text_has_no_halves() -> None:
    with pytest.raises(HeadscopeError, match="has one text; add more"):
        words(corpus(TEXTS[:1]))
