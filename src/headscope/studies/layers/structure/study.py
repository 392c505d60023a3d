"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.models import Model
from headscope.models.random_weights import SEEDS, untrained
from headscope.passes import DEFAULTS, Settings
from headscope.passes.captured_treebanks import (
    CapturedTreebanks,
    capture_treebanks,
    of_two_minutes,
    trained_on,
    treebank_passes,
)
from headscope.passes.kept_arrays import ArrayPass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.passes.settings import Training
from headscope.ranges import Range
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score
from headscope.studies.layers.structure.scores import example_trees, score, scores
from headscope.studies.layers.structure.tensor_products import EPOCHS, SCHEMES, DecomposedStates, decompose
from headscope.studies.layers.structure.train import FittedProbes, Maps, ProbeRecipe, fit
from headscope.studies.layers.structure.treebank_states import UNCONTEXTUAL, TreebankStates, states_pass
from headscope.studies.layers.structure.variables import HeldOutScores, decomposed_variables, to_variables

Captured = CapturedTreebanks[TreebankStates]
# Sentences to train on, unless all are asked for.
TRAINED = 1_300


def run(  # noqa: PLR0913 (each is an option of the command)
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    training: Training | None = None,
    recipe: ProbeRecipe,
    random: bool = True,
    full: bool = False,
    memory: Annotated[float, Range(0, 1000)] = 4.0,
    trees: Annotated[int, Range(0, 100)] = 3,
    tensor_products: bool = False,
) -> xr.Dataset:
    """`uuas[layer]`: the share of edges of the gold tree that the tree of a distance probe has, punctuation left out.

    Probes are trained on `training`, or without one on four documents of five of the corpus, and tested on the
    fifth (where fewer than 25 documents are known, on sentences).
    A part of the training sentences is held out: it chooses the rank and the layer that the page names. Both probes
    are those of the released code of Hewitt and Manning (L1 loss, Adam), for all layers and ranks at a time. Instead
    of dividing the learning rate by ten after each epoch without improvement, it falls to 0 by a half cosine: after
    6 epochs the scores are those of the released recipe after 22.

    Arguments:

    * `corpus`: Treebank to test on.
    * `training`: Treebank to train on; by default, four documents of five of `corpus`, and the fifth is tested.
    * `recipe`: How probes are trained.
    * `random`: Also probe the model with random weights, of three seeds.
    * `full`: Read all sentences; by default at most 1,300 to train on and 600 to test on, or 1,600 in all, drawn by
      the seed.
    * `memory`: Gigabytes of hidden states to keep in memory; the rest is read from disk.
    * `trees`: Number of sentences whose trees are drawn.
    * `tensor_products`: Also decompose the vectors of sentences into tensor products of words and places.

    Raises `HeadscopeError` if a corpus has no dependency trees or too few sentences, or the disk is full.
    """
    chosen = recipe.as_settings()  # refuses a wrong rank before anything is computed
    attributes: dict[str, Any] = provenance("structure", model, corpus, settings)
    source = training or corpus
    corpus, training, attributes["read_in_part"] = of_two_minutes(corpus, training, TRAINED, settings, full=full)
    seeds = range(settings.seed, settings.seed + SEEDS * random)
    read = (corpus.n_examples + (training.n_examples if training else 0)) * (1 + len(seeds))
    # how many train is known once they are read
    decomposing = EPOCHS * len(SCHEMES) * SEEDS * tensor_products
    number = trained_on(corpus, training)
    settings.on_total(read + _steps(number, recipe, len(seeds)) + decomposing * number)
    budget = int(memory * 1e9)
    with capture_treebanks(TreebankStates, partial(states_pass, model, settings), corpus, training, budget) as states:
        number = len(states.train)
        settings.on_total(read + _steps(number, recipe, len(seeds)) + decomposing * number)
        fitted, tested = _probed(model, states, recipe, settings)
        held = _held_out_scores(states.train[fitted.held_out], fitted, model, settings)
        layer = 1 + int(np.argmax(held.chosen["uuas"].mean[: -len(UNCONTEXTUAL) - 1]))
        attributes |= states.attributes(source, "state")
        drawn = example_trees(states.test, fitted.maps, layer, trees, settings.seed, model.device)
        decomposed = _decomposed(states, model, settings) if tensor_products else None
    del states  # those of both models would need twice the memory
    of_random = {seed: _random_scores(model, seed, corpus, training, recipe, settings, budget) for seed in seeds}
    attributes |= {"chosen_layer": layer, "trees": json.dumps(drawn, ensure_ascii=False), "recipe": json.dumps(chosen)}
    variables = to_variables(tested, held, of_random, fitted)
    if decomposed:
        variables |= decomposed_variables(decomposed)
    return results.check(xr.Dataset(variables, attrs=attributes))


def passes(
    model: Model, corpus: Corpus, settings: Settings, *, training: Corpus | None, random: bool, full: bool
) -> Iterator[ArrayPass[Any]]:
    """The passes of `run`, which a worker of a cluster reads."""
    taken = of_two_minutes(corpus, training, TRAINED, settings, full=full)
    return treebank_passes(states_pass, model, taken, settings, range(settings.seed, settings.seed + SEEDS * random))


def random_seeds(settings: Settings, *, training: Corpus | None, random: bool) -> range:
    """The seeds of the models of random weights whose pass follows the first one: none where `training` is between."""
    return range(settings.seed, settings.seed + SEEDS * (random and training is None))


def first_pass(
    model: Model, corpus: Corpus, settings: Settings, *, training: Corpus | None, full: bool
) -> PlannedPass[Any]:
    """What other studies may read together with this one."""
    corpus = of_two_minutes(corpus, training, TRAINED, settings, full=full).corpus
    return states_pass(model, settings, corpus).planned()


def _decomposed(states: Captured, model: Model, settings: Settings) -> DecomposedStates:
    """The tensor product decompositions of the states of all layers."""
    draws = poisson_draws((sentence.unit for sentence in states.test.sentences), settings.seed, settings.resamples)
    return decompose(states.train, states.test, draws, settings.seed, model.device, settings.on_progress)


def _random_scores(
    model: Model,
    seed: int,
    corpus: Corpus,
    training: Corpus | None,
    recipe: ProbeRecipe,
    settings: Settings,
    budget: int,
) -> dict[str, Score]:
    """The scores on test sentences of the layers of a model with random weights, which no name holds."""
    with capture_treebanks(
        TreebankStates, partial(states_pass, untrained(model, seed), settings), corpus, training, budget
    ) as states:
        return _probed(model, states, recipe, settings, len(model.capture.heads))[1]


def _probed(
    model: Model, states: Captured, recipe: ProbeRecipe, settings: Settings, spaces: int | None = None
) -> tuple[FittedProbes, dict[str, Score]]:
    """Returns: the probes of the first `spaces`, by default of all, and their scores on test sentences."""
    fitted = fit(states.train, recipe, settings.seed, model.device, settings.on_progress, spaces)
    return fitted, _scores(states.test, fitted.maps, model, settings)


def _held_out_scores(held: TreebankStates, fitted: FittedProbes, model: Model, settings: Settings) -> HeldOutScores:
    """The scores with the chosen ranks and, if there are several, with each rank."""
    chosen = _scores(held, fitted.maps, model, settings)
    several = fitted.by_rank if len(fitted.by_rank) > 1 else {}
    return HeldOutScores(chosen, {rank: _scores(held, maps, model, settings) for rank, maps in several.items()})


def _scores(treebank: TreebankStates, maps: Mapping[str, Maps], model: Model, settings: Settings) -> dict[str, Score]:
    draws = poisson_draws((sentence.unit for sentence in treebank.sentences), settings.seed, settings.resamples)
    return scores(score(treebank, maps, model.device), draws)


def _steps(sentences: int, recipe: ProbeRecipe, random: int) -> int:
    """How often sentences are trained on in all, with this many models of random weights, for the progress bar."""
    return (1 + random) * recipe.epochs * (sentences - round(sentences * recipe.held_out))
