"""Errors of numbers by their pieces: a naive loop, planted errors, and the score that they add up to."""

from typing import Any

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope.report.study_page import study_page
from headscope.results.vocabulary import PIECES
from headscope.studies.layers.layers import study
from headscope.studies.layers.layers.measure import UnitDraws, errors_by_pieces
from headscope.studies.layers.layers.sampling import TASKS, named, sample
from headscope.studies.layers.layers.texts import split
from support.tiny import tiny_bert, tiny_tokenizer

SETTINGS = headscope.Settings(resamples=30)


def test_errors_are_those_of_a_loop() -> None:
    random, cases, spaces = np.random.default_rng(0), 40, 3
    loss, base = random.exponential(size=(cases, spaces)), random.exponential(size=cases)
    pieces, texts = random.choice([1, 2, 4, 7], cases), np.arange(cases) // 2
    draws = UnitDraws(range(cases), 0, 30)
    made = errors_by_pieces(loss, base, pieces, texts, draws)
    for size, of_size in zip((1, 2, 3, 4), made, strict=True):
        own = [case for case in range(cases) if (pieces[case] >= 4 if size == 4 else pieces[case] == size)]
        assert of_size.count == len(own)
        for space in range(spaces + 1):
            errors = [base[case] if space == spaces else loss[case, space] for case in own]
            expected = np.sqrt(sum(errors) / len(errors)) if own else np.nan
            np.testing.assert_allclose(of_size.mean[space], expected, rtol=1e-5)
    drawn = draws.of(np.unique(texts[pieces == 2]))
    rows = np.unique(texts[pieces == 2], return_inverse=True)[1]
    expected = np.sqrt((drawn[:, rows] @ loss[pieces == 2]) / drawn[:, rows].sum(1, keepdims=True))
    np.testing.assert_allclose(made[1].resampled[:, :spaces], expected, rtol=1e-5)
    assert np.isnan(made[2].interval).all() and made[2].interval.shape == (spaces + 1, 2)


def test_planted_errors_are_found_where_they_are() -> None:
    pieces = np.repeat([1, 2, 3], 30)
    wrong = np.where(pieces == 2, 25.0, 4.0)[:, None]  # squared: 5 where a number has two pieces, 2 elsewhere
    draws = UnitDraws(range(90), 0, 30)
    made = errors_by_pieces(wrong, wrong[:, 0] * 4, pieces, np.arange(90), draws)
    np.testing.assert_allclose([one.mean for one in made[:3]], [[2, 4], [5, 10], [2, 4]])
    np.testing.assert_allclose(made[1].interval[0], [5, 5])


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    corpora, tasks = (headscope.read("sample"),), "number_value,number_sum,tree_depth"
    options: dict[str, Any] = {"random": False, "mix": False, "codes": False}
    return study.run(model, corpora, SETTINGS, tasks=tasks, cases=120, penalties="10", **options)


def test_squared_errors_of_all_pieces_add_up_to_the_score(result: xr.Dataset) -> None:
    assert not result["error_by_pieces"].sel(task="tree_depth").notnull().any()  # no numbers are in its texts
    numbers = result.sel(task=["number_value", "number_sum"])
    counts = numbers["error_by_pieces_n_examples"]
    assert counts.sum("pieces").values.tolist() == numbers["score_n_examples"].values.tolist()
    base = (numbers["error_by_pieces_mean"] ** 2 * counts).sum("pieces")
    for error, own in (("error_by_pieces", "score"), ("error_by_pieces_embeddings", "score_embeddings")):
        explained = 1 - (numbers[error] ** 2 * counts).sum("pieces") / base
        np.testing.assert_allclose(explained.transpose(*numbers[own].dims), numbers[own], rtol=1e-5)


@pytest.mark.parametrize("task", ["number_value", "number_sum"])
def test_pieces_are_counted_as_the_tokenizer_splits_the_numbers(result: xr.Dataset, task: str) -> None:
    texts = split([headscope.read("sample")], [], 0.1, SETTINGS.seed)
    (cases,), _ = sample(texts, named(task), 120, SETTINGS.seed)
    counts, tokenizer = [0] * len(PIECES), tiny_tokenizer()
    for case in cases.cases["report"]:
        sentence = texts.sentences[case.text]
        words = [sentence.text[slice(*sentence.words[start])] for start, _ in case.spans]
        pieces = sum(len(tokenizer.tokenize(word)) for word in words)
        counts[min(pieces, len(PIECES)) - 1] += 1
    assert result["error_by_pieces_n_examples"].sel(task=task).values.tolist() == counts
    assert TASKS[task].is_value and sum(count > 0 for count in counts) > 1


def test_the_page_has_a_table_and_a_figure_for_each_task_of_numbers(result: xr.Dataset) -> None:
    page = study_page(result)
    (table,) = (table for table in page.tables() if table.name == "pieces")
    layer = int(result["chosen_layer"].sel(task="number_value"))
    assert [labels for labels, _ in table.rows][:3] == [
        ("value of a number", f"layer {layer}"),
        ("value of a number", "embeddings"),
        ("value of a number", "mean"),
    ]
    size = str(result["error_by_pieces_n_examples"].sel(task="number_value").idxmax("pieces").item())
    cell = table.rows[0][1][PIECES.index(size)]
    expected = float(result["error_by_pieces"].sel(task="number_value", layer=layer, pieces=size))
    assert cell and float(cell[0]) == pytest.approx(expected, rel=0.01) and "," in cell[1]
    names = [figure.name for figure in page.figures() if figure.name.startswith("pieces")]
    assert names == ["pieces-number-value", "pieces-number-sum"]
