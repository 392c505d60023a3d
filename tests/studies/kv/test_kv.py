"""The study of KV heads: losses, planted tokens, the plan and its files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr
from torch.nn.functional import cross_entropy
from transformers import AutoModel, BertForMaskedLM

import headscope
from headscope import HeadscopeError, Settings
from headscope.passes.settings import PassJournal
from headscope.report.study_page import study_page
from headscope.studies.size.kv.forgetting import KeptKeys, exact_way, key_heads
from headscope.studies.size.kv.plan import BYTES, cache
from headscope.studies.size.kv.reading import Reader
from headscope.studies.size.kv.texts import NEEDLE, long_texts, planted
from headscope.studies.size.kv.variables import HalvedTexts
from studies.kv.test_forgetting import decoder
from support import far_past
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=100)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, Path]:
    """The study of the decoder with one head that needs the far past, and its folder."""
    folder, model = tmp_path_factory.mktemp("kv"), headscope.wrap(far_past.network(), tiny_tokenizer())
    return headscope.kv(model, far_past.topics(0, 24), QUICK, directory=folder, sinks=1, window=8), folder


def test_the_plan_keeps_the_one_head_that_needs_the_far_past(found: tuple[xr.Dataset, Path]) -> None:
    result, _ = found
    rise = result["loss_rise"].values
    assert (result["forgets"].values == [[1, 1], [0, 1]]).all()
    assert rise[1, 0] > 0.2 and np.delete(rise.ravel(), 2) == pytest.approx(0, abs=1e-6)
    assert result["plan_rise_ci"].values == pytest.approx(0, abs=1e-6)
    assert result["far_attention"].values[1, 0] > result["far_attention"].values[0, 0]
    first = study_page(result).findings()[0]
    assert (first.topic, first.verdict) == ("3 of 4 KV heads may forget within 0.02 nats", "holds")


def test_the_plan_is_written_as_duo_attention_reads_it(found: tuple[xr.Dataset, Path]) -> None:
    result, folder = found
    full = np.loadtxt(folder / "duo_attention" / "full_attention_heads.tsv", dtype=float, delimiter="\t")
    assert (full == 1 - result["forgets"].values).all()
    assert json.loads((folder / "duo_attention" / "config.json").read_text()) == {"sink_size": 1, "recent_size": 8}
    plan = json.loads((folder / "plan.json").read_text())
    assert (plan["forget"], plan["keep"]) == (["1-1", "1-2", "2-2"], ["2-1"])
    assert plan["judged_on_texts"] == 12


def test_attention_far_back_may_order_in_the_place_of_losses(tmp_path: Path) -> None:
    model = headscope.wrap(far_past.network(), tiny_tokenizer())
    given = {"sinks": 1, "window": 8, "needles": False, "by": "far_attention"}
    result = headscope.kv(model, far_past.topics(0, 24), QUICK, directory=tmp_path, **given)
    assert (result["forgets"].values == [[1, 1], [0, 1]]).all()
    assert "loss_rise" not in result and "needle_loss" not in result


def test_an_interrupted_run_goes_on_with_the_texts_that_are_read(
    tmp_path: Path, found: tuple[xr.Dataset, Path], journal_often: None
) -> None:
    model, steps, notices = headscope.wrap(far_past.network(), tiny_tokenizer()), list[int](), list[str]()

    def run(stop: int) -> xr.Dataset:
        def progress(done: int) -> None:
            steps.append(done)
            if sum(steps) >= stop:
                raise KeyboardInterrupt

        settings = replace(
            QUICK, on_progress=progress, on_notice=notices.append, journal=PassJournal(tmp_path / "j", {})
        )
        steps.clear()
        return headscope.kv(model, far_past.topics(0, 24), settings, directory=tmp_path, sinks=1, window=8)

    with pytest.raises(KeyboardInterrupt):
        run(60)  # in the second pass
    again = run(10_000)
    assert any("resumes" in notice for notice in notices) and max(steps) >= 24
    xr.testing.assert_identical(found[0].drop_attrs(deep=False), again.drop_attrs(deep=False))


def test_losses_and_attention_are_those_of_a_plain_pass() -> None:
    model, kept = decoder("llama"), KeptKeys(1, 3)
    texts, _ = long_texts(model, headscope.read(["a cat sat by the river and a dog ran home"] * 2), 20, 5, 9)
    reader = Reader(model, exact_way(model, heads := key_heads(model)), kept, QUICK)
    ids = torch.from_numpy(texts[0].ids)[None]
    with torch.inference_mode():
        model.network.set_attn_implementation("eager")
        output = model.network(input_ids=ids, output_attentions=True)
    read = torch.from_numpy(texts[0].places) - 1
    loss = cross_entropy(output.logits[0, read], ids[0, read + 1]).item()
    right = (output.logits[0, read].argmax(-1) == ids[0, read + 1]).double().mean().item()
    assert reader.scores(texts, heads.none)[1] == pytest.approx([loss, right], rel=1e-5)
    far = np.zeros(heads.none.shape)
    tokens = int(texts[0].places[-1])
    for layer, maps in enumerate(output.attentions):
        for query in range(tokens):
            for key in range(tokens):
                if query - key >= kept.window and key >= kept.sinks:
                    far[layer] += maps[0, :, query, key].reshape(2, 2).mean(1).numpy() / tokens
    assert reader.far_attention(texts, heads) == pytest.approx(far, rel=1e-4)


def test_texts_are_the_beginnings_of_documents(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("a cat sat here\nand it ran\n\nno\n\n" + "a dog ran home " * 9, encoding="utf-8")
    model = decoder("gpt2")
    texts, counts = long_texts(model, headscope.read(str(path)), 12, 5, 9)
    pieces = [model.tokenizer.convert_ids_to_tokens(text.ids.tolist()) for text in texts]
    assert pieces[0][:8] == ["[CLS]", "a", "cat", "sat", *pieces[0][4:8]] and "and" in "".join(pieces[0])
    assert len(pieces[1]) == 12 and counts == {"short": 1, "cut": 1}


def test_planted_tokens_are_beyond_the_window_where_they_are_recalled() -> None:
    texts, _ = long_texts(decoder("gpt2"), far_past.topics(0, 30), 40, 24, 99)
    for text, needle in zip(texts, planted(texts, 4, 10, seed=0), strict=True):
        end = len(needle.ids) - NEEDLE
        earlier = needle.ids[: end - 10 + 1]  # that the first token that recalls has forgotten
        copies = np.lib.stride_tricks.sliding_window_view(earlier, NEEDLE)
        starts = np.flatnonzero((copies == needle.ids[end:]).all(1))
        assert len(starts) and starts[-1] >= 4, "the whole needle is far back"
        assert (needle.ids != text.ids).sum() <= 2 * NEEDLE
        assert needle.places.tolist() == [*range(end + 1, len(text.ids))]


def test_a_local_layer_costs_its_window_and_needs_no_test(tmp_path: Path) -> None:
    model = decoder("gemma3_text", layer_types=["sliding_attention", "full_attention"])
    heads = key_heads(model)
    all_forget = np.ones_like(heads.none)
    seen = np.array([8.0, np.inf])
    a_token = BYTES * heads.width[0] * 2
    assert cache(heads, seen, heads.none, KeptKeys(4, 60))[0] == a_token * (8 + 4096)
    assert cache(heads, seen, all_forget, KeptKeys(4, 60))[0] == a_token * (8 + 64)
    texts = ["a cat sat by the river and a dog ran home to her house there"] * 3
    result = headscope.kv(model, texts, QUICK, directory=tmp_path, sinks=1, window=8)
    assert result["loss_rise"].isnull().values.tolist() == [[True, True], [False, False]]
    findings = {one.topic: one.text for one in study_page(result).findings()}
    assert "seen in layer 1" in findings["Layers without a test"]


def test_too_few_texts_give_no_plan_and_a_short_one_is_refused(tmp_path: Path) -> None:
    model, texts = decoder("gpt2"), far_past.topics(0, 9)
    result = headscope.kv(model, texts, QUICK, directory=tmp_path, sinks=1, window=8)
    assert "forgets" not in result and not (tmp_path / "plan.json").exists()
    assert study_page(result).findings()[0].topic == "No plan"
    with pytest.raises(HeadscopeError, match=r"none of its 1 texts has 78 tokens.*smaller --window"):
        headscope.kv(model, ["one short text"], QUICK, directory=tmp_path)


@pytest.mark.parametrize(
    ("kind", "reason"), [(AutoModel, "without a head that predicts words"), (BertForMaskedLM, "predicts masked words")]
)
def test_an_encoder_is_refused_with_the_reason(kind: type, reason: str, tmp_path: Path) -> None:
    model = headscope.wrap(tiny_bert(0, kind), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match=rf"{reason}.*only a decoder has keys to forget"):
        headscope.kv(model, far_past.topics(0, 9), QUICK, directory=tmp_path)


def test_a_plan_over_the_bound_is_no_claim(found: tuple[xr.Dataset, Path]) -> None:
    result = found[0].copy()
    bounds = result["plan_rise_ci"].copy(data=[-0.01, 0.03])
    first = study_page(result.assign(plan_rise_ci=bounds)).findings()[0]
    assert (first.topic, first.verdict) == ("The plan may cost more than 0.02 nats", "undecided")


def test_intervals_over_texts_hold_the_mean() -> None:
    rises = np.random.default_rng(0).gamma(1.0, 0.02, (12, 400))
    texts = HalvedTexts(12, replace(QUICK, resamples=400))
    lower, upper = texts.mean(rises, texts.all).interval.T
    assert 0.88 < ((lower <= 0.02) & (upper >= 0.02)).mean() < 0.99
