"""The study as a whole against the library's own hidden states in loops; planted vectors; its refusals and page."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr

import headscope
from headscope import Settings
from headscope.corpora import read
from headscope.errors import HeadscopeError
from headscope.report.study_page import study_page
from headscope.studies.layers.geometry import study
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

TEXTS = [
    "the cat saw the bird",
    "the dog ran and the child sat",
    "a man saw the sea by the old road",
    "the night was new",
]
QUICK = Settings(resamples=20)
PAIRS = [("the cat saw the dog", "the dog ran by the road"), ("the old man said that the cat sat", "the cat ran")]


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


@pytest.fixture(scope="module")
def states(model: headscope.Model) -> list[tuple[list[int], np.ndarray]]:
    """Of each text its tokens without special ones, and their vectors, [space, token, width]."""
    made = []
    for text in TEXTS:
        inputs = model.tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            hidden = model.network(**inputs, output_hidden_states=True).hidden_states
        made.append((inputs["input_ids"][0, 1:-1].tolist(), torch.stack(hidden)[:, 0, 1:-1].double().numpy()))
    return made


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return study.run(model, read(TEXTS), QUICK)


def by_space(result: xr.Dataset, name: str) -> np.ndarray:
    return np.concatenate([[result[f"embeddings_{name}"].values], result[name].values])


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def test_all_numbers_of_a_small_corpus_are_those_of_loops(result: xr.Dataset, states: list) -> None:
    tokens = [token for ids, _ in states for token in ids]
    vectors = np.concatenate([array for _, array in states], axis=1)  # [space, token, width]
    units = unit(vectors)
    text = np.repeat(np.arange(len(states)), [len(found) for found, _ in states])
    pairs = [(i, j) for i, j in combinations(range(len(tokens)), 2) if text[i] != text[j]]
    anisotropy = np.array([np.mean([space[i] @ space[j] for i, j in pairs]) for space in units])
    np.testing.assert_allclose(by_space(result, "anisotropy"), anisotropy, atol=1e-3)
    own = [number for number, token in enumerate(tokens) if token == tokens[0]]
    assert len(own) >= 5 and max(tokens.count(token) for token in set(tokens) - {tokens[0]}) < 5
    similar = np.array([np.mean([space[i] @ space[j] for i, j in combinations(own, 2)]) for space in units])
    np.testing.assert_allclose(by_space(result, "self_similarity"), similar, atol=1e-3)
    np.testing.assert_allclose(by_space(result, "self_similarity_corrected"), similar - anisotropy, atol=2e-3)
    singular = [np.linalg.svd(space[own], compute_uv=False) ** 2 for space in vectors]
    explained = [squares[0] / squares.sum() for squares in singular]
    np.testing.assert_allclose(by_space(result, "explained_variance"), explained, atol=1e-3)
    means = [array.mean(1, keepdims=True) for _, array in states]
    intra = [(unit(array) * unit(mean)).sum(-1).mean(-1) for (_, array), mean in zip(states, means, strict=True)]
    np.testing.assert_allclose(by_space(result, "intra_sentence"), np.mean(intra, axis=0), atol=1e-5)
    norms = [np.linalg.norm(array, axis=-1).mean(-1) for _, array in states]
    np.testing.assert_allclose(by_space(result, "norm"), np.mean(norms, axis=0), rtol=1e-5)
    np.testing.assert_allclose(by_space(result, "norm_std"), np.linalg.norm(vectors, axis=-1).std(-1), atol=1e-5)
    assert int(result["anisotropy_n_examples"]) == len(tokens)


def test_tokens_of_a_document_are_resampled_together(model: headscope.Model) -> None:
    rows = [
        {"text": text, "of": str(number)} for number, text in enumerate([*TEXTS, TEXTS[0], TEXTS[2]]) for _ in range(8)
    ]
    known, unknown = (read(pd.DataFrame(rows), document=column) for column in ("of", None))
    widths = []
    for corpus in (known, unknown):
        result = study.run(model, corpus, Settings(resamples=200))
        widths.append((result["anisotropy_ci"][..., 1] - result["anisotropy_ci"][..., 0]).values)
    assert (widths[0] > 1.5 * widths[1]).all()  # eight equal texts say as much as one
    alone = study.run(model, read([TEXTS[1]]), QUICK)
    assert alone["anisotropy_ci"].isnull().all() and alone["anisotropy"].notnull().all()


def test_alignment_is_that_of_all_tokens(result: xr.Dataset, states: list) -> None:
    vectors = np.concatenate([array for _, array in states], axis=1)
    centred = vectors - vectors.mean(1, keepdims=True)
    expected = np.array([
        [np.square(other.T @ one).sum() / np.linalg.norm(one.T @ one) / np.linalg.norm(other.T @ other)
         for other in centred] for one in centred
    ])  # fmt: skip
    np.testing.assert_allclose(result["alignment"], expected[1:, 1:], atol=2e-3)
    np.testing.assert_allclose(result["embeddings_alignment"], expected[1:, 0], atol=2e-3)


def test_batches_do_not_change_numbers(model: headscope.Model, result: xr.Dataset) -> None:
    other = study.run(model, read(TEXTS), Settings(resamples=20, batch_tokens=12))
    for name, array in result.data_vars.items():
        np.testing.assert_allclose(array, other[name], atol=2e-3, err_msg=str(name))


def test_bounds_are_kept_whatever_the_length_of_the_text(model: headscope.Model) -> None:
    result = study.run(model, read(TEXTS * 20), QUICK, words=30, occurrences=64)
    assert int(result["anisotropy_n_examples"]) == 30 and int(result["cls_similarity_n_examples"]) == 30
    assert int(result["self_similarity_n_examples"]) <= 64 // 5


def test_text_pairs_have_segments_and_texts_have_none(model: headscope.Model, result: xr.Dataset) -> None:
    paired = study.run(model, read(PAIRS * 3), QUICK)
    assert paired["segment_similarity"].notnull().all() and (paired["segment_similarity_n_examples"] > 0).all()
    assert "segment_similarity" not in result
    assert "Segments" in [finding.topic for finding in study_page(paired).findings()]


def test_another_model_is_aligned_and_itself_alike(model: headscope.Model, tmp_path_factory) -> None:
    folder = save_tiny(tmp_path_factory.mktemp("model"))
    result = study.run(model, read(TEXTS), QUICK, other=str(folder))
    np.testing.assert_allclose(result["model_alignment"], result["alignment"], atol=1e-4)
    tokenizer = tiny_tokenizer(8)
    short = save_tiny(tmp_path_factory.mktemp("short"), tiny_bert(), tokenizer)
    with pytest.raises(HeadscopeError, match="read other tokens of the same text; name models with the same tokenizer"):
        study.run(model, read(TEXTS), QUICK, other=str(short))


def test_a_planted_dimension_is_named(result: xr.Dataset) -> None:
    network = tiny_bert()
    with torch.no_grad():
        network.get_parameter("encoder.layer.1.output.LayerNorm.bias")[11] += 40
    planted = study.run(headscope.wrap(network, tiny_tokenizer()), read(TEXTS), QUICK).sel(layer=2)
    assert int(planted["top_dimension"].sel(dimension_rank=1)) == 12 and planted["outlier_dimensions"] == 1
    assert planted["anisotropy"] > 0.9 > result["anisotropy"].sel(layer=2)
    assert planted["anisotropy_without_top"] < 0.9


def test_a_text_of_one_token_is_refused(model: headscope.Model) -> None:
    with pytest.raises(HeadscopeError, match="has fewer than two tokens"):
        study.run(model, read(["cat"]), QUICK)


def test_the_page_speaks_of_random_tokens_first(result: xr.Dataset) -> None:
    page = study_page(result)
    topics = " ".join(finding.topic for finding in page.highlights())
    assert all(words in topics for words in ("unrelated tokens", "ontext", "A single dimension"))
    (table,) = page.tables()
    assert [row[0][0] for row in table.rows] == ["embeddings", "1", "2", "3"]
    names = [figure.name for figure in page.figures()]
    assert names[:2] == ["anisotropy", "intra_sentence_corrected"] and "alignment" in names
