"""The page of trees says which head is the best parser, beside baselines; phrases only where the corpus has some."""

import pytest
import xarray as xr

import headscope
from headscope import Settings
from headscope.linguistics.sentence import Example, Sentence
from headscope.report.study_page import study_page
from headscope.studies.trees import study
from support.planted import looks_from_to, planted
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS, TREEBANK, corpus_of
from support.tiny import tiny_tokenizer

QUICK = Settings(resamples=20)


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted({(1, 2): looks_from_to(DETERMINERS | SUBJECTS | ADJECTIVES)}), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    examples = []
    for example in list(TREEBANK)[:20]:
        each = example.sentences[0]
        phrases = ((0, len(each.words)), (0, 2))
        bracketed = Sentence(each.text, each.words, heads=each.heads, deprel=each.deprel, phrases=phrases)
        examples.append(Example(example.id, (bracketed,)))
    return study.run(model, corpus_of(examples), QUICK)


def test_the_best_parser_is_named_first(result: xr.Dataset) -> None:
    first, *others = study_page(result).highlights()
    assert first.topic == "Head 1-2 draws the best trees"
    assert first.text.startswith("Its spanning tree (gold root, words alone) gives 100% of the words their")
    assert others[0].topic == "Training made the difference" and others[1].topic.endswith("draws the best phrases")


def test_findings_name_the_root_special_tokens_and_averages(result: xr.Dataset) -> None:
    topics = [each.topic for each in study_page(result).findings()]
    assert topics == ["UAS", "UUAS", "The root", "Special tokens", "Averages of heads", "Phrases", "Limits"]


def test_tables_have_a_row_for_each_tree_and_baseline(result: xr.Dataset) -> None:
    uas, uuas, phrases = study_page(result).tables()
    assert (len(uas.rows), len(uuas.rows), len(phrases.rows)) == (4 + 3, 6 + 3, 4 + 4)
    assert uas.rows[0][1][0] == ("1-2", "")


def test_a_corpus_without_phrases_has_none_on_the_page(model: headscope.Model) -> None:
    result = study.run(model, TREEBANK, QUICK, random=False)
    page = study_page(result)
    assert len(page.tables()) == 2 and "Phrases" not in [each.topic for each in page.findings()]
    assert [each.name for each in page.figures()] == ["chosen", "uas", "uas-by_layer"]


def test_random_weights_that_do_better_are_said(result: xr.Dataset) -> None:
    worse = result.copy(deep=True)
    for name in ("chosen_score", "chosen_score_ci"):
        worse[name] = result[f"random_{name.removeprefix('chosen_')}"]
        worse[f"random_{name.removeprefix('chosen_')}"] = result[name]
    assert study_page(worse).highlights()[1].topic == "Random weights do better"
