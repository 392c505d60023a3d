"""Training: seeded, split by text, stopped where the loss on unseen texts is least, temperatures that calibrate."""

import numpy as np
import pytest
import torch

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import Classifier
from headscope.studies.heads.patterns.labelled_maps import Map
from headscope.studies.heads.patterns.scores import text
from pattern_workshop.calibration import at_rates, rates, softened, temperature
from pattern_workshop.curriculum import ClassifierRecipe
from pattern_workshop.examples import HELD_OUT, fold, targets, view, views
from pattern_workshop.train import train
from support.planted_maps import planted

pytestmark = pytest.mark.thorough

QUICK = ClassifierRecipe(
    synthetic=60, first_steps=3, first_batch=8, views=2, real=8, made=4, steps=6, check=2, patience=2
)


def labelled(number: int = 60) -> list[Map]:
    """Planted maps of 20 tokens, two of each text."""
    made = []
    for index in range(number):
        pattern = PATTERNS[index % len(PATTERNS)]
        tokens = ("[CLS]", f"text {index // 2}", *["a"] * 17, "[SEP]")
        made.append(Map(index, planted(pattern, 20, index).astype(np.float32), tokens, pattern))
    return made


@pytest.fixture(scope="module")
def trained() -> tuple[Classifier, list[int], list[int]]:
    """A classifier, the steps as they were done, and their largest possible number."""
    done, most = list[int](), list[int]()
    return train(labelled(), 0, QUICK, done.append, most.append), done, most


def test_a_seed_gives_the_same_classifier(trained: tuple[Classifier, list[int], list[int]]) -> None:
    one, (same, other) = trained[0], (train(labelled(), seed, QUICK) for seed in (0, 1))
    for name, value in one.state_dict().items():
        torch.testing.assert_close(value, same.state_dict()[name], rtol=0, atol=0)
    assert one.card == same.card
    assert not torch.equal(one.of_cells.weight, other.of_cells.weight)


def test_the_card_tells_the_split_and_the_steps_are_counted(trained: tuple[Classifier, list[int], list[int]]) -> None:
    maps, (classifier, done, most) = labelled(), trained
    card = classifier.card
    known = [labelled_map for labelled_map in maps if fold(labelled_map) != HELD_OUT]
    assert card["texts"] == sorted({text(labelled_map) for labelled_map in known})
    assert card["cross_validation"]["classifier"]["n"] == len(known)
    assert card["held_out"]["classifier"]["n"] == len(maps) - len(known)
    assert card["recipe"]["stopped_at"] in (2, 4, 6)
    assert sum(done) <= most[0] == QUICK.all_steps
    assert "annotator_a" not in card["held_out"]


def test_views_keep_lines_and_special_tokens() -> None:
    random = np.random.default_rng(0)
    # Some columns are stronger than others, else none might be left out.
    uneven = (0.9 * np.eye(40) + 0.1 * random.dirichlet(np.ones(40))).astype(np.float32)
    map_ = Map(0, uneven, ("[CLS]", *["a"] * 38, "[SEP]"), "diagonal")
    lengths = set()
    for _ in range(30):
        attention, classes = view(map_, random)
        lengths.add(len(classes))
        np.testing.assert_allclose(attention.sum(1), 1, atol=1e-5)
        assert attention.diagonal().min() > 0.3  # a token that is there twice shares with itself
        assert (classes[0], classes[-1], (classes == 1).sum()) == (0, 1, 1)
    assert min(lengths) < 40 < max(lengths)
    assert view(Map(0, np.eye(6), ("[CLS]", *"abcd", "[SEP]")), random)[0].shape == (6, 6)


def test_a_map_on_which_annotators_differ_is_between_two_patterns() -> None:
    even = np.full((4, 4), 0.25, np.float32)
    tokens = ("[CLS]", "a", "b", "[SEP]")
    maps = [
        Map(0, even, tokens, "vertical", annotator_a="heterogeneous", annotator_b="vertical"),
        Map(1, even, tokens, "block"),
    ]
    expected = [[2 / 3, 0, 0, 0, 1 / 3], [0, 0, 0, 1, 0]]
    np.testing.assert_allclose(targets(maps), expected, atol=1e-6)
    np.testing.assert_allclose(views(maps, 2, seed=0).targets, expected * 2, atol=1e-6)


def test_the_temperature_makes_probabilities_as_likely_as_they_can_be() -> None:
    random = np.random.default_rng(0)
    logits = random.normal(size=(4000, 5))
    true = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    labels = np.array([random.choice(5, p=row) for row in true])
    assert temperature(labels, softened(true, 1 / 3)) == pytest.approx(3, rel=0.1)
    np.testing.assert_allclose(softened(softened(true, 1 / 3), 3), true, atol=1e-6)


def test_maps_that_are_too_short_are_refused_before_anything_is_learnt() -> None:
    short = Map(77, np.eye(3, dtype=np.float32), ("[CLS]", "a", "[SEP]"), "diagonal")
    with pytest.raises(HeadscopeError, match="map 77 has 3 tokens; maps have 4 to 512"):
        train([*labelled(), short], expect=lambda steps: pytest.fail("it went on"))


def test_rates_make_the_mean_probability_the_share_of_the_labels() -> None:
    """Maps told by someone who expects all patterns to be as frequent, where one is rare."""
    random, true = np.random.default_rng(0), np.array([0.6, 0.2, 0.15, 0.04, 0.01])
    labels = random.choice(5, 20_000, p=true)
    seen = np.eye(5)[labels] + random.normal(scale=0.7, size=(20_000, 5))
    likelihood = np.exp(seen / 0.7**2)
    expecting_all = likelihood / likelihood.sum(1, keepdims=True)
    assert abs(expecting_all.mean(0) - true).sum() > 0.3
    found = rates(labels, expecting_all)
    np.testing.assert_allclose(at_rates(expecting_all, found).mean(0), true, atol=0.005)
    np.testing.assert_allclose(found / found[0], true / true[0], rtol=0.2)
