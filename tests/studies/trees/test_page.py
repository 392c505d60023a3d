"""The page of trees says which head is the best parser, beside baselines; phrases only where the corpus has some."""

import pytest
import xarray as xr

import headscope
from headscope import Settings
from headscope.linguistics.sentence import Example, Sentence
from headscope.report.study_page import study_page
from headscope.studies.heads.trees import study
from support.made_inputs import corpus_of
from support.planted import looks_from_to, planted
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS, TREEBANK
from support.tiny import tiny_tokenizer

QUICK = Settings(resamples=20)


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted({(1, 2): looks_from_to(DETERMINERS | SUBJECTS | ADJECTIVES)}), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    examples = []
    for example in list(TREEBANK)[:20]:
        sentence = example.sentences[0]
        phrases = ((0, len(sentence.words)), (0, 2))
        bracketed = Sentence(
            sentence.text, sentence.words, heads=sentence.heads, deprel=sentence.deprel, phrases=phrases
        )
        examples.append(Example(example.id, (bracketed,)))
    return study.run(model, corpus_of(examples), QUICK)


def test_the_best_parser_is_named_first(result: xr.Dataset) -> None:
    texts = {finding.topic: finding.text for finding in study_page(result).highlights() if finding.verdict == "holds"}
    best = "The spanning tree of head 1-2 (best root, words alone) gives 100% of the words their syntactic head"
    assert texts["Head 1-2 draws trees better than a fixed word does"].startswith(best)
    assert "Head 1-2 draws phrases better than right-branching does" in texts


def test_findings_name_the_root_and_averages(result: xr.Dataset) -> None:
    topics = [finding.topic for finding in study_page(result).findings()]
    assert topics == ["The root", "Averages of heads", "Limits"]


def test_tables_have_a_row_for_each_tree_and_baseline(result: xr.Dataset) -> None:
    uas, uuas, phrases = study_page(result).tables()
    assert (len(uas.rows), len(uuas.rows), len(phrases.rows)) == (4 + 3, 6 + 3, 4 + 4)
    assert uas.rows[0][1][0] == ("1-2", "")


def test_a_corpus_without_phrases_has_none_on_the_page(model: headscope.Model) -> None:
    result = study.run(model, TREEBANK, QUICK, random=False)
    page = study_page(result)
    assert len(page.tables()) == 2 and not [finding for finding in page.highlights() if "phrases" in finding.topic]
    assert [figure.name for figure in page.figures()] == ["chosen", "uas", "uas-by_layer"]


def test_random_weights_of_three_seeds_that_do_as_well_are_said(result: xr.Dataset) -> None:
    assert result["random_score_by_seed"].sizes["seed"] == 3
    xr.testing.assert_allclose(result["random_score_by_seed"].mean("seed"), result["random_score"])
    better, worse = (result.assign(random_score_by_seed=result["random_score_by_seed"] * 0 + s) for s in (0.1, 1.1))
    assert "Syntax in the attention of single heads comes from training" in titles(better)
    assert any("random weights do as well" in title for title in titles(worse))


def test_a_head_at_the_baseline_draws_no_better_trees(result: xr.Dataset) -> None:
    null = result.copy(deep=True)
    for name, bounds in (("chosen_gain", (-0.05, -0.01)), ("gain_f1", (-0.05, -0.01))):
        null[name] = result[name] * 0 - 0.02
        null[f"{name}_ci"] = result[f"{name}_ci"] * 0 + xr.DataArray(list(bounds), dims="bound")
    assert {
        "No head draws trees better than a fixed word does",
        "No head draws phrases better than right-branching does",
    } <= titles(null)


def test_one_example_tells_nothing(model: headscope.Model) -> None:
    two = corpus_of(list(TREEBANK)[:2])  # one half chooses, the other has one example
    findings = study_page(study.run(model, two, QUICK)).highlights()
    assert {finding.verdict for finding in findings if finding.claim} == {"undecided"}
    assert findings[1].topic.startswith("Too few sentences to tell")


def titles(result: xr.Dataset) -> set[str]:
    return {finding.topic for finding in study_page(result).highlights()}
