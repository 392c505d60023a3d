"""Effective attention: beside scipy's null space, and the output of a head, which is the same."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import null_space
from transformers import BertForSequenceClassification

from headscope import Settings, wrap
from headscope.corpora import read
from headscope.studies.words.attributions import study
from headscope.studies.words.attributions.maps import effective_correlation, effective_share, projected
from support.tiny import tiny_bert, tiny_tokenizer

ALL = torch.ones(1, 9, dtype=torch.bool)


def made(seed: int, rank: int, tokens: int = 9) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of one head, and values of a rank."""
    random = np.random.default_rng(seed)
    attention = random.dirichlet(np.ones(tokens), tokens)[None, None]
    vectors = random.standard_normal((tokens, rank)) @ random.standard_normal((rank, 5))
    return torch.from_numpy(attention), torch.from_numpy(vectors[None, None])


@given(st.integers(0, 1000), st.integers(0, 5))
def test_the_null_space_is_scipys_and_the_output_stays(seed: int, rank: int) -> None:
    attention, vectors = made(seed, rank)
    part = projected(attention, vectors)
    null = null_space(vectors[0, 0].numpy().T) if rank else np.eye(9)
    expected = attention[0, 0].numpy() - attention[0, 0].numpy() @ null @ null.T
    np.testing.assert_allclose(part[0, 0], expected, atol=1e-8)
    np.testing.assert_allclose(part @ vectors, attention @ vectors, atol=1e-8)


def test_share_and_correlation_equal_naive_loops() -> None:
    attention, vectors = made(0, 3)
    part = projected(attention, vectors)
    share = np.mean(
        [float((row**2).sum() / (own**2).sum()) for own, row in zip(attention[0, 0], part[0, 0], strict=True)]
    )
    np.testing.assert_allclose(effective_share(attention, part, ALL), [[share]], atol=1e-12)
    like = np.corrcoef(attention.flatten(), part.flatten())[0, 1]
    np.testing.assert_allclose(effective_correlation(attention, part, ALL), [[like]], atol=1e-12)


def test_padding_counts_for_nothing() -> None:
    attention, vectors = made(0, 3)
    real = ALL.clone()
    real[:, 7:] = False
    attention[..., 7:], vectors[..., 7:, :] = 0, 0
    part = projected(attention, vectors)
    short = projected(attention[..., :7, :7], vectors[..., :7, :])
    for measure in (effective_share, effective_correlation):
        np.testing.assert_allclose(
            measure(attention, part, real), measure(attention[..., :7, :7], short, real[:, :7]), atol=1e-12
        )


def test_only_inputs_longer_than_a_head_is_wide_count() -> None:
    model = wrap(tiny_bert(0, BertForSequenceClassification), tiny_tokenizer())
    width = model.projections[0].width
    texts = ["the cat", "the cat saw the bird by the old house and the man ran to the river with a dog"]
    lengths = [len(model.tokenizer(text)["input_ids"]) for text in texts]
    assert lengths[0] <= width < lengths[1]
    result = study.run(model, read(texts), Settings(resamples=20), scored=0, flow=0, altered=0)
    assert int(result["effective_share_n_examples"]) == 1
    assert 0 < float(result["effective_share"].min()) < float(result["effective_share"].max()) < 1
    short = study.run(model, read(texts[:1]), Settings(resamples=20), scored=0, flow=0, altered=0)
    assert bool(short["effective_share"].isnull().all())
