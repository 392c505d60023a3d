"""Wordings that the model makes: what it fills, what is asked in them, and no gain where there is none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import BertForMaskedLM, GPT2LMHeadModel

import headscope
from headscope import Settings
from headscope.corpora.suites import ClozeItem, Suite
from headscope.corpora.suites.item import filled
from headscope.errors import HeadscopeError
from headscope.figures import with_interval
from headscope.outputs.words.predictor import WordPredictor
from headscope.studies.words.cloze import study
from headscope.studies.words.cloze.fact_variables import fact_variables
from headscope.studies.words.cloze.item_scores import ItemScores
from headscope.studies.words.cloze.mined_wordings import MARK, mined, with_mined_wordings
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

SUBJECTS = ("Ann River", "Tom", "Old Story", "cat")
TEMPLATE = "[X] is from the [Y] ."


def suite(template: str = TEMPLATE) -> Suite:
    items = []
    for number, subject in enumerate(SUBJECTS):
        context = template.replace("[Y]", "[MASK]").replace("[X]", subject)
        given = ClozeItem(f"P19-{number}", "P19", filled(context, "river"), (), "river")
        items.append(replace(given, subject=subject, fact=f"P19-{number}", template=template))
    return Suite("lama", "sha", tuple(items), {})


@pytest.fixture(scope="module")
def predictor() -> WordPredictor:
    return WordPredictor(headscope.wrap(tiny_bert(kind=BertForMaskedLM), tiny_tokenizer()))


@pytest.mark.parametrize("template", [TEMPLATE, "the [Y] was with [X] ."])
def test_wordings_are_those_that_a_naive_loop_fills(predictor: WordPredictor, template: str) -> None:
    """Each word of letters masked, with the object: whole words by their mean log-probability over subjects."""
    network: Any = predictor.model.network
    tokenizer: Any = predictor.model.tokenizer
    words, scores = template.split(" "), dict[str, float]()
    for index, word in enumerate(words):
        if not word.isalpha():
            continue
        total = torch.zeros(len(tokenizer), dtype=torch.float64)
        for subject in SUBJECTS:
            masked = [*words[:index], "[MASK]", *words[index + 1 :]]
            ids = tokenizer(" ".join(masked).replace("[Y]", "[MASK]").replace("[X]", subject), return_tensors="pt")
            masks = (ids["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
            at = masks[0] if index < words.index("[Y]") else masks[1]
            with torch.inference_mode():
                total += network(**ids).logits[0, at].double().log_softmax(-1) / len(SUBJECTS)
        for piece in total.argsort(descending=True)[:50].tolist():
            text = tokenizer.convert_ids_to_tokens(piece)
            if text.isalpha() and text != word:
                scores[" ".join([*words[:index], text, *words[index + 1 :]])] = float(total[piece])
    expected = sorted(scores, key=lambda wording: -scores[wording])[:7]
    assert mined(predictor, template, SUBJECTS, 7, Settings(batch_tokens=8)) == expected


def test_facts_are_asked_in_the_given_wording_and_in_mined_ones(predictor: WordPredictor) -> None:
    (together,) = with_mined_wordings(predictor, [suite()], 3, Settings())
    again = together.items[len(SUBJECTS) :]
    assert together.items[: len(SUBJECTS)] == suite().items and len(again) == 4 * len(SUBJECTS)
    assert {item.phenomenon for item in again} == {f"P19{MARK}"} and len({item.id for item in together.items}) == 20
    assert again[0].template == TEMPLATE and len({item.template for item in again}) == 4
    assert all(item.good.scored == "river" and item.subject in item.good.text for item in again)
    options: dict[str, Any] = {"random": False, "controls": False}
    made = study.run(predictor.model, (suite(),), Settings(resamples=20), paraphrase=3, **options)
    plain = study.run(predictor.model, (suite(),), Settings(resamples=20), **options)
    assert float(made["accuracy"].sel(phenomenon="P19")) == float(plain["accuracy"].sel(phenomenon="P19"))
    assert made["first_wording_gain"].notnull().values.tolist() == [False, True]
    assert "first_wording_gain" not in plain


def gain(right: np.ndarray) -> xr.DataArray:
    """The gain over the first wording, of facts [fact, wording] that are right or wrong."""
    facts, wordings = right.shape
    answer = filled("It is [MASK].", "old")
    items = [
        ClozeItem(f"{fact}-{name}", "P1", answer, (), "old", fact=str(fact), template=str(name))
        for fact in range(facts)
        for name in range(wordings)
    ]
    correct, none = right.flatten().astype(float), np.zeros(len(items), bool)
    good, rank = np.where(correct > 0, -1.0, -3.0), np.where(correct > 0, 1, 3)
    own = ItemScores(good, np.full(len(items), -2.0), rank, rank, 0, {}, {}, correct, correct, rank * 0 + 1)
    return with_interval(
        xr.Dataset(fact_variables(items, own, {}, none, none, Settings(resamples=200))), "first_wording_gain"
    )


def test_a_better_wording_gains_and_one_that_is_better_by_luck_does_not() -> None:
    """Of 30 suites whose ten mined wordings are right as often as the first, hardly one shows a gain."""
    random = np.random.default_rng(0)
    right = random.random((60, 4)) < [0.3, 0.3, 0.8, 0.3]
    planted = gain(right)
    assert float(planted[0]) == pytest.approx((right[::2, 2].astype(float) - right[::2, 0]).mean())
    assert float(planted["lower"][0]) > 0.1
    by_luck = [gain(random.random((60, 11)) < 0.4) for _ in range(30)]
    assert sum(float(array["lower"][0]) > 0 for array in by_luck) <= 2


def test_models_and_suites_without_wordings_are_refused(predictor: WordPredictor) -> None:
    causal = WordPredictor(headscope.wrap(tiny_gpt2(kind=GPT2LMHeadModel), tiny_tokenizer()))
    with pytest.raises(HeadscopeError, match="has no mask"):
        with_mined_wordings(causal, [suite()], 3, Settings())
    none = replace(suite(), items=tuple(replace(item, template="") for item in suite().items))
    with pytest.raises(HeadscopeError, match="name one such as lama"):
        with_mined_wordings(predictor, [none], 3, Settings())
