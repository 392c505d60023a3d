"""Narrower embeddings: planted rows of low rank lose nothing, and the class that holds them answers as before."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, BertForSequenceClassification, BertModel

import headscope
from headscope import HeadscopeError, Model
from headscope.models.embedding_width import basis_of, narrowed, projected, refuse_others, rows_of, saved_weights
from headscope.models.removable_parts import Kept
from headscope.models.smaller import cut
from headscope.outputs.size_and_speed import parameters
from headscope.studies.size.shrink.moments import UNREAD, row_counts
from headscope.studies.size.shrink.texts import encode
from support.tiny import tiny_bert, tiny_tokenizer

TEXTS = ["The cat slept.", "He was not very old, and she said it at night in the garden.", "The dog ran."]
TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")


def made(kind: type = BertModel, **config: Any) -> Model:
    """A tiny BERT."""
    return headscope.wrap(tiny_bert(0, kind, **config), tiny_tokenizer())


def planted(rank: int, kind: type = BertModel) -> Model:
    """A tiny BERT all rows of whose tables lie in so many directions, beside the mean of each row."""
    model = made(kind)
    generator = torch.Generator().manual_seed(1)
    directions, network = torch.randn(rank, 24, generator=generator), model.network.base_model
    with torch.no_grad():
        for name in TABLES:
            table: Any = getattr(network.embeddings, name)
            rows = len(table.weight)
            mean = torch.randn(rows, 1, generator=generator)
            table.weight.copy_(torch.randn(rows, rank, generator=generator) @ directions * 0.3 + mean)
    return model


def counts(model: Model) -> list[np.ndarray]:
    """How often the texts read each row."""
    return row_counts(model, encode(model, tuple(headscope.read(TEXTS))))


@torch.no_grad()
def outputs(model: Model) -> torch.Tensor:
    """The outputs for all real tokens."""
    batch = model.tokenizer(TEXTS, padding=True, return_tensors="pt")
    found = model.network(**batch)[0]
    return found[batch["attention_mask"].bool()] if found.ndim == 3 else found


@pytest.mark.parametrize("kind", [BertModel, BertForSequenceClassification])
def test_embeddings_of_low_rank_need_one_number_more(kind: type) -> None:
    model = planted(6, kind)
    basis = basis_of(model, counts(model), sum(rows_of(model)))
    assert int((basis.lengths > 1e-9 * basis.lengths[0]).sum()) == 6
    smaller = narrowed(projected(model, basis, 7), basis, 7)
    torch.testing.assert_close(outputs(smaller), outputs(model), atol=1e-5, rtol=0)
    assert type(smaller.network).__name__ == kind.__name__.replace("Bert", "Albert")
    assert smaller.network.config.embedding_size == 7
    again, bert = (cut(one, Kept(layers=(0, 2))) for one in (smaller, model))
    torch.testing.assert_close(outputs(again), outputs(bert), atol=1e-5, rtol=0)
    assert not torch.allclose(outputs(projected(model, basis, 6)), outputs(model), atol=1e-3)


@pytest.mark.parametrize(("kind", "width"), [(BertModel, 24), (BertForSequenceClassification, 11), (BertModel, 2)])
def test_class_that_holds_them_answers_as_before(kind: type, width: int) -> None:
    config = {"layer_norm_eps": 0.01, "hidden_act": "relu"}  # a large one shows a wrong scale
    model = made(kind, **config)
    basis = basis_of(model, counts(model), sum(rows_of(model)))
    same = projected(model, basis, width)
    smaller = narrowed(same, basis, width)
    torch.testing.assert_close(outputs(smaller), outputs(same), atol=1e-5, rtol=0)
    if width == 24:
        torch.testing.assert_close(outputs(smaller), outputs(model), atol=1e-5, rtol=0)
    assert parameters(model) - parameters(smaller) == saved_weights(sum(rows_of(model)), 24, width)
    assert smaller.capture.heads == model.capture.heads


def test_directions_are_those_of_the_rows_as_often_as_they_are_read() -> None:
    model = made()
    batch = model.tokenizer(TEXTS)["input_ids"]
    rows = []
    for name in TABLES:
        weight = getattr(model.network.base_model.embeddings, name).weight.detach().numpy().astype(float)
        for row, values in enumerate(weight):
            times = {
                "word_embeddings": sum(ids.count(row) for ids in batch),
                "position_embeddings": sum(row < len(ids) for ids in batch),
                "token_type_embeddings": sum(map(len, batch)) if row == 0 else 0,
            }[name]
            rows.append((times + UNREAD) ** 0.5 * (values - values.mean()))
    total = sum(3 * len(ids) for ids in batch) + UNREAD * len(rows)
    _, lengths, directions = np.linalg.svd(np.stack(rows))
    basis = basis_of(model, counts(model), sum(rows_of(model)))
    np.testing.assert_allclose(basis.lengths, lengths[:-1] ** 2 / total, atol=1e-5)
    np.testing.assert_allclose(abs((basis.directions.numpy() * directions[:-1]).sum(1)), 1, atol=1e-5)


def test_other_classes_are_refused_in_a_line() -> None:
    model = made(BertForMaskedLM)
    with pytest.raises(HeadscopeError, match=r"\(BertForMaskedLM\) cannot become narrower: .* leave embeddings out"):
        refuse_others(model)
