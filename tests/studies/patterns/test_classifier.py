"""The shipped classifier on maps whose pattern is beyond doubt; padding and batches do not matter to it."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import WEIGHTS, Classifier, load
from headscope.studies.heads.patterns.grid import MOST_TOKENS, pool
from support.planted_maps import LEAST, SIZES, planted_maps


def classes_of(length: int) -> torch.Tensor:
    return torch.tensor([[0, *[3] * (length - 2), 1]])


def pattern_of(attention: np.ndarray) -> str:
    return PATTERNS[probabilities(attention).argmax()]


def probabilities(attention: np.ndarray) -> torch.Tensor:
    maps = torch.from_numpy(attention).float()[None, None]
    return load().classify(pool(maps, classes_of(attention.shape[-1]))[0])[0]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_planted_maps_of_all_sizes_are_told(pattern: str) -> None:
    found = [(length, pattern_of(attention)) for length, attention in planted_maps(pattern)]
    assert np.mean([one == pattern for _, one in found]) >= 0.95, [pair for pair in found if pair[1] != pattern]


@pytest.mark.parametrize("length", SIZES)
def test_even_attention_is_a_block_identity_a_diagonal_and_cls_a_column(length: int) -> None:
    assert pattern_of(np.full((length, length), 1 / length)) == "block"
    assert pattern_of(np.eye(length)) == "diagonal"
    assert pattern_of(np.eye(length)[np.zeros(length, int)]) == "vertical"


@pytest.mark.parametrize("length", [size for size in SIZES if size >= 16])
def test_squares_of_two_segments_are_blocks(length: int) -> None:
    for end in (length // 2, length // 3, 2 * length // 3):
        segment = np.arange(length) >= end
        same = segment[:, None] == segment
        assert pattern_of(same / same.sum(1, keepdims=True)) == "block"


@pytest.mark.parametrize("length", [size for size in SIZES if size >= 16])
def test_causal_maps(length: int) -> None:
    """Queries that see no later key: even attention is a block still, the first token a column."""
    even = np.tri(length) / np.arange(1, length + 1)[:, None]
    assert pattern_of(even) == "block"
    assert pattern_of(0.8 * np.eye(length)[np.zeros(length, int)] + 0.2 * even) == "vertical"
    assert pattern_of(np.eye(length, k=-1) + np.outer(np.eye(length)[0], np.eye(length)[0])) == "diagonal"


def test_neither_padding_nor_the_batch_matter() -> None:
    lengths = (4, 17, 32, 33, 60, 90)
    random = np.random.default_rng(0)
    attention = torch.zeros(len(lengths), 1, 100, 100)
    classes = torch.full((len(lengths), 100), -1)
    alone = []
    for number, length in enumerate(lengths):
        one = torch.from_numpy(random.dirichlet(np.full(length, 0.1), length)).float()
        attention[number, 0, :length, :length] = one
        attention[number, 0, length:, :length] = 1 / length
        classes[number, :length] = classes_of(length)
        alone.append(load().classify(pool(one[None, None], classes_of(length))[0]))
    together = load().classify(pool(attention, classes)[:, 0])
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=0)
    torch.testing.assert_close(together.sum(-1), torch.ones(len(lengths)))
    many = load().classify(pool(attention, classes)[:, 0].repeat(50, 1, 1, 1))
    torch.testing.assert_close(many, together.repeat(50, 1), atol=1e-5, rtol=0)


def test_fused_normalisations_change_nothing(tmp_path: Path) -> None:
    torch.manual_seed(0)
    classifier = Classifier().eval()
    for module in classifier.modules():
        if isinstance(module, torch.nn.BatchNorm2d | torch.nn.BatchNorm1d):
            module.get_buffer("running_mean").normal_()
            module.get_buffer("running_var").uniform_(0.5, 2)
    grids = pool(torch.rand(3, 2, 40, 40).softmax(-1), classes_of(40).expand(3, -1)).flatten(0, 1)
    before = classifier.classify(grids)
    torch.testing.assert_close(classifier.fused().classify(grids), before, atol=1e-5, rtol=0)


def test_the_shipped_weights_are_small_and_say_what_they_learnt_from() -> None:
    path = WEIGHTS
    assert path.stat().st_size < 1_200_000
    card = load().card
    assert len(card["texts"]) == len(set(card["texts"])) > 100
    assert {"seed", "recipe", "temperature", "cross_validation", "held_out"} <= set(card)


def test_a_file_that_is_no_classifier_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    with pytest.raises(HeadscopeError, match="is not a classifier of patterns"):
        load(path)
    for metadata in (None, {"card": "{"}, {"card": "{}"}):
        save_file({"weight": torch.zeros(2)}, path, metadata=metadata)
        with pytest.raises(HeadscopeError, match="is not a classifier of patterns"):
            load(path)
    path.write_bytes(b"\x80\x04not safetensors")
    with pytest.raises(HeadscopeError, match="is not a classifier of patterns"):
        load(path)


def test_planted_sizes_are_those_that_the_classifier_takes() -> None:
    assert (min(SIZES), max(SIZES)) == (4, MOST_TOKENS)
    assert set(LEAST) <= set(PATTERNS)


@pytest.mark.parametrize("length", [size for size in SIZES if size >= 8])
def test_a_column_and_a_diagonal_are_both_where_neither_is_a_trace(length: int) -> None:
    column, diagonal = np.eye(length)[np.zeros(length, int)], np.eye(length)
    expected = {0.01: "vertical", 0.4: "vertical_diagonal", 0.6: "vertical_diagonal", 0.99: "diagonal"}
    found = {share: pattern_of(0.95 * (share * diagonal + (1 - share) * column) + 0.05 / length) for share in expected}
    assert found == expected


@pytest.mark.parametrize("length", [size for size in SIZES if size >= 16])
def test_parallels_far_from_the_diagonal_are_heterogeneous(length: int) -> None:
    """Tokens that occur in both sentences attend to each other."""
    apart = abs(np.arange(length)[:, None] - np.arange(length))
    assert pattern_of(0.9 * (apart == length // 2) + 0.1 / length) == "heterogeneous"
