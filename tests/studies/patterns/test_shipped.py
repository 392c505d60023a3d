"""The scores on the card, computed again from the shipped weights and maps that nothing was learnt from."""

from pathlib import Path

import numpy as np
import pytest
import torch

from headscope.studies.heads.patterns import labelled_maps
from headscope.studies.heads.patterns.classifier import WEIGHTS, load
from headscope.studies.heads.patterns.scores import evaluate, frequent, labels_of, probabilities_of, scores, text
from pattern_workshop.examples import HELD_OUT, fold, is_boundary
from pattern_workshop.model_card import PAGE, page


@pytest.fixture(scope="module")
def labelled(real_data: Path) -> list[labelled_maps.Map]:
    folder = real_data.parent / "patterns"
    if not folder.is_dir():
        pytest.skip(f"no labelled maps in '{folder}'")
    return labelled_maps.read(folder)


def test_the_held_out_scores_of_the_card_are_those_of_the_weights(labelled: list[labelled_maps.Map]) -> None:
    held_out = [labelled_map for labelled_map in labelled if fold(labelled_map) == HELD_OUT]
    found = scores(
        labels_of(held_out),
        probabilities_of(held_out, load()),
        [text(labelled_map) for labelled_map in held_out],
        frequent(labels_of(labelled)),
    )
    card = load().card["held_out"]["classifier"]
    for name in ("accuracy", "macro_f1", "calibration_error"):
        assert found[name] == pytest.approx(card[name], abs=1e-4), name
    assert found["confusion"] == card["confusion"]


def test_no_text_is_on_both_sides(labelled: list[labelled_maps.Map]) -> None:
    known = set(load().card["texts"])
    assert not known & {text(labelled_map) for labelled_map in labelled if fold(labelled_map) == HELD_OUT}
    assert {text(labelled_map) for labelled_map in labelled if fold(labelled_map) != HELD_OUT} == known
    found = evaluate(labelled)
    assert found["trained_on"] + found["not_trained_on"]["n"] == found["n"] == len(labelled)


def test_it_does_as_well_as_it_says_in_cross_validation(labelled: list[labelled_maps.Map]) -> None:
    card = load().card
    crossed, rule = (card["cross_validation"][who] for who in ("classifier", "rule"))
    assert crossed["accuracy"] > rule["accuracy"] + 0.1
    assert crossed["n"] + card["held_out"]["classifier"]["n"] == len(labelled)
    assert evaluate(labelled)["accuracy"] >= crossed["accuracy"]
    assert np.isclose(load().temperature.item(), card["temperature"], atol=1e-3)


def test_shares_are_nearer_to_the_labels_than_counts_and_boundaries_are_told(labelled: list[labelled_maps.Map]) -> None:
    """On random maps of held-out texts, and by the card in cross-validation."""
    held_out = [
        labelled_map for labelled_map in labelled if fold(labelled_map) == HELD_OUT and not is_boundary(labelled_map)
    ]
    probabilities = torch.from_numpy(probabilities_of(held_out, load()))
    eye = np.eye(probabilities.shape[1])
    truth = eye[labels_of(held_out)].mean(0)
    shares = {"counted": eye[probabilities.argmax(-1)], "share": load().natural(probabilities).numpy()}
    distance = {name: abs(share.mean(0) - truth).sum() for name, share in shares.items()}
    assert distance["share"] < 0.7 * distance["counted"]
    card = load().card
    assert card["shares"]["distance"]["share"] <= 0.035 < 0.1 < card["shares"]["distance"]["counted"]
    assert card["parts"]["boundary"]["cross_validation"]["classifier"]["macro_f1"] >= 0.75


def test_the_page_that_is_shipped_has_the_scores_of_the_card() -> None:
    text = WEIGHTS.with_name(PAGE).read_text(encoding="utf-8")
    assert text.endswith(page(load().card))
    assert "not people" in text and "0.862" in text
