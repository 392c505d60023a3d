"""Attention to a token by how often the model itself predicts its piece."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import BertForMaskedLM, GPT2LMHeadModel

import headscope
from headscope import Corpus, Model, Settings
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.frequencies import Frequencies
from headscope.encoding.masking import IGNORED, masked
from headscope.linguistics.sentence import Example, Sentence
from headscope.measures import frequency_attention, predicted_attention, predicted_correlation
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.shards import Fold
from headscope.report.cards import Card
from headscope.report.study_page import study_page
from headscope.studies.heads.profile.frequencies import EVERY, asked_of
from headscope.testing.hand_made import looks_at, measured, tokens
from support import reference_frequency
from support.claim_texts import corpus, words
from support.made_heads import model_of
from support.planted import PIECES, looks_at_piece, planted
from support.reference_tokens import read_example
from support.tiny import randomised, save_tiny, tiny_bert, tiny_gpt2, tiny_tokenizer

QUICK = Settings(resamples=20)
OFTEN = "river"  # which the planted model predicts everywhere
TEXTS = ("the old cat saw the river .", "the cat saw the old garden .", "the old story was by the cat .")


def predicting(piece: str) -> Model:
    """A model with heads that look at "river" (1-1) and at "the" (1-2), which always predicts one piece."""
    encoder: Any = planted({(1, 1): looks_at_piece("river"), (1, 2): looks_at_piece("the")})
    network = BertForMaskedLM(encoder.config).eval()
    network.bert.load_state_dict(encoder.state_dict(), strict=False)
    with torch.no_grad():
        network.cls.predictions.bias.zero_()
        network.cls.predictions.bias[PIECES[piece]] = 100
    return headscope.wrap(network, tiny_tokenizer())


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    texts = corpus([Example(str(number), (Sentence(TEXTS[number % 3]),)) for number in range(60)])
    return headscope.profile(predicting(OFTEN), texts, QUICK, predicted_frequency=True, examples=0)


def test_the_piece_that_is_predicted_has_the_highest_class(result: xr.Dataset) -> None:
    # Of 19 counted tokens of three texts one is "river", the only one that is ever predicted, once in each text.
    assert result.attrs["predictions"] == 60
    nan = np.nan
    assert result["predicted_share"].values == pytest.approx([0, 0, 18 / 19, 0, 1 / 19])
    np.testing.assert_array_equal(result["predicted_least"], [nan, nan, 0, nan, 60])
    # "the" stands in all texts twice.
    assert result["frequency_least"].sel(frequency="most_frequent") == 120


def test_planted_heads_look_at_what_is_predicted_or_at_what_is_frequent(result: xr.Dataset) -> None:
    predicted, frequent = (result["predicted_attention"].sel(layer=1, head=head) for head in (1, 2))
    assert predicted.sel(frequency="most_frequent") == pytest.approx(9, abs=1e-4)  # all of the attention of 9 tokens
    assert frequent.sel(frequency="most_frequent") == pytest.approx(0, abs=1e-4)
    assert result["predicted_correlation"].sel(layer=1, head=1) == pytest.approx(1)
    assert (
        result["predicted_correlation"].sel(layer=1, head=2) < 0 < result["frequency_correlation"].sel(layer=1, head=2)
    )
    # Texts without "river" have no two numbers of predictions.
    assert result["predicted_correlation_n_examples"] == 20


def test_the_page_and_the_card_say_it(result: xr.Dataset) -> None:
    page = study_page(result)
    (text,) = [one.text for one in page.findings() if one.topic == "Pieces by how often the model predicts them"]
    assert "in 60 predictions: middle 1." in text and "most frequent (60 times or more)" in text
    assert "rank correlation" in text
    (said,) = [
        one.text
        for part in Card(model_of(result), 1, 1).parts
        for one in part.findings
        if one.topic == "Predicted frequency"
    ]
    assert "by how often the model predicts its piece" in said and "rank correlation 1.00" in said
    assert {"predicted_attention-by_layer", "predicted_correlation"} <= {figure.name for figure in page.figures()}


def test_a_model_without_a_head_says_so_in_one_line() -> None:
    lines: list[str] = []
    settings = replace(QUICK, on_notice=lines.append)
    model = headscope.wrap(planted({}), tiny_tokenizer())
    result = headscope.profile(model, words(0, 6), settings, predicted_frequency=True, examples=0)
    (line,) = lines
    lacking = "it is a BertModel, without a head that predicts words"
    assert f"predicted frequency is not measured: {lacking}" in line
    assert "predicted_attention" not in result and "frequency_attention" in result
    (said,) = [one.text for one in study_page(result).findings() if "predicts them" in one.topic]
    assert said.startswith(f"Not measured: {lacking}")


def test_a_model_that_predicts_no_word_has_no_classes() -> None:
    result = headscope.profile(predicting("."), words(0, 6), QUICK, predicted_frequency=True, examples=0)
    (said,) = [one.text for one in study_page(result).findings() if "predicts them" in one.topic]
    assert said.startswith("Not measured: in 9 predictions")


def test_the_head_is_loaded_with_a_model_that_is_named(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "words", tiny_bert(0, BertForMaskedLM))
    named = headscope.profile(str(folder), words(0, 12), QUICK, predicted_frequency=True, examples=0)
    with_head = headscope.profile(
        headscope.load(str(folder), head=True), words(0, 12), QUICK, predicted_frequency=True, examples=0
    )
    assert named["predicted_attention"].equals(with_head["predicted_attention"]) and named.attrs["predictions"] > 12


# A masked and a causal model, whose predictions differ from text to text.
MODELS: dict[str, Callable[[], Any]] = {
    "masked": lambda: randomised(tiny_bert(3, BertForMaskedLM)),
    "causal": lambda: randomised(tiny_gpt2(3, GPT2LMHeadModel)),
}


@pytest.mark.parametrize("kind", MODELS)
def test_the_numbers_are_those_of_naive_loops(kind: str) -> None:
    network, texts = MODELS[kind]().eval(), words(4, 40)
    model = headscope.wrap(network, tiny_tokenizer())
    result = headscope.profile(model, texts, QUICK, predicted_frequency=True, examples=0)
    examples = list(texts)
    counts = naive_predictions(model, examples)
    assert len(counts) > 3 and result.attrs["predictions"] == counts.total()
    network.set_attn_implementation("eager")
    read = [read_example(network, model.tokenizer, example) for example in examples]
    reference_frequency.count(read, counts)
    assert_means(result["predicted_attention"], [reference_frequency.attention(one) for one in read])
    assert_means(result["predicted_correlation"], [reference_frequency.correlation(one) for one in read])


def naive_predictions(model: Model, examples: list[Example]) -> Counter[int]:
    """How often each piece has the highest logit: one text at a time."""
    found, network = Counter[int](), model.network
    for encoded in Words(model.tokenizer, model.max_tokens).encode(examples):
        if model.tokenizer.mask_token_id is not None and isinstance(network, BertForMaskedLM):
            hidden, pieces = masked(encoded, model.tokenizer, 0)
            places = [token for token, piece in enumerate(pieces) if piece != IGNORED]
        else:
            special, ids = model.tokenizer.all_special_ids, encoded.inputs["input_ids"].tolist()
            known = [token for token in range(len(ids) - 1) if ids[token + 1] not in special]
            hidden, places = encoded, [at for number, at in enumerate(known) if number % 7 == encoded.index % 7]
        inputs = {name: torch.tensor(values)[None] for name, values in hidden.inputs.items()}
        with torch.inference_mode():
            logits = network(**inputs).logits[0]
        found.update(int(logits[token].argmax()) for token in places)
    return found


def assert_means(ours: xr.DataArray, values: list[np.ndarray]) -> None:
    """The mean over the examples that have a value, if any has."""
    kept, has = np.nan_to_num(values), ~np.isnan(values)
    mean = np.where(has.any(0), kept.sum(0) / np.maximum(has.sum(0), 1), np.nan)
    np.testing.assert_allclose(ours, mean, atol=1e-5)


def test_numbers_do_not_depend_on_batches_or_on_who_reads(six_in_a_shard: None) -> None:
    model, texts = headscope.wrap(MODELS["masked"](), tiny_tokenizer()), words(4, 30)
    expected = headscope.profile(model, texts, QUICK, predicted_frequency=True, examples=0)
    for settings in (replace(QUICK, batch_tokens=40), replace(QUICK, workers=2)):
        other = headscope.profile(model, texts, settings, predicted_frequency=True, examples=0)
        for name in ("predicted_share", "predicted_attention", "predicted_correlation"):
            np.testing.assert_allclose(other[name], expected[name], atol=1e-6, err_msg=name)


def test_what_is_asked_is_a_sample_of_each_input() -> None:
    causal = headscope.wrap(tiny_gpt2(0, GPT2LMHeadModel), tiny_tokenizer())
    (encoded,) = Words(causal.tokenizer, 64).encode([Example("1", (Sentence("the old man . " * 9),))])
    places = [asked_of(causal, 0)(replace(encoded, index=index)).places for index in range(EVERY)]
    # All tokens before one of the text, each once in seven inputs.
    assert sorted(np.concatenate(places)) == list(range(36))
    masks = asked_of(predicting(OFTEN), 0)(encoded)
    assert len(masks.places) == round(0.15 * 36)
    assert set(masks.encoded.inputs["input_ids"][masks.places]) == {PIECES["[MASK]"]}


def hand_made(predicted: list[int]) -> Encoded:
    text = tokens("coopos", counts=[-1, 5, 5, -1, 5, -1])
    return replace(text, predicted=np.array(predicted), predicted_class=np.minimum(predicted, 4))


def test_classes_and_ranks_are_those_of_predictions() -> None:
    # [CLS] a b . c [SEP]: a is never predicted, b once, c seven times; all look at c.
    text, maps = hand_made([-1, 0, 1, -1, 7, -1]), looks_at([4] * 6)
    found = measured(predicted_attention, [maps], [text])
    assert found.values[0, 0, [0, 1, 4]].tolist() == pytest.approx([0, 0, 6]) and found.valid[0].tolist() == [
        *(True, True, False, False, True)
    ]
    ranks = measured(predicted_correlation, [maps], [text])
    assert ranks.values[0, 0] == pytest.approx(np.sqrt(3) / 2)
    # The same text by the frequency of its pieces: all alike.
    assert measured(frequency_attention, [maps], [text]).values[0, 0, 4] == pytest.approx(2)


def test_without_predictions_nothing_is_valid() -> None:
    text, maps = tokens("coopos", counts=[-1, 5, 5, -1, 5, -1]), looks_at([4] * 6)
    assert not measured(predicted_attention, [maps], [text]).valid.any()
    assert not measured(predicted_correlation, [maps], [text]).valid.any()


def test_no_pass_goes_on_from_one_with_other_predictions() -> None:
    model = predicting(OFTEN)

    def fingerprint(counts: list[int] | None) -> dict[str, str | int]:
        standing = np.ones(len(counts or ()), int)
        predicted = Frequencies(np.array(counts), standing=standing) if counts else None
        made = Words(model.tokenizer, 64, predicted=predicted)
        texts: Corpus = words(0, 3)
        reader: PlannedPass = PlannedPass(model, texts, made, QUICK, Fold(Nothing, int.__add__, int))
        return dict(reader.fingerprint())

    assert fingerprint([1, 2]) == fingerprint([1, 2]) != fingerprint([2, 1]) != fingerprint(None)


class Nothing:
    """Adds up nothing."""

    def add(self, group: list[Any]) -> None: ...

    def state(self) -> int:
        return 0
