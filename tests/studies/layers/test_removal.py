"""Removal of a property: exact in closed form, harmful where the model uses it, and no claim where it does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from sklearn.linear_model import LogisticRegression
from transformers import BertForMaskedLM, GPT2LMHeadModel

import headscope
from headscope import Settings
from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.models.prediction_heads import is_causal
from headscope.report.study_page import study_page
from headscope.studies.layers.layers import study
from headscope.studies.layers.layers.erasers import whitening
from headscope.studies.layers.layers.measure import UnitDraws
from headscope.studies.layers.layers.removal import word_losses
from headscope.studies.layers.layers.texts import Texts
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

CLASSES = {
    "NOUN": ["bank", "bird", "book", "cat", "child", "dog", "door", "garden"],
    "VERB": ["came", "ran", "saw", "sat", "said", "walked"],
}
QUICK: dict[str, Any] = {"penalties": "100", "random": False, "codes": False, "mix": False, "predicted": 300}


def sentences(seed: int = 0, number: int = 150) -> list[Sentence]:
    """Sentences whose words are all of one class."""
    random, texts = np.random.default_rng(seed), []
    for _ in range(number):
        tag = str(random.choice(list(CLASSES)))
        words = random.choice(CLASSES[tag], 6)
        ends = np.cumsum([len(word) + 1 for word in words]) - 1
        spans = tuple((int(end) - len(word), int(end)) for word, end in zip(words, ends, strict=True))
        texts.append(Sentence(" ".join(words), spans, upos=(tag,) * len(words)))
    return texts


def corpus(texts: list[Sentence], seed: int = 0) -> Corpus:
    examples = [Example(str(number), (text,)) for number, text in enumerate(texts)]
    return Corpus("planted", f"planted-{seed}", len(examples), {}, lambda: iter(examples))


def planted() -> headscope.Model:
    """A decoder that predicts words of the class of the last one: its layers add nothing, its head reads the class."""
    tokenizer = tiny_tokenizer()
    network: Any = tiny_gpt2(kind=GPT2LMHeadModel)
    with torch.no_grad():
        for block in network.transformer.h:
            for part in (block.attn.c_proj, block.mlp.c_proj):
                part.weight.zero_()
                part.bias.zero_()
        network.transformer.wpe.weight.zero_()
        for sign, words in zip((1, -1), CLASSES.values(), strict=True):
            network.transformer.wte.weight[[tokenizer.get_vocab()[word] for word in words], 0] = 2.0 * sign
    return headscope.wrap(network, tokenizer)


def test_nothing_linear_is_left_and_nothing_else_is_lost() -> None:
    """After LEACE states and answers do not covary; a property in one direction takes that direction alone."""
    random = np.random.default_rng(0)
    answers, states = random.integers(0, 3, 400), random.standard_normal((400, 6)) * [5, 1, 1, 0.2, 1, 1]
    states[:, 0] += 4 * answers
    states[:, 3] += answers == 1
    eraser = whitening(states).property(answers)
    assert eraser.rank == 2
    erased = eraser(torch.tensor(states)).numpy()
    for answer in range(3):
        assert np.corrcoef(erased.T, answers == answer)[-1, :-1] == pytest.approx(0, abs=1e-4)
    before, after = (LogisticRegression().fit(some, answers).score(some, answers) for some in (states, erased))
    assert before > 0.7 and after < 0.45
    assert np.linalg.matrix_rank(np.cov(erased.T), tol=1e-4) == 4
    # A naive reference: with the covariance as it is, the formula of theorem 4.3.
    scale = whitening(states)
    covariance = np.linalg.inv(scale.whiten @ scale.whiten.T)
    cross = (states - states.mean(0)).T @ np.eye(3)[answers]
    values, axes = np.linalg.eigh(covariance)
    whiten = (axes * values**-0.5) @ axes.T
    projection = np.linalg.pinv(whiten) @ (whiten @ cross) @ np.linalg.pinv(whiten @ cross) @ whiten
    covary = (states - (states - states.mean(0)) @ projection.T - states.mean(0)).T @ np.eye(3)[answers]
    assert covary == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("kind", [BertForMaskedLM, GPT2LMHeadModel])
def test_losses_are_those_of_the_whole_network_with_changed_states(kind: type) -> None:
    """A naive reference: each prediction alone, with hooks on the layers."""
    build: Any = tiny_bert if kind is BertForMaskedLM else tiny_gpt2
    network: Any = build(kind=kind)
    tokenizer = tiny_tokenizer()
    model = headscope.wrap(network, tokenizer)
    texts, some = Texts(), sentences(number=4)
    texts.order = {"report": [texts.add(sentence) for sentence in some]}
    words = word_losses(model, texts, 20, UnitDraws(texts.units, 0, 10), Settings())
    losses, width, random = list[float](), 24, np.random.default_rng(0)
    eraser = whitening(random.standard_normal((60, width))).property(np.arange(60) % 3)
    layers = network.bert.encoder.layer if kind is BertForMaskedLM else network.transformer.h
    end = network.bert if kind is BertForMaskedLM else network.transformer
    for space in range(len(layers) + 1):
        hooks, read_ids = [], list[Any]()
        special: list[Any] = [tokenizer.cls_token_id, tokenizer.sep_token_id]

        def erased(states: torch.Tensor, of: list[Any] = read_ids, special: list[Any] = special) -> torch.Tensor:
            return torch.where(torch.isin(of[0], torch.tensor(special))[..., None], states, eraser(states))

        if space == 0:
            hooks = [layers[0].register_forward_pre_hook(lambda _, given: (erased(given[0]), *given[1:]))]
        elif space < len(layers):
            hooks = [layers[space - 1].register_forward_hook(lambda _, given, output: erased(output))]
        else:

            def at_end(_: Any, given: Any, output: Any) -> Any:
                output["last_hidden_state"] = erased(output["last_hidden_state"])
                return output

            hooks = [end.register_forward_hook(at_end)]
        losses = []
        with torch.inference_mode():
            for part in words.texts.parts(model, 1):
                read_ids[:] = [torch.from_numpy(part.ids)]
                logits = network(torch.from_numpy(part.ids)).logits.log_softmax(-1)
                for read, target in zip(part.read, part.target, strict=True):
                    losses.append(-float(logits[part.row[read], part.token[read], target]))
        for hook in hooks:
            hook.remove()
        assert words.losses(space, eraser) == pytest.approx(losses, abs=1e-4)
    assert words.losses() != pytest.approx(losses, abs=1e-2)
    assert is_causal(model) == (kind is GPT2LMHeadModel) and words.texts.pieces >= 16


def removed(model: headscope.Model, texts: list[Sentence], seed: int = 0) -> xr.Dataset:
    settings = Settings(seed=seed, resamples=200)
    return study.run(
        model, (corpus(texts, seed),), settings, tasks="part_of_speech", remove="part_of_speech", cases=300, **QUICK
    )


def verdict(result: xr.Dataset) -> str:
    """The verdict on the use of the property."""
    (claim,) = (part.claim for part in study_page(result).highlights() if "part of speech" in part.topic and part.claim)
    return claim.verdict


def test_a_model_that_uses_the_class_of_a_word_is_found_out() -> None:
    result = removed(planted(), sentences())
    harm, random = result["removal_harm"][0], result["removal_harm_random"][:, 0]
    assert bool((harm > 0.3).all()) and bool((harm > random.max("draw") + 0.2).all())
    assert bool((result["removal_rank"] == 1).all())
    assert bool((result["removal_score_before"] > 0.9).all()) and bool((result["removal_score"] < 0.75).all())
    assert verdict(result) == "holds"


def test_what_no_model_uses_is_no_claim() -> None:
    """Classes at random: a removal is one of random directions."""
    verdicts = []
    for seed in range(6):
        random, texts = np.random.default_rng(seed), sentences(seed, 60)
        tags = [tuple(map(str, random.choice(list(CLASSES), len(text.words)))) for text in texts]
        texts = [replace(text, upos=of) for text, of in zip(texts, tags, strict=True)]
        verdicts.append(verdict(removed(planted(), texts, seed)))
    assert verdicts.count("holds") <= 1


def test_what_cannot_be_removed_is_refused() -> None:
    model = headscope.wrap(tiny_bert(kind=BertForMaskedLM), tiny_tokenizer())
    options: dict[str, Any] = {"tasks": "part_of_speech,sentence_length", "cases": 100, **QUICK}
    with pytest.raises(HeadscopeError, match=r"--remove sentence_length: .* use part_of_speech"):
        study.run(model, (headscope.read("sample"),), Settings(), remove="sentence_length", **options)
    with pytest.raises(HeadscopeError, match="without a head that predicts words"):
        other = headscope.wrap(tiny_bert(), tiny_tokenizer())
        study.run(other, (headscope.read("sample"),), Settings(), remove="part_of_speech", **options)
