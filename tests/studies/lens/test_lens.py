"""Predictions of each layer equal a slow reading through the head; layers that do nothing settle nothing."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import BertForMaskedLM, GPT2LMHeadModel

import headscope
from headscope import Settings
from headscope.errors import HeadscopeError
from headscope.outputs.words import few_tokens
from headscope.report.study_page import study_page
from headscope.report.wording import estimate
from headscope.studies.layers.lens import study
from headscope.studies.layers.lens.predictions import LayerPredictions, layer_predictions, settling
from headscope.studies.layers.lens.reading import AffineMap, fit_maps, layer_reader
from headscope.studies.layers.lens.study import mean_of_cases
from headscope.studies.layers.lens.texts import split_texts
from support.planted_words import causal_table
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

QUICK = Settings(resamples=20)
FEW: dict[str, Any] = {"predictions": 40, "map_predictions": 60}
SPREAD = {"masked": (tiny_bert, BertForMaskedLM), "causal": (tiny_gpt2, GPT2LMHeadModel)}


def model_of(kind: str, **config: Any) -> headscope.Model:
    make, head = SPREAD[kind]
    return headscope.wrap(make(0, head, **config), tiny_tokenizer())


@pytest.fixture(scope="module", params=SPREAD)
def model(request: pytest.FixtureRequest) -> headscope.Model:
    return model_of(request.param)


def slow_logits(model: headscope.Model, ids: torch.Tensor) -> list[torch.Tensor]:
    """The logits of each space at all tokens, by transformers' own hidden states and head."""
    network: Any = model.network
    with torch.inference_mode():
        *lower, last = network(ids, output_hidden_states=True).hidden_states
        if isinstance(network, BertForMaskedLM):
            return [network.cls(states) for states in (*lower, last)]
        # The last of them is normalised already.
        return [network.lm_head(states) for states in (*map(network.transformer.ln_f, lower), last)]


def test_predictions_equal_a_slow_loop(model: headscope.Model) -> None:
    reader, (_, texts) = layer_reader(model), split_texts(model, headscope.read("sample"), 30, 0)
    parts = list(texts.parts(model, 200))
    random = torch.Generator().manual_seed(0)
    width = model.network.config.hidden_size
    maps = [
        AffineMap(torch.randn(width, width, generator=random), torch.randn(width, generator=random))
        for _ in range(reader.spaces - 1)
    ]
    read, at = layer_predictions(reader, parts, maps), 0
    for part in parts:
        spaces = slow_logits(model, torch.from_numpy(part.ids))
        for number, target in zip(part.read, part.target, strict=True):
            row, token = part.row[number], part.token[number]
            final = spaces[-1][row, token].log_softmax(-1)
            for space, logits in enumerate(spaces):
                here = logits[row, token].log_softmax(-1)
                assert read.log_probability[0, space, at] == pytest.approx(float(here[target]), abs=1e-4)
                assert read.top[0, space, at] == int(here.argmax())
                assert read.top_probability[0, space, at] == pytest.approx(float(here.exp().max()), abs=1e-5)
                assert read.rank[0, space, at] == 1 + sum(float(one) > float(here[final.argmax()]) for one in here)
                divergence = sum(float(p.exp() * (p - q)) for p, q in zip(final, here, strict=True))
                assert read.divergence[0, space, at] == pytest.approx(divergence, abs=1e-4)
            at += 1
    assert at == len(read.target) >= 20
    assert (read.rank[:, -1] == 1).all() and (read.divergence[:, -1] == 0).all()
    assert not np.allclose(read.divergence[0, 0], read.divergence[1, 0])


def test_logits_of_few_tokens_at_a_time_say_the_same(model: headscope.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, (_, texts) = layer_reader(model), split_texts(model, headscope.read("sample"), 30, 0)
    at_once, tokens, done = layer_predictions(reader, texts.parts(model, 200), ()), list[int](), list[int]()
    head: Any = model.network.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _, args: tokens.append(args[0].shape[1]))
    monkeypatch.setattr(few_tokens, "CELLS", 3 * len(model.tokenizer))
    few = layer_predictions(reader, texts.parts(model, 200), (), done.append)
    hook.remove()
    assert max(tokens) == 3 and sum(done) == len(at_once.target) and max(done) <= 3
    np.testing.assert_allclose(few.log_probability, at_once.log_probability, atol=1e-5)
    assert (few.top == at_once.top).all() and (few.token == at_once.token).all() and (few.text == at_once.text).all()


def test_mapped_states_go_through_the_head(model: headscope.Model) -> None:
    reader, (_, texts) = layer_reader(model), split_texts(model, headscope.read("sample"), 12, 0)
    width = model.network.config.hidden_size
    same = [AffineMap(torch.eye(width), torch.zeros(width))] * (reader.spaces - 1)
    read = layer_predictions(reader, texts.parts(model, 200), same)
    np.testing.assert_allclose(read.log_probability[0], read.log_probability[1], atol=1e-6)


def test_layers_that_do_nothing_settle_nothing() -> None:
    model = model_of("masked", num_hidden_layers=4)
    network: Any = model.network
    with torch.no_grad():
        for layer in network.bert.encoder.layer:
            for norm in (layer.attention.output.LayerNorm, layer.output.LayerNorm):
                norm.weight.fill_(1)
                norm.bias.zero_()
        for layer in network.bert.encoder.layer[2:]:
            for dense in (layer.attention.output.dense, layer.output.dense):
                dense.weight.zero_()
                dense.bias.zero_()
    result = study.run(model, headscope.read("sample"), QUICK, **FEW).sel(lens="plain")
    assert (result["settled"].sel(space=[2, 3, 4]) == 1).all() and (result["settling_layer"] <= 2).all()
    assert (result["final_rank"].sel(space=2) == 1).all() and float(
        result["final_divergence"].sel(space=2).max()
    ) < 1e-4
    assert float(result["settled"].sel(space=0)) < 1


def test_settling_is_the_first_space_of_the_last_run() -> None:
    top = np.array([[3, 3, 1, 5], [5, 2, 1, 5], [5, 4, 1, 2], [5, 9, 1, 5]])
    assert settling(top).tolist() == [1, 3, 0, 3]


def test_maps_recover_affine_layers_and_need_no_full_rank() -> None:
    random = torch.Generator().manual_seed(0)
    states = torch.randn(200, 6, generator=random, dtype=torch.float64)
    weight = torch.randn(6, 6, generator=random, dtype=torch.float64)
    first, second = fit_maps(torch.stack([states, torch.zeros_like(states), states @ weight + 2]), [1e-10, 1.0])
    torch.testing.assert_close(first(states), states @ weight + 2, atol=1e-6, rtol=0)
    torch.testing.assert_close(second(states)[0], (states @ weight + 2).mean(0))
    (few,) = fit_maps(torch.stack([states[:3], states[:3]]))
    assert torch.isfinite(few.weight).all()


def test_a_map_has_the_weights_of_ridge_regression() -> None:
    random = np.random.default_rng(0)
    given, target = random.normal(size=(80, 4)), random.normal(size=(80, 4))
    (one,) = fit_maps(torch.from_numpy(np.stack([given, target])), [0.05])
    centred = given - given.mean(0)
    gram = centred.T @ centred
    expected = np.linalg.inv(gram + 0.05 * np.trace(gram) / 4 * np.eye(4)) @ centred.T @ (target - target.mean(0))
    np.testing.assert_allclose(one.weight.numpy(), expected, atol=1e-9)
    np.testing.assert_allclose(one(torch.from_numpy(given)).mean(0).numpy(), target.mean(0), atol=1e-9)


def test_cases_of_a_unit_are_resampled_together() -> None:
    cases = np.repeat([[0.0, 1.0]], 8, axis=1)[:, np.arange(16)]
    score = mean_of_cases(cases, np.repeat([0, 1], 8), 0, 300)
    assert set(np.unique(score.resampled[np.isfinite(score.resampled)].round(3))) >= {0.0, 0.5, 1.0}
    assert score.mean.tolist() == [0.5]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    suite = tmp_path_factory.mktemp("lens") / "gaps.jsonl"
    rows = [
        {"sentence": f"the {noun} [MASK] old", "answer": good, "alternatives": [bad]}
        | {"phenomenon": "verbs", "condition": condition}
        for noun, condition in (("cat", "0 attractors"), ("dog", "1 attractor"))
        for good, bad in (("was", "saw"), ("saw", "was"))
    ]
    rows.append({"good": "the cat was old", "bad": "the cat old was", "phenomenon": "order"})
    suite.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return study.run(model_of("masked"), headscope.read("sample"), QUICK, suite=str(suite), **FEW)


def test_items_are_won_or_lost_at_each_layer_by_condition(result: xr.Dataset) -> None:
    assert result["condition"].values.tolist() == ["all", "0 attractors", "1 attractor"]
    assert result["agreement_n_examples"].values.tolist() == [4, 2, 2]
    np.testing.assert_allclose(result["agreement"], 0.5)  # each pair of answers comes once in each order
    assert json.loads(result.attrs["suite_left_out"]) == {"no pair of single pieces in a gap": 1}


def test_page_has_predictions_items_and_limits(result: xr.Dataset) -> None:
    page = study_page(result)
    topics = [finding.topic for finding in (*page.highlights(), *page.findings())]
    assert {"Where predictions are settled", "Limits"} <= set(topics)
    assert any(topic.startswith("Items of") for topic in topics)
    assert {"final-first", "settled", "agreement-plain", "agreement-mapped"} <= {one.name for one in page.figures()}
    (table,) = page.tables()
    assert len(table.rows) == 2 * result.sizes["space"]
    (lens, _), cells = table.rows[1]
    assert cells[-1] == estimate(result, "final_divergence", lens=lens, space=1).cell(".2f")
    assert len(cells) == len(table.columns)
    assert "nan" not in " ".join(finding.text for finding in page.findings())


def test_a_single_example_is_drawn_with_its_settling_layer(result: xr.Dataset) -> None:
    pieces, chances = ["a", "b", "cat", "cat"], [0.1, 0.2, 0.5, 0.9]
    late = {"before": "the", "after": "sat", "answer": "cat", "settled": 2, "pieces": pieces, "probabilities": chances}
    figures = study_page(result.assign_attrs(examples=json.dumps([late]))).figures()
    (figure,) = (one for one in figures if one.name == "late")
    cells = figure.chart.data.values
    assert [(cell["text"], cell["frame"]) for cell in cells] == list(
        zip(pieces, [False, False, True, False], strict=True)
    )


def test_without_maps_there_is_one_lens() -> None:
    plain = study.run(model_of("causal"), headscope.read("sample"), QUICK, predictions=40, map_predictions=0)
    assert plain["lens"].values.tolist() == ["plain"] and plain.attrs["fitted"] == 0
    assert "Maps were" not in " ".join(finding.text for finding in study_page(plain).findings())


def test_texts_to_fit_and_to_report_are_apart(model: headscope.Model) -> None:
    fitted, reported = split_texts(model, headscope.read("sample"), 60, 0)
    assert not set(fitted.units.tolist()) & set(reported.units.tolist())
    assert reported.first(7).pieces <= 7 or len(reported.first(7).texts) == 1
    assert not fitted.first(0).texts


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="without a head that predicts words; train one"):
        study.run(headscope.wrap(tiny_bert(), tiny_tokenizer()), headscope.read("sample"), QUICK)
    model = model_of("masked")
    long = "the cat saw it " * model.max_tokens
    with pytest.raises(HeadscopeError, match=r"has no text with a piece to predict \(1 too long\); name a larger one"):
        study.run(model, headscope.read([long, long]), QUICK)
    (tmp_path / "pairs.jsonl").write_text('{"good": "the cat was", "bad": "the was cat", "phenomenon": "x"}\n')
    with pytest.raises(HeadscopeError, match="has no item whose two answers are single pieces in one gap"):
        study.run(model, headscope.read("sample"), QUICK, suite=str(tmp_path / "pairs.jsonl"))


def test_two_texts_are_enough_but_for_maps() -> None:
    notices = list[str]()
    settings = Settings(resamples=20, on_notice=notices.append)
    result = study.run(model_of("masked"), headscope.read(["the cat was old", "it saw the dog"]), settings)
    assert result.attrs["n_examples"] == 1 and np.isfinite(result["final_first"]).all()
    assert result["lens"].values.tolist() == ["plain"] and result.attrs["fitted"] == 0
    (line,) = notices
    said = "no mapped lens: 4 predictions of other texts are fewer"
    assert line.startswith(said) and line.endswith("name more text, or raise --map-predictions")
    assert said in study_page(result).findings()[-1].text


def test_lenses_are_cut(model: headscope.Model) -> None:
    arrays = {name: np.zeros((2, 3, 4)) for name in ("log_probability", "divergence", "rank", "top", "top_probability")}
    one = LayerPredictions(**arrays, target=np.zeros(4), text=np.zeros(4), token=np.zeros(4)).lenses(1)  # type: ignore[arg-type]
    assert one.rank.shape == (1, 3, 4) and one.target.shape == (4,)


def judged(result: xr.Dataset) -> dict[str, str | None]:
    return {finding.topic: finding.verdict for finding in study_page(result).highlights()}


def test_layers_are_compared_with_the_last_only_where_it_predicts_better_than_frequencies() -> None:
    """A table of pairs is read from the embeddings as well as from its only layer."""
    cycle: tuple[str, ...] = ("bank", "book", "bird", "cat", "bank")
    texts = headscope.read([" ".join(cycle[:4] * 2)] * 100)
    table = causal_table(dict.fromkeys(pairwise(("[CLS]", *cycle)), 9.0))
    known = study.run(table, texts, QUICK, map_predictions=0)
    assert float(known["right"].sel(lens="plain").min()) == 1 and 0.2 < float(known["right_most_frequent"]) < 0.4
    assert float(known["right_gain"]) == pytest.approx(1 - float(known["right_most_frequent"]))
    assert judged(known)["The last layer predicts 100% of the pieces"] == "holds"
    # that none of 20 texts differs leaves more than a point open
    assert any(verdict == "undecided" and "the layer before" in topic for topic, verdict in judged(known).items())
    nothing = study.run(causal_table({}), texts, QUICK, map_predictions=0)
    assert "fails" in judged(nothing).values()
    assert not any("as good" in topic for topic in judged(nothing))


def test_the_lowest_layer_that_is_as_good_is_found_from_the_top(result: xr.Dataset) -> None:
    change = xr.zeros_like(result["right_change"])
    bounds = xr.zeros_like(result["right_change_ci"])
    bounds.loc[{"space": 0}] = [-0.5, -0.3]
    change.loc[{"space": 0}] = -0.4
    sure = {"right": result["right"] * 0 + 0.5, "right_most_frequent": result["right_most_frequent"] * 0 + 0.1}
    sure |= {"right_gain": result["right_gain"] * 0 + 0.4, "right_gain_ci": result["right_gain_ci"] * 0 + 0.4}
    made = result.assign(sure | {"right_change": change, "right_change_ci": bounds})
    from_one = "From layer 1 on predictions are less than a point worse than those of the last layer"
    assert judged(made)[from_one] == "holds"
    bounds.loc[{"space": result.sizes["space"] - 2}] = [-0.5, -0.3]
    change.loc[{"space": result.sizes["space"] - 2}] = -0.4
    made = made.assign(right_change=change, right_change_ci=bounds)
    assert judged(made)["The last layer predicts better than the one before it"] == "fails"
