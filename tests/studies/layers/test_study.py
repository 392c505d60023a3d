"""The whole study on a tiny model: parts are apart, choices are not made on what is reported, and reasons are named."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Settings
from headscope.errors import HeadscopeError
from headscope.report.facts import summary
from headscope.report.study_page import study_page
from headscope.report.wording import estimate
from headscope.studies.layers.layers import study
from headscope.studies.layers.layers.groups import Units, grouped
from headscope.studies.layers.layers.measure import UnitDraws, score
from headscope.studies.layers.layers.sampling import TASKS, named, sample
from headscope.studies.layers.layers.texts import PARTS, Texts, split
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

QUICK = Settings(resamples=20)
WORDS = "part_of_speech,parent,token_index,dependency_label"
FAST: dict[str, Any] = {"cases": 120, "penalties": "10,100"}


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return study.run(model, (headscope.read("sample"),), QUICK, tasks=f"{WORDS},chunk,tense,number_value", **FAST)


def test_dimensions_cases_and_left_out_tasks(result: xr.Dataset) -> None:
    assert result["task"].values.tolist() == [
        "part_of_speech",
        "token_index",
        "parent",
        "dependency_label",
        "number_value",
    ]
    assert result["score"].dims == ("task", "layer") and result["mix_weight"].dims == ("task", "space")
    assert json.loads(result.attrs["left_out"]) == {
        "chunk": "no case; it needs chunks (CoNLL-2000)",
        "tense": "no case; it needs dependency trees and the feature Tense",
    }
    assert result["score_n_examples"].sel(task="part_of_speech") <= 120


def test_examples_of_the_corpus_and_generated_texts_are_counted_apart(result: xr.Dataset) -> None:
    assert result.attrs["resampled"] == "90 documents"
    assert 0 < result.attrs["n_examples"] <= headscope.read("sample").n_examples
    assert result.attrs["n_generated"] == 120 + 120 + 30  # texts of the task number_value
    assert 0 < result.attrs["n_generated_tokens"] < 270 * 40
    (counted,) = (text for term, text in summary(result) if term == "Read")
    assert counted.endswith(f"270 generated texts, {result.attrs['n_generated_tokens']:,} tokens")


def test_by_default_cases_are_of_a_sample_and_full_and_named_tasks_take_all(
    model: headscope.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sampled(Exception):
        pass

    taken: list[tuple[dict[str, int], int]] = []
    lines: list[str] = []

    def stop(texts: Texts, tasks: object, cases: int, seed: int) -> None:
        taken.append(({part: len(numbers) for part, numbers in texts.order.items()}, cases))
        raise Sampled

    monkeypatch.setattr(study, "TRAINED", 100)
    monkeypatch.setattr(study, "TESTED", 20)
    monkeypatch.setattr(study, "sample", stop)
    given: tuple[dict[str, Any], ...] = ({}, {"full": True}, {"tasks": WORDS})
    for options in given:
        with pytest.raises(Sampled):
            study.run(model, (headscope.read("sample"),), Settings(on_notice=lines.append), **options)
    everything = {"train": 249, "choose": 28, "report": 71}
    assert taken == [({"train": 90, "choose": 10, "report": 20}, 1000), (everything, 5000), (everything, 1000)]
    (line,) = lines
    assert "100 of 277" in line and "20 of 71" in line and "--full" in line


def test_scores_lie_between_chance_and_one_and_have_intervals(result: xr.Dataset) -> None:
    classes = result["score"].sel(task=["part_of_speech", "parent", "dependency_label"])
    assert bool(((classes >= 0) & (classes <= 1)).all())
    bounds = result["score_ci"]
    assert bool((bounds.sel(bound="lower") <= result["score"] + 1e-9).all())
    assert bool((result["score"] <= bounds.sel(bound="upper") + 1e-9).all())
    part = result.sel(task="part_of_speech")
    assert float(part["selectivity"][0]) == pytest.approx(float(part["score"][0] - part["control"][0]))
    assert float(part["score_embeddings"]) > float(part["score_majority"])


def test_random_weights_are_of_three_seeds(result: xr.Dataset) -> None:
    by_seed = result["score_random_by_seed"]
    assert by_seed.dims == ("seed", "task", "layer") and by_seed["seed"].values.tolist() == [0, 1, 2]
    xr.testing.assert_allclose(by_seed.mean("seed"), result["score_random"])
    assert (by_seed.std("seed") > 0).any()


def test_right_answers_in_all_cases_are_not_surely_all(result: xr.Dataset) -> None:
    shares = score(
        np.array([[0.0, 1.0]] * 12), np.ones(12), np.arange(12), UnitDraws(range(12), 0, 200), of_answers=True
    )
    assert shares.mean.tolist() == [1, 0]
    assert 0.6 < shares.interval[0, 0] < 0.8 and 0.2 < shares.interval[1, 1] < 0.4
    gain = shares[slice(0, 1)] - shares[slice(1, 2)]
    assert gain.interval.tolist() == [[1, 1]]


def test_late_cases_are_right_from_their_layer_on(result: xr.Dataset) -> None:
    cases = json.loads(result.attrs["late"])
    assert cases and {case["task"] for case in cases} <= {
        "part of speech",
        "index of the word",
        "parent",
        "dependency label",
    }
    for case in cases:
        right = [answer == case["answer"] for answer in case["answers"]]
        assert all(right[case["settled"] :]) and not right[case["settled"] - 1] and len(right) == 4
        assert case["text"].count("[") >= 1 and case["text"].count("[") == case["text"].count("]")
    (figure,) = (figure for figure in study_page(result).figures() if figure.name == "late")
    assert figure.table is not None and len(figure.table.rows) == len(cases)


def test_values_have_no_code_no_mix_and_no_control(result: xr.Dataset) -> None:
    value = result.sel(task="number_value")
    for name in ("compression", "centre_of_gravity", "selectivity", "cumulative_score"):
        assert bool(value[name].isnull().all())
    assert np.isfinite(value["score"]).all()


def test_mixes_sum_to_one_and_centres_follow(result: xr.Dataset) -> None:
    weights = result["mix_weight"].dropna("task")
    np.testing.assert_allclose(weights.sum("space"), 1, rtol=1e-5)
    centres = (weights * weights["space"]).sum("space")
    np.testing.assert_allclose(centres, result["centre_of_gravity"].dropna("task"), rtol=1e-5)


def test_poolings_give_other_vectors(model: headscope.Model) -> None:
    short: dict[str, Any] = {**FAST, "tasks": "tree_depth", "random": False, "mix": False, "codes": False}
    names: tuple[Any, ...] = ("mean", "max", "cls")
    results = [study.run(model, (headscope.read("sample"),), QUICK, pooling=name, **short) for name in names]
    scores = {np.stack([result["choice_score"], result["score"]]).tobytes() for result in results}
    assert len(scores) == len(names)


def test_states_beyond_half_precision_are_scored_as_smaller_ones() -> None:
    """Gemma 3 has states of 99,810; half precision ends at 65,504."""
    options: dict[str, Any] = {"tasks": "part_of_speech", "random": False, "codes": False, "mix": False, **FAST}
    scores = []
    for times in (1, 2**18):
        network: Any = tiny_gpt2()
        with torch.no_grad():
            for table in (network.wte.weight, network.wpe.weight):
                table.mul_(times)
        read = study.run(headscope.wrap(network, tiny_tokenizer()), (headscope.read("sample"),), QUICK, **options)
        scores.append(read["score_embeddings"].item())
    assert scores[0] == scores[1]


def test_parts_share_no_sentence_and_tasks_of_words_share_their_words() -> None:
    texts = split([headscope.read("sample")], [], 0.2, 0)
    sentences = [set(texts.order[part]) for part in PARTS]
    assert not sentences[0] & sentences[1] and not sentences[0] & sentences[2] and not sentences[1] & sentences[2]
    sampled, _ = sample(texts, named("part_of_speech,parent,grandparent,tree_depth"), 200, 0)
    units = Units()
    words, of_sentences = grouped(sampled, units, 0)
    assert [task.name for task in words.answers if not task.control] == ["part_of_speech", "parent", "grandparent"]
    assert len(words.units["train"]) == 200 and [task.name for task in of_sentences.answers] == ["tree_depth"]
    for part in PARTS:
        assert set(words.texts[part].tolist()) <= set(texts.order[part])


def test_a_word_has_one_answer_in_a_control_task() -> None:
    texts = split([headscope.read("sample")], [], 0.2, 0)
    sampled, _ = sample(texts, named("part_of_speech"), 2000, 0)
    (group,) = grouped(sampled, Units(), 0)
    control = group.answers[1]
    assert control.control and control.classes == len(sampled[0].classes)
    forms = {case.word: set() for part in PARTS for case in sampled[0].cases[part]}
    for part in PARTS:
        words = {(case.text, case.spans): case.word for case in sampled[0].cases[part]}
        keys = sorted(words) if part != "train" else None
        if keys:
            for index, key in enumerate(keys):
                forms[words[key]].add(int(control.numbers[part][index]))
    assert max(map(len, forms.values())) == 1
    assert len({number for some in forms.values() for number in some}) > 3


def test_a_tested_answer_that_is_no_class_counts_as_wrong_and_is_said(model: headscope.Model, tmp_path: Path) -> None:
    def treebank(name: str, sentences: int, tag: str) -> headscope.Corpus:
        words = zip(("the", "cat", "saw", "it"), ("DET", tag, "VERB", "PRON"), (2, 3, 0, 3), strict=True)
        lines = [
            f"{index}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_"
            for index, (form, upos, head) in enumerate(words, 1)
        ]
        (tmp_path / f"{name}.conllu").write_text(sentences * "\n".join([*lines, "\n"]), encoding="utf-8")
        return headscope.read(tmp_path / f"{name}.conllu")

    training = (treebank("train", 30, "NOUN"),)
    options: dict[str, Any] = {**FAST, "trainings": training, "tasks": "part_of_speech", "random": False}
    known, rare = (study.run(model, (treebank(tag, 5, tag),), QUICK, **options) for tag in ("NOUN", "X"))
    assert known["score_n_examples"].item() == rare["score_n_examples"].item() == 20
    assert float(known["score"][0, 0]) == 1 and float(rare["score"][0, 0]) == 0.75
    assert float(rare["cumulative_score"][0, -1]) <= 0.75
    said = [finding.text for finding in study_page(rare).findings() if finding.topic == "Rare answers"]
    assert len(said) == 1 and said[0].endswith("part of speech 5 of 20.")
    assert not [finding for finding in study_page(known).findings() if finding.topic == "Rare answers"]


def test_refusals(model: headscope.Model) -> None:
    with pytest.raises(HeadscopeError, match=r"task 'tens' is unknown; did you mean 'tense'\?"):
        study.run(model, (headscope.read("sample"),), QUICK, tasks="tens")
    with pytest.raises(HeadscopeError, match=r"gives no task .*name a larger treebank"):
        study.run(model, (headscope.read(["It rained."]),), QUICK)
    for penalties in ("0", "x", "", "1,-2", "inf"):
        with pytest.raises(HeadscopeError, match="use positive numbers such as 1,10,100"):
            study.run(model, (headscope.read("sample"),), QUICK, penalties=penalties)


def test_page_names_each_task_and_its_picture_has_each_cell(result: xr.Dataset) -> None:
    page = study_page(result)
    texts = {finding.topic: finding.text for finding in page.findings()}
    words = ("part of speech", "dependency label", "value of a number")
    assert "Left out" in texts and all(name in texts["Gains of tasks"] for name in words)
    figure = page.figures()[0]
    assert figure.name == "score"
    cells = figure.chart.layer[0].data.values
    assert len(cells) == result.sizes["task"] * (result.sizes["layer"] + 1)
    table = page.tables()[0]
    assert [keys[0] for keys, _ in table.rows] == [TASKS[name].words for name in result["task"].values.tolist()]
    gains = [estimate(result, "mix_gain", task=name).known_cell("+.1f", 100) for name in result["task"].values.tolist()]
    assert [cells[-1] for _, cells in table.rows] == gains and any(gains)


def test_texts_of_a_document_are_resampled_together(tmp_path: Path) -> None:
    sentence = "1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsat\tsit\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    path = tmp_path / "letters.conllu"
    path.write_text("".join(f"# newdoc id = {number}\n{sentence}{sentence}" for number in range(12)), encoding="utf-8")
    texts = split([headscope.read(path)], [], 0.2, 0)
    assert all(texts.units[2 * number] == texts.units[2 * number + 1] for number in range(12))
    assert len(set(texts.units)) == 12
    assert texts.units[texts.add(texts.sentences[3], origin=3)] == texts.units[2]
    loss, base, cases = np.array([[0.0], [1.0], [1.0], [1.0]]), np.ones(4), np.array([0, 1, 2, 3])
    resampled = score(loss, base, cases, UnitDraws(texts.units, 0, 200)).resampled[:, 0]
    assert {0.0, 0.25, 0.5} <= set(resampled[np.isfinite(resampled)].round(2).tolist())
    assert resampled[np.isfinite(resampled)].max() <= 0.5, "the wrong case of a document is drawn with its right one"
