"""`compare` against a naive reading of the definitions, on planted changes, and what it refuses."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import CONFIG_MAPPING, BertForSequenceClassification, PreTrainedModel

import headscope
from headscope import Corpus, HeadscopeError, Model, Settings
from headscope.corpora import read
from headscope.linguistics.sentence import Example, Sentence, segment_text
from headscope.measures import SURFACE
from headscope.studies.training.compare import study
from support.planted import looks_at_piece, planted
from support.planted_task import planted_classifier, planted_task
from support.reference_pairs import compared, padded_cosine
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer
from support.trained import tokenizer_of

TOLERANCE = 1e-5
QUICK = Settings(resamples=20, batch_tokens=300)
SHORT = 60  # fits into the tiny models
FAMILIES: dict[str, dict[str, Any]] = {
    "bert": {"num_attention_heads": 4},
    "deberta-v2": {"num_attention_heads": 4, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "gpt2": {"n_head": 4, "n_layer": 2, "n_positions": 80},
}


def some(number: int, longest: int = 1000) -> Corpus:
    """Examples from everywhere in the sample, of up to so many characters."""
    examples = [
        example for example in read("sample") if sum(len(segment_text(part)) for part in example.segments) <= longest
    ]
    chosen = examples[:: len(examples) // number][:number]
    return Corpus("sample", "0" * 64, number, {}, partial(iter, chosen))


def family(kind: str, seed: int, pieces: str = "deberta-v2") -> tuple[Model, PreTrainedModel]:
    """A tiny model of a type, and the same once more as transformers has it."""
    tokenizer = tokenizer_of(pieces)
    common: dict[str, Any] = {"vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2}
    common |= {"intermediate_size": 48, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = CONFIG_MAPPING[kind](**(common | FAMILIES[kind]))
    config._attn_implementation = "eager"
    model, plain = (tiny_network(config, seed) for _ in range(2))
    return headscope.wrap(model, tokenizer, f"{kind} {seed}"), plain


@pytest.mark.parametrize("kinds", [("bert", "bert"), ("deberta-v2", "bert"), ("bert", "gpt2"), ("gpt2", "gpt2")])
def test_comparisons_are_what_the_definitions_say(kinds: tuple[str, str]) -> None:
    pieces = "gpt2" if set(kinds) == {"gpt2"} else "deberta-v2"
    (one, plain), (other, plain_other) = (family(kind, seed, pieces) for seed, kind in enumerate(kinds))
    corpus = some(12)
    result = study.run((one, other), corpus, QUICK)
    expected = compared((plain, plain_other), (one.tokenizer, other.tokenizer), corpus)
    for name, values in expected.items():
        assert result[name].dims == ("model", "layer", "head")
        np.testing.assert_allclose(result[name].values[0], values, atol=TOLERANCE, err_msg=name)
        np.testing.assert_allclose(result[f"layer_{name}"].values[0], values.mean(-1), atol=TOLERANCE, err_msg=name)


def test_as_coded_is_the_cosine_of_padded_maps() -> None:
    tokenizer = tiny_tokenizer(max_tokens=256)
    networks = [tiny_bert(seed, max_position_embeddings=256) for seed in (0, 1)]
    plain: list[Any] = [tiny_bert(seed, max_position_embeddings=256, attn_implementation="eager") for seed in (0, 1)]
    models = tuple(headscope.wrap(network, tokenizer, f"seed {seed}") for seed, network in enumerate(networks))
    long = Example("long", (Sentence("a cat " * 120),))
    corpus = Corpus("made", "", 9, {}, partial(iter, [*some(8), long]))
    result = study.run(models, corpus, QUICK, as_coded=True)
    expected = padded_cosine((plain[0], plain[1]), models[0].tokenizer, some(8), 200)
    np.testing.assert_allclose(result["padded_similarity"].values[0], expected, atol=TOLERANCE)
    assert json.loads(result.attrs["skipped"]) == {"long": 1} and result.attrs["n_examples"] == 8
    assert abs(result["padded_similarity"] - result["similarity"]).max() > 0.01
    without = study.run(models, some(8), QUICK)
    assert "padded_similarity" not in without
    np.testing.assert_allclose(without["similarity"], result["similarity"], atol=1e-5)
    np.testing.assert_allclose(without["difference_entropy"], result["difference_entropy"], atol=1e-5)


CHANGED = (2, 3)


@pytest.fixture(scope="module")
def planted_change() -> xr.Dataset:
    """Every sentence has one bird and 8 tokens; the later model has a head that looks at it."""
    texts = ("the cat saw the bird.", "a bird was in town.", "the bird, not old.")
    corpus = Corpus("birds", "", 3, {}, partial(iter, [Example(text, (Sentence(text),)) for text in texts]))
    networks = (planted({}), planted({CHANGED: looks_at_piece("bird")}), planted({}))
    models = tuple(
        headscope.wrap(network, tiny_tokenizer(), name) for network, name in zip(networks, "abc", strict=True)
    )
    return study.run(models, corpus, Settings(resamples=10))


def test_a_planted_change_is_found_at_its_head_and_nowhere_else(planted_change: xr.Dataset) -> None:
    changed = planted_change.sel(model="b")
    labels = {"layer": CHANGED[0], "head": CHANGED[1]}
    assert float(changed["similarity"].sel(labels)) == pytest.approx(1 / sqrt(8), abs=1e-6)
    own, rest = (1 + 1 / 8) / 2, 1 / 16
    divergence = -own * log(own) - 7 * rest * log(rest) - log(8) / 2
    assert float(changed["js_divergence"].sel(labels)) == pytest.approx(divergence, abs=1e-6)
    assert float(changed["difference_entropy"].sel(labels)) == pytest.approx(-log(8), abs=1e-5)
    assert float(changed["layer_similarity"].sel(layer=2)) == pytest.approx((3 + 1 / sqrt(8)) / 4, abs=1e-6)
    assert float(changed["layer_similarity"].sel(layer=1)) == pytest.approx(1, abs=1e-6)
    elsewhere = np.ones((2, 4), dtype=bool)
    elsewhere[CHANGED[0] - 1, CHANGED[1] - 1] = False
    np.testing.assert_allclose(changed["similarity"].values[elsewhere], 1, atol=1e-5)
    np.testing.assert_allclose(changed["js_divergence"].values[elsewhere], 0, atol=1e-5)
    np.testing.assert_allclose(changed["difference_attention_to"].values[elsewhere], 0, atol=1e-5)


def test_a_model_that_did_not_change_has_no_change(planted_change: xr.Dataset) -> None:
    same = planted_change.sel(model="c")
    np.testing.assert_allclose(same["similarity"], 1, atol=1e-5)
    np.testing.assert_allclose(same["similarity_ci"], 1, atol=1e-5)
    np.testing.assert_allclose(same["js_divergence"], 0, atol=1e-5)


@pytest.fixture(scope="module")
def three() -> tuple[Model, ...]:
    head = BertForSequenceClassification
    networks = {"a": tiny_bert(0), "b": tiny_bert(1), "c": tiny_bert(2, kind=head, num_labels=3)}
    return tuple(headscope.wrap(network, tiny_tokenizer(), f"runs/{name}/model") for name, network in networks.items())


def test_differences_are_later_minus_first_of_every_profile_variable(three: tuple[Model, ...]) -> None:
    result = study.run(three, some(15, SHORT), QUICK)
    first, *later = [headscope.profile(model, some(15, SHORT), QUICK) for model in three]
    assert result["model"].values.tolist() == ["b/model", "c/model"]
    for name in SURFACE:
        for number, profile in enumerate(later):
            ours = result[f"difference_{name}"].isel(model=number)
            assert ours.dims == first[name].dims
            np.testing.assert_allclose(ours, profile[name] - first[name], atol=1e-5, err_msg=name)
            counts = result[f"difference_{name}_n_examples"].isel(model=number)
            np.testing.assert_array_equal(counts, profile[f"{name}_n_examples"])


def test_a_score_falls_once_the_layer_that_decides_is_restored() -> None:
    task = planted_task()
    first = headscope.wrap(planted({}), tiny_tokenizer(), "before")
    tuned = headscope.wrap(planted_classifier((2, 3)), tiny_tokenizer(), "after")
    progress: list[int] = []
    settings = Settings(resamples=200, on_progress=progress.append, on_total=lambda total: progress.append(-total))
    result = study.run((first, tuned), task.dev, settings, task=task, restore=2)
    assert result["restored_score"].dims == ("model", "restored", "metric")
    scores = result["restored_score"].sel(model="after", metric="accuracy")
    assert scores.values.tolist() == [1, 1, 0.5]
    assert result["restored_change"].sel(model="after", metric="accuracy").values.tolist() == [0, 0, -0.5]
    change = result["restored_change_ci"].sel(model="after", metric="accuracy")
    assert (change.sel(restored=[0, 1]) == 0).all()
    lower, upper = change.sel(restored=2).values
    assert -0.7 < lower < -0.5 < upper < -0.3
    assert int(result["restored_score_n_examples"]) == 40
    assert sum(progress) == 0 and progress[0] == -(40 + 3 * 40)
    again = study.run((first, tuned), task.dev, settings, task=task)
    assert again["restored_score"].sel(metric="accuracy").values.tolist() == [[1]]


@pytest.mark.parametrize("embeddings", [False, True])
def test_scores_of_restored_models_are_those_of_models_made_by_hand(embeddings: bool) -> None:
    task = replace(planted_task(n_dev=30), metrics=("cross_entropy", "accuracy"))
    kind = BertForSequenceClassification
    sizes: dict[str, Any] = {"kind": kind, "id2label": {0: "yes", 1: "no"}, "label2id": {"yes": 0, "no": 1}}
    tuned, first = (headscope.wrap(tiny_bert(seed, **sizes), tiny_tokenizer(), f"seed {seed}") for seed in (1, 0))
    result = study.run((first, tuned), task.dev, QUICK, task=task, restore=3, restore_embeddings=embeddings)
    found = result["restored_score"].sel(model="seed 1", metric="cross_entropy").values
    by_hand = []
    for restored in range(4):
        network: Any = tiny_bert(1, **sizes)
        source: Any = tiny_bert(0, **sizes)
        if restored and embeddings:
            network.bert.embeddings.load_state_dict(source.bert.embeddings.state_dict())
        for layer in range(restored):
            network.bert.encoder.layer[layer].load_state_dict(source.bert.encoder.layer[layer].state_dict())
        losses = []
        for example in task.dev:
            with torch.inference_mode():
                logits = network(**tiny_tokenizer()(example.first[0].text, return_tensors="pt")).logits
            losses.append(-float(logits.log_softmax(-1)[0, ("yes", "no").index(str(example.label))]))
        by_hand.append(np.mean(losses))
    assert len(set(np.round(by_hand, 4))) == 4
    np.testing.assert_allclose(found, by_hand, atol=TOLERANCE)
    np.testing.assert_allclose(result["restored_change"].sel(metric="cross_entropy")[0], found - found[0])
    wide = result["restored_change_ci"].sel(metric="cross_entropy").diff("bound")[0, :, 0].values
    assert wide[0] == 0 and (wide[1:] > 0).all()
    assert result.attrs["restored_embeddings"] == str(embeddings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restore": 1}, "restore needs a task; name it with --task NAME --data FOLDER"),
        ({"restore": 4, "task": planted_task(4)}, "restore 4 is more than the 3 layers of the models; use at most 3"),
        ({"task": planted_task(4)}, "model 'runs/b/model' has no task head"),
        ({"as_coded": True}, "model 'runs/a/model' has at most 64 tokens, the released code pads to 200"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_computed(
    three: tuple[Model, ...], options: dict[str, Any], message: str, never: Callable[[str], None]
) -> None:
    never("headscope.studies.training.compare.study.fold_pairs")
    with pytest.raises(HeadscopeError, match=message):
        study.run(three, some(4), QUICK, **options)


def test_a_head_for_another_task_is_refused(three: tuple[Model, ...]) -> None:
    with pytest.raises(HeadscopeError, match="has 3 outputs"):
        study.run((three[0], three[2]), some(4), QUICK, task=planted_task(4))
