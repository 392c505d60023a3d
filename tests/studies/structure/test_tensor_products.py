"""Vectors that are tensor products of words and tree places are found to be; others are not."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Settings
from headscope.encoding.parsed_sentences import Parsed
from headscope.report.numbers import Numbers
from headscope.report.study_page import study_page
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score
from headscope.studies.layers.structure.page import products
from headscope.studies.layers.structure.tensor_products import (
    SCHEMES,
    DecomposedStates,
    TensorProducts,
    _fillers,
    _over_seeds,
    decompose,
    path,
    role_numbers,
    roles,
)
from headscope.studies.layers.structure.treebank_states import UNCONTEXTUAL, TreebankStates
from headscope.studies.layers.structure.variables import decomposed_variables
from support.planted_trees import TREEBANK
from support.runs import structure as run
from support.tiers import in_turn
from support.tiny import tiny_bert, tiny_tokenizer

CPU, WIDTH, FORMS = torch.device("cpu"), 12, 9
# The places of words in a tree, and of words from the left and from the right.
PLANTED = {"tree": lambda heads, word: path(heads, word), "left_to_right": lambda heads, word: word}


def random_tree(words: int, random: np.random.Generator) -> np.ndarray:
    order = random.permutation(words)
    heads = np.zeros(words, int)
    for index in range(1, words):
        heads[order[index]] = order[random.integers(0, index)] + 1
    return heads


def sentence(number: int, random: np.random.Generator) -> Parsed:
    """A sentence of random words with a random tree."""
    words = int(random.integers(4, 9))
    heads = random_tree(words, random)
    forms = tuple(f"w{form}" for form in random.integers(0, FORMS, words))
    kinds = np.where(heads == 0, "root", "dep")
    return Parsed(number, 0, number, np.arange(words), forms, heads, kinds, ((1,),) * words)


def treebank(scheme: str, sentences: int, first: int, shuffled: bool = False) -> TreebankStates:
    """Sentences whose states are a form's vector times the matrix of the word's place; embeddings are the form's.

    * `shuffled`: the trees are others than those of the places.
    """
    fixed = np.random.default_rng(0)
    embedding, of_role = {}, {}
    made, arrays = [], []
    random = np.random.default_rng(first + 1)
    for number in range(sentences):
        one = sentence(first + number, random)
        words = [embedding.setdefault(f"w{form}", fixed.normal(size=WIDTH)) for form in range(FORMS)]
        own = np.stack([words[int(form[1:])] for form in one.forms])
        states = []
        for at in range(len(one)):
            role = PLANTED[scheme](one.heads, at)
            seed = abs(hash_of(role))
            of_role.setdefault(role, np.random.default_rng(seed).normal(size=(WIDTH, WIDTH)))
            states.append(own[at] @ of_role[role])
        layers = np.stack([own, np.stack(states), own, own])  # two layers, then the embeddings and their decay
        made.append(replace(one, heads=random_tree(len(one), random)) if shuffled else one)
        arrays.append(torch.from_numpy(layers.astype(np.float32)))
    return TreebankStates(made, arrays)


def hash_of(role: Any) -> int:
    return int.from_bytes(str(role).encode(), "big") % 2**31


def decomposed(scheme: str, shuffled: bool = False, first: int = 0) -> DecomposedStates:
    train, test = treebank(scheme, 120, first, shuffled), treebank(scheme, 80, first + 120, shuffled)
    return decompose(train, test, poisson_draws(range(80), first, 50), first, CPU)


def verdict(found: DecomposedStates) -> str | None:
    """Of the claim that the states of the second layer hold the places of the tree."""
    return products(Numbers(xr.Dataset(decomposed_variables(found), attrs={"chosen_layer": 2}))).verdict


@pytest.fixture(scope="module", params=in_turn(PLANTED))
def planted(request: pytest.FixtureRequest) -> tuple[str, DecomposedStates]:
    return request.param, decomposed(request.param)


def test_the_planted_places_leave_the_least_error(planted: tuple[str, DecomposedStates]) -> None:
    scheme, found = planted
    errors = {name: float(score.mean[1]) for name, score in found.error.items()}
    rest = [error for name, error in errors.items() if name not in (scheme, "bidirectional")]
    assert errors[scheme] < 0.7 * min(rest), errors
    assert found.error[scheme].interval[1, 1] < min(rest)


def test_the_claim_holds_where_the_places_of_the_tree_are_planted(planted: tuple[str, DecomposedStates]) -> None:
    scheme, found = planted
    assert verdict(found) == ("holds" if scheme == "tree" else "fails")


def test_no_claim_holds_of_trees_that_are_not_those_of_the_states() -> None:
    assert verdict(decomposed("tree", shuffled=True)) != "holds"


def test_a_sum_of_words_needs_no_places(planted: tuple[str, DecomposedStates]) -> None:
    _, found = planted
    assert all(score.mean[0] < 0.02 for score in found.error.values())


def test_schemes_differ_in_parameters_by_their_roles_alone(planted: tuple[str, DecomposedStates]) -> None:
    _, found = planted
    of_roles = {scheme: found.parameters[scheme] - 10 * found.roles[scheme] for scheme in SCHEMES}
    assert len(set(of_roles.values())) == 1 and found.roles["tree"] == found.roles["shuffled_tree"]


def test_roles_of_a_sentence() -> None:
    heads = np.array([2, 0, 4, 2])
    one = Parsed(0, 0, 0, np.arange(4), ("a", "b", "c", "d"), heads, np.array(["x"] * 4), ((1,),) * 4)
    found = {scheme: roles(one, scheme, np.random.default_rng(0)) for scheme in SCHEMES}
    assert found["bag_of_words"] == [0] * 4 and found["left_to_right"] == [0, 1, 2, 3]
    assert found["right_to_left"] == [3, 2, 1, 0] and found["bidirectional"] == [(0, 3), (1, 2), (2, 1), (3, 0)]
    assert found["tree"] == ["L", "", "RL", "R"]
    assert sorted(map(str, found["shuffled_tree"])) == sorted(map(str, found["tree"])) != found["tree"]
    assert path(np.array([0, *range(1, 12)]), 11) == "R" * 6


def test_products_equal_a_loop_over_words() -> None:
    random = torch.Generator().manual_seed(0)
    model = TensorProducts(2, 3, 4, 5, 0).double()
    fillers, role_ids = torch.randn(2, 6, 3, generator=random).double(), torch.randint(0, 4, (2, 6), generator=random)
    real = torch.arange(6) < torch.tensor([[6], [4]])
    given = model(fillers, role_ids, real)
    for space in range(2):
        for row, words in enumerate((6, 4)):
            product = torch.zeros(20, 10).double()
            for word in range(words):
                filler = fillers[row, word] @ model.filler[space]
                product += torch.outer(filler, model.role[space, role_ids[row, word]]) / words
            expected = product.flatten() @ model.out[space] + model.bias[space, 0]
            torch.testing.assert_close(given[space, row], expected)


def test_rare_roles_share_a_number() -> None:
    assert role_numbers([["a"] * 4 + ["b"] * 5]) == {"b": 1}


def test_several_trainings_widen_the_interval() -> None:
    scores = [Score(np.array([mean]), np.full((400, 1), mean), 9) for mean in (0.3, 0.4, 0.5)]
    lower, upper = _over_seeds(scores, np.random.default_rng(0)).interval[0]
    assert lower < 0.4 - 3 * 0.1 / 3**0.5 and upper > 0.4 + 3 * 0.1 / 3**0.5


def test_signs_of_axes_are_not_left_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    eigh, vectors = torch.linalg.eigh, []
    for sign in (1, -1):
        monkeypatch.setattr(torch.linalg, "eigh", lambda matrix, s=sign: (eigh(matrix)[0], s * eigh(matrix)[1]))
        vectors.append(_fillers([treebank("tree", 20, 0)]))
    for one, other in zip(*vectors, strict=True):
        torch.testing.assert_close(one, other)


def test_few_forms_on_few_of_many_axes_have_fillers() -> None:
    """In single precision LAPACK does not find the axes of so sparse a matrix."""
    axes = [37, 109, 120, 129, 140, 142, 158, 159, 163, 164, 165, 194, 200]
    array = torch.zeros(1 + len(UNCONTEXTUAL), len(axes), 256)
    array[:, range(len(axes)), axes] = 1
    part: Any = SimpleNamespace(sentences=[SimpleNamespace(forms=tuple(map(str, axes)))], arrays=[array])
    (vectors,) = _fillers([part])
    assert vectors.dtype == torch.float32 and vectors.isfinite().all() and len(vectors.unique(dim=0)) == len(axes)


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    model = headscope.wrap(tiny_bert(num_hidden_layers=2), tiny_tokenizer())
    options: dict[str, Any] = {"rank": "4", "epochs": 1, "random": False, "tensor_products": True}
    return run(model, TREEBANK, Settings(resamples=20), training=TREEBANK, **options)


def test_the_study_has_errors_gain_and_a_claim(result: xr.Dataset) -> None:
    error = result["tensor_product_error"]
    assert error.dims == ("role_scheme", "layer") and np.isfinite(error).all()
    gain = error.sel(role_scheme="shuffled_tree", drop=True) - error.sel(role_scheme="tree", drop=True)
    np.testing.assert_allclose(result["tree_roles_gain"], gain)
    page = study_page(result)
    assert "tensor-products" in {figure.name for figure in page.figures()} & {table.name for table in page.tables()}


@pytest.mark.parametrize(
    ("gain", "half", "left", "title"),
    [
        (0.1, 0.02, 0.5, "Sentence vectors hold where words stand in the tree"),
        (0.0, 0.005, 0.5, "Shuffled trees, or places from an end, describe sentence vectors as well"),
        (0.02, 0.05, 0.5, "It cannot be told whether sentence vectors hold where words stand in the tree"),
        (0.1, 0.02, -0.1, "Shuffled trees, or places from an end, describe sentence vectors as well"),
    ],
)
def test_the_claim_has_a_title_for_each_verdict(
    result: xr.Dataset, gain: float, half: float, left: float, title: str
) -> None:
    result = result.copy(deep=True)
    for scheme, error in (("tree", 0.4), ("left_to_right", 0.4 + left), ("right_to_left", 0.9)):
        result["tensor_product_error"].loc[scheme] = error
        result["tensor_product_error_ci"].loc[scheme] = np.array([error - 0.01, error + 0.01])
    result["tree_roles_gain"][:] = gain
    result["tree_roles_gain_ci"][:] = np.array([gain - half, gain + half])
    assert title in {finding.topic for finding in study_page(result).highlights()}
