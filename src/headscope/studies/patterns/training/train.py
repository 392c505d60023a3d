"""Train the classifier, and score it on texts that it has not seen.

What is chosen (when to stop, the temperature) is chosen by cross-validation over texts, in the folds of `split.fold`;
the texts of fold `split.HELD_OUT` are told once, at the end, and decide nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np
from jaxtyping import Int

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.patterns.classifier.network import Classifier
from headscope.studies.patterns.labels.labelled_maps import Map
from headscope.studies.patterns.training.curriculum import Course
from headscope.studies.patterns.training.evaluate import Probabilities, check, labels_of, probabilities_of
from headscope.studies.patterns.training.folds import FOLDS, HELD_OUT, fold, text
from headscope.studies.patterns.training.recipe import RECIPE, Recipe
from headscope.studies.patterns.training.scorecard import scored

Progress = Callable[[int], None]
Folds = Int[np.ndarray, " map"]
# The loss on what was left out, after how many steps, and what was said.
Look = tuple[float, int, Probabilities]


def train(
    maps: Sequence[Map],
    seed: int = 0,
    recipe: Recipe = RECIPE,
    progress: Progress = lambda steps: None,
    expect: Progress = lambda steps: None,
) -> Classifier:
    """A classifier that has learnt from labelled maps; its `card` says how, and how well it does.

    `expect` is told the most batches that there will be, before the first; `progress` the batches done.
    Raises `HeadscopeError` if there are too few labelled maps, or some of too few or too many tokens.
    """
    labelled = [each for each in maps if each.label]
    folds = np.array([fold(each) for each in labelled], int)
    if len(set(folds.tolist())) < FOLDS:
        raise HeadscopeError(f"{len(labelled)} labelled maps are too few to train on; label a hundred or more")
    for each in labelled:
        check(each)
    expect(recipe.all_steps)
    known = [each for each, number in zip(labelled, folds, strict=True) if number != HELD_OUT]
    course = Course(known, seed, recipe)
    progress(recipe.first_steps)
    steps, crossed = cross_validated(course, folds[folds != HELD_OUT], progress)
    learner = course.learner(np.arange(len(known)))
    learner.advance(steps)
    progress(steps)
    classifier = learner.taught()
    classifier.temperature.fill_(temperature(labels_of(known), crossed))
    cooled = softened(crossed, classifier.temperature.item())
    classifier.card = {
        "seed": seed,
        "recipe": asdict(recipe) | {"stopped_at": steps},
        "temperature": round(classifier.temperature.item(), 3),
        **scored(labelled, folds, cooled, classifier),
        "texts": sorted({text(each) for each in known}),
    }
    return classifier


def cross_validated(course: Course, folds: Folds, progress: Progress) -> tuple[int, Probabilities]:
    """The number of steps after which the loss on texts that were left out is least, and what is said of these then."""
    recipe, labels = course.recipe, labels_of(course.maps)
    learners = {number: course.learner(np.flatnonzero(folds != number)) for number in sorted(set(folds.tolist()))}
    looks: list[Look] = []
    for steps in range(recipe.check, recipe.steps + 1, recipe.check):
        said = np.zeros((len(folds), len(PATTERNS)))
        for number, learner in learners.items():
            learner.advance(recipe.check)
            progress(recipe.check)
            left_out = [each for each, its in zip(course.maps, folds, strict=True) if its == number]
            said[folds == number] = probabilities_of(left_out, learner.taught())
        looks.append((loss(labels, said), steps, said))
        if steps - _best(looks)[1] >= recipe.patience * recipe.check:
            break
    return _best(looks)[1:]


def loss(labels: Int[np.ndarray, " map"], probabilities: Probabilities) -> float:
    """The mean negative logarithm of what the labels were given."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(labels)), labels], 1e-9)).mean())


def softened(probabilities: Probabilities, temperature: float) -> Probabilities:
    """The probabilities that logits divided by a temperature give."""
    powers = np.maximum(probabilities, 1e-9) ** (1 / temperature)
    return powers / powers.sum(-1, keepdims=True)


def temperature(labels: Int[np.ndarray, " map"], probabilities: Probabilities) -> float:
    """The temperature at which the labels are most likely."""
    tried = np.geomspace(0.25, 4, 161)
    return float(tried[np.argmin([loss(labels, softened(probabilities, one)) for one in tried])])


def _best(looks: Sequence[Look]) -> Look:
    return min(looks, key=lambda look: look[0])
