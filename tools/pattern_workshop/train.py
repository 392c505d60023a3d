"""Training of the classifier, and its scores on texts that it has not seen.

The number of steps, the temperature and the rates of patterns are chosen by cross-validation over texts, in the folds
of `folds.fold`; the texts of fold `folds.HELD_OUT` are classified once, at the end, and decide nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np
import torch
from jaxtyping import Int

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import Classifier
from headscope.studies.heads.patterns.labelled_maps import Map
from headscope.studies.heads.patterns.scores import Probabilities, check, labels_of, probabilities_of, text
from pattern_workshop.calibration import loss, natural_maps, rates, softened, temperature
from pattern_workshop.curriculum import RECIPE, ClassifierRecipe, Curriculum
from pattern_workshop.examples import FOLDS, HELD_OUT, fold
from pattern_workshop.scorecard import scorecard

Progress = Callable[[int], None]
Folds = Int[np.ndarray, " map"]
# The loss on the left-out maps, the number of steps before it, and the probabilities of these maps.
Look = tuple[float, int, Probabilities]


def train(
    maps: Sequence[Map],
    seed: int = 0,
    recipe: ClassifierRecipe = RECIPE,
    progress: Progress = lambda steps: None,
    expect: Progress = lambda steps: None,
) -> Classifier:
    """Train a classifier on labelled maps; its `card` has its data, its recipe and its scores.

    `expect` receives the largest possible number of batches before the first; `progress` the number of batches done.
    Raises `HeadscopeError` if there are too few labelled maps, or some with too few or too many tokens.
    """
    maps = [labelled for labelled in maps if labelled.label]
    folds = np.array([fold(labelled) for labelled in maps], int)
    if len(set(folds.tolist())) < FOLDS:
        raise HeadscopeError(f"{len(maps)} labelled maps are too few to train on; label a hundred or more")
    for labelled in maps:
        check(labelled)
    expect(recipe.all_steps)
    learnt = [labelled for labelled, number in zip(maps, folds, strict=True) if number != HELD_OUT]
    curriculum = Curriculum(learnt, seed, recipe)
    progress(recipe.first_steps)
    steps, crossed = cross_validated(curriculum, folds[folds != HELD_OUT], progress)
    learner = curriculum.learner(np.arange(len(learnt)))
    learner.advance(steps)
    progress(steps)
    classifier = learner.averaged()
    natural = natural_maps(learnt)
    labels = labels_of(learnt)[natural]
    classifier.temperature.fill_(temperature(labels, crossed[natural]))
    cooled = softened(crossed, classifier.temperature.item())
    classifier.rates.copy_(torch.from_numpy(rates(labels, cooled[natural])))
    classifier.card = {
        "seed": seed,
        "recipe": asdict(recipe) | {"stopped_at": steps},
        "temperature": round(classifier.temperature.item(), 3),
        "rates": [round(rate, 3) for rate in classifier.rates.tolist()],
        **scorecard(maps, folds, cooled, classifier),
        "texts": sorted({text(labelled) for labelled in learnt}),
    }
    return classifier


def cross_validated(curriculum: Curriculum, folds: Folds, progress: Progress) -> tuple[int, Probabilities]:
    """Choose the number of steps with the smallest loss on left-out texts.

    Returns: the number of steps, and the probabilities of the maps of left-out texts after it.
    """
    recipe, labels = curriculum.recipe, labels_of(curriculum.maps)
    learners = {number: curriculum.learner(np.flatnonzero(folds != number)) for number in sorted(set(folds.tolist()))}
    looks: list[Look] = []
    for steps in range(recipe.check, recipe.steps + 1, recipe.check):
        probabilities = np.zeros((len(folds), len(PATTERNS)))
        for number, learner in learners.items():
            learner.advance(recipe.check)
            progress(recipe.check)
            left_out = [curriculum.maps[index] for index in np.flatnonzero(folds == number).tolist()]
            probabilities[folds == number] = probabilities_of(left_out, learner.averaged())
        looks.append((loss(labels, probabilities), steps, probabilities))
        if steps - _best(looks)[1] >= recipe.patience * recipe.check:
            break
    return _best(looks)[1:]


def _best(looks: Sequence[Look]) -> Look:
    return min(looks, key=lambda look: look[0])
