"""Confusion is the entropy over the candidates; that of planted heads is known."""

from math import exp, log, log2
from pathlib import Path

import pytest
import torch
import xarray as xr

import headscope
from headscope import Settings
from headscope.corpora import Options, read
from headscope.report.study_page import study_page
from headscope.studies.heads.coreference.observer import confusion
from support.planted import looks_at_piece, looks_from_to, planted
from support.tiny import tiny_tokenizer

SCORE = 2.0
# [CLS] the cat by the dog saw it [SEP]; the second one has two distractors.
LINES = {
    "agr": ("6\tthe cat by the dog saw it\t5\t0 1\t3 4", "5\tthe cat by the man saw it\t5\t0 1\t3 4"),
    "refl": ("5\tthe cat that saw the dog saw the man by it\t10\t0 1\t4 5 7 8",),
}
HEADS = {
    (1, 1): looks_from_to({"saw": "cat", "it": "cat"}, SCORE),
    (1, 2): looks_from_to({"saw": "cat", "it": "cat"}),
    (2, 1): looks_at_piece("[SEP]"),
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    folder = Path(tmp_path_factory.mktemp("lin2019"))
    for name, lines in LINES.items():
        (folder / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines * 6), encoding="utf-8")
    model = headscope.wrap(planted(HEADS), tiny_tokenizer())
    return headscope.coreference(model, read(str(folder), Options(kind="lin2019")), Settings(resamples=50))


def entropy(score: float, candidates: int) -> float:
    """Of one candidate with a score, and the others with 0."""
    best = exp(score) / (exp(score) + candidates - 1)
    other = 1 / (exp(score) + candidates - 1)
    return -best * log2(best) - (candidates - 1) * other * log2(other)


def test_planted_heads_are_as_confused_as_their_scores_say(result: xr.Dataset) -> None:
    assert result["condition"].values.tolist() == [
        "all",
        "clause and object, both the same gender",
        "phrase between, other number",
        "phrase between, same number",
    ]
    expected = [entropy(SCORE, 3), entropy(SCORE, 2), entropy(SCORE, 2)]
    values = result["confusion"].sel(layer=1, head=1)
    assert values.values.tolist() == pytest.approx([sum(expected) / 3, *expected], abs=1e-5)
    assert result["confusion"].sel(layer=1, head=2).max() < 1e-6
    assert result["confusion_n_examples"].values.tolist() == [18, 6, 6, 6]


def test_heads_that_do_not_choose_are_as_confused_as_a_uniform_choice(result: xr.Dataset) -> None:
    uniform = [(log2(3) + 2) / 3, log2(3), 1, 1]
    assert result["uniform_confusion"].values.tolist() == pytest.approx(uniform)
    for layer, head in ((1, 3), (2, 1)):
        assert result["confusion"].sel(layer=layer, head=head).values.tolist() == pytest.approx(uniform, abs=1e-5)
    mean = result["confusion"].mean(("layer", "head"))
    assert result["mean_confusion"].values.tolist() == pytest.approx(mean.values.tolist())


def test_the_page_says_it_and_claims_nothing_by_it(result: xr.Dataset) -> None:
    page = study_page(result)
    (finding,) = [finding for finding in page.highlights() if finding.topic == "Confusion"]
    assert finding.claim is None and "n = 18 questions" in finding.text
    assert any(table.name == "confusion" for table in page.tables())
    assert {"confusion", "confusion-by_layer"} <= {figure.name for figure in page.figures()}


def test_confusion_by_loops() -> None:
    random = torch.Generator().manual_seed(0)
    weights = torch.rand(3, 4, 5, generator=random)
    allowed = torch.rand(3, 4, 5, generator=random) > 0.4
    allowed[..., 0] = True
    found = confusion(weights, allowed)
    for row in range(3):
        for case in range(4):
            kept = [float(one) for one, ok in zip(weights[row, case], allowed[row, case], strict=True) if ok]
            shares = [one / sum(kept) for one in kept]
            expected = -sum(share * log(share) for share in shares if share) / log(2)
            assert float(found[row, case]) == pytest.approx(expected, abs=1e-5)
    nothing = confusion(torch.zeros(4), torch.tensor([True, True, True, False]))
    assert float(nothing) == pytest.approx(log2(3))
