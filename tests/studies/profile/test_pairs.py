"""A head that looks at the same word in the other segment is found, and no other is."""

from collections.abc import Mapping

import pytest
import xarray as xr

import headscope
from headscope import Settings
from headscope.linguistics.sentence import Example, Sentence
from headscope.report.cards.card import Card
from headscope.report.cards.model_results import model_of
from headscope.report.study_page import study_page
from support.claim_texts import corpus
from support.planted import Head, looks_at_copies, looks_at_offset, looks_at_piece, planted
from support.tiny import tiny_tokenizer

HEADS = {(1, 2): looks_at_copies(), (2, 1): looks_at_offset(1), (2, 2): looks_at_piece("[SEP]")}
TEXTS = (
    ("the old cat ran .", "a dog saw the cat by night ."),
    ("a man was in town .", "the town was not small ."),
    ("she walked to the house .", "he came to her house that night ."),
)


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return profile_of(HEADS)


def profile_of(heads: Mapping[tuple[int, int], Head]) -> xr.Dataset:
    pairs = [tuple(Sentence(text) for text in TEXTS[number % 3]) for number in range(60)]
    examples = [Example(str(number), (first,), (second,)) for number, (first, second) in enumerate(pairs)]
    model = headscope.wrap(planted(heads), tiny_tokenizer())
    return headscope.profile(model, corpus(examples), Settings(resamples=50))


def test_the_planted_head_gives_copies_half_of_its_attention(result: xr.Dataset) -> None:
    # Each word looks at itself and at its only copy.
    shares = result["same_word"].sel(layer=1, head=2)
    assert shares.sel(word_pair="copies") == pytest.approx(0.5, abs=1e-3)
    assert shares.sel(word_pair=["as_far_apart", "from_others"]).max() < 1e-3
    assert result["same_word_n_examples"].values.tolist() == [60] * 3


def test_heads_of_positions_and_of_special_tokens_gain_nothing(result: xr.Dataset) -> None:
    least = result["same_word_gain"].min("baseline")
    assert least.where((least["layer"] != 1) | (least["head"] != 2)).max() < 0.01


def test_the_page_names_it_and_the_atlas_has_its_kind(result: xr.Dataset) -> None:
    page = study_page(result)
    findings = [*page.highlights(), *page.findings()]
    held = {finding.topic for finding in findings if finding.verdict == "holds"}
    assert "Head 1-2 looks at the same word in the other segment" in held
    assert [(kind.layer, kind.head) for kind in page.kinds() if kind.kind == "same_word"] == [(1, 2)]
    assert "Across segments" in {finding.topic for finding in findings}


def test_the_card_has_what_goes_to_each_segment(result: xr.Dataset) -> None:
    (part,) = Card(model_of(result), 1, 2).parts
    texts = {finding.topic: finding.text for finding in part.findings}
    share = float(result["segment_attention"].sel(layer=1, head=2, segments="different"))
    assert f"those of the other one {share:.2f} [" in texts["Across segments"] and share > 0.1


def test_without_the_planted_head_none_is_named() -> None:
    page = study_page(profile_of({head: HEADS[head] for head in HEADS if head != (1, 2)}))
    verdicts = {finding.topic: finding.verdict for finding in page.highlights()}
    assert verdicts["No head looks at the same word in the other segment"] == "fails"
    assert [kind for kind in page.kinds() if kind.kind == "same_word"] == []
