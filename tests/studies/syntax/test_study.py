"""Heads that point at the syntactic head are found, others are not; and the study as a whole against loops."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Corpus, Settings
from headscope.corpora import read
from headscope.linguistics.sentence import Example
from headscope.studies.heads.syntax import study
from support.made_inputs import corpus_of
from support.planted import looks_at_offset, looks_at_piece, looks_from_to, planted
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS, TREEBANK, parsed
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20, batch_tokens=200)
HEADS = {
    (1, 2): looks_from_to(DETERMINERS | SUBJECTS | ADJECTIVES),
    (2, 1): looks_from_to({noun: determiner for determiner, noun in DETERMINERS.items()}),
    (2, 3): looks_at_offset(1),
}


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted(HEADS), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return study.run(model, TREEBANK, QUICK)


def test_a_head_whose_words_look_at_their_heads_is_found(result: xr.Dataset) -> None:
    sharp = result["accuracy"].sel(layer=1, head=2, direction="dependent_to_head")
    assert (sharp.sel(relation=["all", "det", "amod", "nsubj"]) == 1).all()
    chosen = result.sel(relation=["all", "amod", "nsubj"])
    assert chosen["chosen_layer"].values.tolist() == [1] * 3 and chosen["chosen_head"].values.tolist() == [2] * 3
    assert (chosen["chosen_accuracy"] == 1).all() and (chosen["chosen_direction"] == "dependent_to_head").all()
    assert (chosen["chosen_gain"].sel(relation="all") > 0.1) and (
        chosen["chosen_gain_ci"].sel(relation="all") > 0
    ).all()


def test_a_head_whose_nouns_look_at_their_determiners_is_found(result: xr.Dataset) -> None:
    reverse = result["accuracy"].sel(layer=2, head=1)
    assert reverse.sel(relation="det", direction="head_to_dependent") == 1
    assert (reverse.sel(relation=["amod", "nsubj"], direction="head_to_dependent") < 1).all()


def test_a_head_of_the_next_token_is_the_offset_1(result: xr.Dataset) -> None:
    following = result["accuracy"].sel(layer=2, head=3, direction="dependent_to_head")
    for relation in ("det", "amod", "nsubj"):
        assert result["baseline_offset"].sel(relation=relation) == 1
        np.testing.assert_allclose(following.sel(relation=relation), result["baseline"].sel(relation=relation))


def test_all_other_heads_look_at_all_words_alike_and_are_not_special(result: xr.Dataset) -> None:
    others = result.sel(layer=1, head=[1, 3, 4])
    shares = [1 / (len(heads) - 1) for heads, _ in _words(TREEBANK)]
    for direction in ("dependent_to_head", "head_to_dependent"):
        np.testing.assert_allclose(
            others["accuracy"].sel(relation="all", direction=direction), np.mean(shares), rtol=1e-6
        )
    assert (others["special"] == 0).all() and (others["q_value"] > 0.05).all()
    assert result["special"].sel(layer=1, head=2, relation="all", direction="dependent_to_head") == 1


def test_a_head_that_points_at_one_position_is_not_special() -> None:
    """Each subject hangs on the first word, at six distances: of fixed words the first is always right."""
    texts = ["ran " + ", " * distance + "dog ." for distance in range(6)] * 20
    corpus = corpus_of([Example(str(number), (parsed(text),)) for number, text in enumerate(texts)])
    heads = {(1, 1): looks_at_piece("[CLS]"), (1, 2): looks_at_piece("[SEP]"), (1, 3): looks_at_offset(0)}
    network = planted(heads | {(2, 1): looks_at_piece("ran")})
    result = study.run(headscope.wrap(network, tiny_tokenizer()), corpus, QUICK)
    subjects = result.sel(relation="nsubj")
    assert subjects["baseline"] == 1 and subjects["baseline_position"] == 1 and subjects["baseline_offset"].isnull()
    assert subjects["chosen_position"] == 1 and subjects["chosen_gain"] == 0
    assert subjects["accuracy"].sel(layer=2, head=1, direction="dependent_to_head") == 1
    assert (result["special"] == 0).all()
    shares = np.mean([1 / (len(text.split()) - 1) for text in texts])
    for head in [(1, 1), (1, 2), (1, 3), (1, 4), (2, 4)]:
        accuracy = subjects["accuracy"].sel(layer=head[0], head=head[1])
        np.testing.assert_allclose(accuracy, shares, rtol=0.05, err_msg=str(head))  # planted scores are rounded


def _words(corpus: Corpus) -> list[tuple[tuple[int, ...], int]]:
    """The heads of the sentence and the place of each word that is neither root nor punctuation."""
    sentences = [sentence for example in corpus for sentence in example.first]
    return [
        (sentence.heads, number)
        for sentence in sentences
        for number, relation in enumerate(sentence.deprel)
        if relation not in ("punct", "root")
    ]


def test_numbers_of_words(result: xr.Dataset) -> None:
    assert result["accuracy_n_examples"].sel(relation="all") == len(_words(TREEBANK))
    assert result["accuracy_n_examples"].attrs["units"] == "words"
    assert result.attrs["n_words"] == sum(example.n_words for example in TREEBANK)
    assert "root" not in result["relation"] and "punct" in result["relation"]


def test_no_document_is_in_both_halves(model: headscope.Model) -> None:
    names = "a" + 2 * "b" + 4 * "c" + 8 * "d" + 45 * "e"
    named = [
        Example(example.id, tuple(replace(sentence, document=name) for sentence in example.first))
        for example, name in zip(TREEBANK, names, strict=True)
    ]
    result = study.run(model, replace(corpus_of(named), n_documents=5), QUICK)
    words = [len(_words(corpus_of([example for example in named if example.document == name]))) for name in "abcde"]
    held_out = int(result["chosen_accuracy_n_examples"].sel(relation="all"))
    assert held_out in {sum(two) for two in combinations(words, 2)}


def test_as_coded_all_has_punctuation_and_roots_and_the_best_is_chosen_on_everything(model: headscope.Model) -> None:
    result = study.run(model, TREEBANK, QUICK, as_coded=True)
    words = sum(example.n_words for example in TREEBANK)
    assert result["accuracy_n_examples"].sel(relation="all") == words
    assert result["chosen_accuracy_n_examples"].sel(relation="all") == words
    best = result["accuracy"].max(["layer", "head", "direction"])
    np.testing.assert_allclose(result["chosen_accuracy"], best)
    right = result["accuracy"].sel(layer=1, head=2, direction="dependent_to_head", relation="all")
    assert float(right) < 1  # roots are errors


def naive_accuracy(example: Example, maps: np.ndarray) -> dict[str, tuple[np.ndarray, int]]:
    """For each relation how many words each head of each layer gets right [layer, head], and how many there are."""
    (sentence,) = example.first
    tokenizer = tiny_tokenizer()
    offsets = tokenizer(sentence.text, return_offsets_mapping=True)["offset_mapping"]
    tokens = [
        [token for token, (start, end) in enumerate(offsets) if max(start, first) < min(end, last)]
        for first, last in sentence.words
    ]
    between = np.stack([maps[:, :, its].mean(2) for its in tokens], axis=2)
    between = np.stack([between[..., its].sum(-1) for its in tokens], axis=3)
    for word in range(len(tokens)):
        between[:, :, word, word] = -1
    found: dict[str, tuple[np.ndarray, int]] = {}
    for word, (head, relation) in enumerate(zip(sentence.heads, sentence.deprel, strict=True)):
        if head:
            right, count = found.get(name := relation.partition(":")[0], (np.zeros(maps.shape[:2]), 0))
            found[name] = (right + (between[:, :, word].argmax(-1) == head - 1), count + 1)
    return found


def test_the_study_of_a_random_model_is_what_loops_over_eager_maps_find() -> None:
    sample = [example for example in read("sample") if len(example.sentences) == 1 and example.first[0].heads][:25]
    network, tokenizer = tiny_bert(), tiny_tokenizer()
    network.set_attn_implementation("eager")
    sums: dict[str, list] = {}
    for example in sample:
        ids = torch.tensor([tokenizer(example.first[0].text)["input_ids"]])
        if ids.shape[1] <= 64:
            with torch.inference_mode():
                attentions = network(input_ids=ids, output_attentions=True).attentions
            for relation, part in naive_accuracy(example, torch.cat(attentions).double().numpy()).items():
                sums.setdefault(relation, []).append(part)
    result = study.run(headscope.wrap(tiny_bert(), tokenizer), corpus_of(sample), QUICK)
    assert set(sums) | {"all"} == set(result["relation"].values)
    for relation, parts in sums.items():
        right, count = (sum(column) for column in zip(*parts, strict=True))
        found = result["accuracy"].sel(relation=relation, direction="dependent_to_head")
        assert result["accuracy_n_examples"].sel(relation=relation) == count
        np.testing.assert_allclose(found, right / count, err_msg=relation)
