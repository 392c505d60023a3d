"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.models import Model
from headscope.models.random_weights import untrained
from headscope.passes import DEFAULTS, Settings
from headscope.passes.captured_treebanks import capture_treebanks, of_two_minutes, trained_on, treebank_passes
from headscope.passes.kept_arrays import ArrayPass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.passes.settings import Training
from headscope.ranges import Range
from headscope.statistics.bootstrap import poisson_draws
from headscope.studies.heads.probe.experiments import KINDS, RANDOM, Experiments, Gold, preferences
from headscope.studies.heads.probe.observer import Treebank, attention_pass
from headscope.studies.heads.probe.train import ParserRecipe, hold_out
from headscope.studies.heads.probe.variables import to_variables, weighed
from headscope.studies.heads.probe.word_vectors import from_file, from_model

# Sentences to train on, unless all are asked for.
TRAINED = 1_000


def run(  # noqa: PLR0913 (each is an option of the command)
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    training: Training | None = None,
    vectors: str | None = None,
    random: bool = True,
    seeds: Annotated[int, Range(1, 100)] = 3,
    recipe: ParserRecipe,
    full: bool = False,
    memory: Annotated[float, Range(0, 1000)] = 4.0,
) -> xr.Dataset:
    """`uas[probe]`: the share of words that get their syntactic head, punctuation left out, roots among them.

    Parsers are trained on `training`, or without one on four documents of five of the corpus, and tested on the
    fifth (where fewer than 25 documents are known, on sentences).
    Differences from the released code: a word is never its own head; ROOT has a learned constant beside the attention
    to [CLS] and [SEP], and the vector 0, so that in parsers with words its weights depend on the dependent; the
    baseline of distances has 64 hidden units, not 256; batches, several epochs, a learning rate that falls to 0, and
    the parser of the epoch that is best on training sentences that are held out.

    Arguments:

    * `training`: Corpus to train on; by default, four documents of five of `corpus`, and the fifth is tested.
    * `vectors`: File of word vectors (GloVe, word2vec); by default the model's own input embeddings.
    * `random`: Also parse with the attention of random weights, new for each seed.
    * `seeds`: Number of runs, each with its own seed, counted up from the seed.
    * `recipe`: How parsers are trained.
    * `full`: Read all sentences; by default at most 1,000 to train on and 600 to test on, or 1,600 in all, drawn by
      the seed.
    * `memory`: Gigabytes of attention to keep in memory; the rest is read from disk.

    Raises `HeadscopeError` if a corpus has no dependency trees or no example that fits into the model, the vectors
    cannot be read, or the disk is full.
    """
    numbers = range(settings.seed, settings.seed + seeds)
    attributes = provenance("probe", model, corpus, settings)
    source = training or corpus
    corpus, training, attributes["read_in_part"] = of_two_minutes(corpus, training, TRAINED, settings, full=full)
    read = (corpus.n_examples + (training.n_examples if training else 0)) * (1 + random * seeds)
    most = trained_on(corpus, training)  # how many train is known once they are read
    settings.on_total(read + recipe.passes(most) * most * (1 + random * seeds))
    budget = int(memory * 1e9)
    names = [name for name in KINDS if name not in RANDOM]
    with capture_treebanks(Treebank, partial(attention_pass, model, settings), corpus, training, budget) as treebanks:
        sentences = [*treebanks.train.sentences, *treebanks.test.sentences]
        lexicon = from_file(vectors, sentences) if vectors else from_model(model, sentences)
        gold = Gold(treebanks.test.sentences)
        experiments = Experiments(recipe, lexicon, gold, model.device, settings.on_progress)
        settings.on_total(read + _steps(len(treebanks.train), recipe, numbers, random))
        offset = experiments.simple(treebanks)
        with experiments.keeping(settings.keep_interrupted):
            experiments.run(names, numbers, treebanks)
        preferred = preferences(treebanks.test, gold)
        attributes |= treebanks.attributes(source, "attention") | {"words_with_vectors": round(lexicon.coverage, 4)}
    with experiments.keeping(settings.keep_interrupted):
        for seed in numbers if random and not experiments.interrupted else ():
            with capture_treebanks(  # no name holds the model of random weights
                Treebank, partial(attention_pass, untrained(model, seed), settings), corpus, training, budget
            ) as treebanks:
                experiments.run(RANDOM, [seed], treebanks)
    draws = poisson_draws((sentence.unit for sentence in gold.sentences), settings.seed, settings.resamples)
    variables = to_variables(experiments.outcomes, gold, draws, numbers)
    variables |= weighed(np.stack(experiments.weights), preferred, gold, draws, model.capture.heads)
    attributes |= {
        "offset": offset,
        "vectors": Path(vectors).name if vectors else "the model's input embeddings",
        "recipe": json.dumps(asdict(recipe) | {"seeds": seeds}),
    }
    if experiments.interrupted:
        attributes["interrupted"] = experiments.interrupted
    return results.check(xr.Dataset(variables, attrs=attributes))


def passes(
    model: Model, corpus: Corpus, settings: Settings, *, training: Corpus | None, random: bool, seeds: int, full: bool
) -> Iterator[ArrayPass[Any]]:
    """The passes of `run`, which a worker of a cluster reads."""
    taken = of_two_minutes(corpus, training, TRAINED, settings, full=full)
    return treebank_passes(attention_pass, model, taken, settings, range(settings.seed, settings.seed + seeds * random))


def random_seeds(settings: Settings, *, training: Corpus | None, random: bool, seeds: int) -> range:
    """The seeds of the models of random weights whose pass follows the first one: none where `training` is between."""
    return range(settings.seed, settings.seed + seeds * (random and training is None))


def first_pass(
    model: Model, corpus: Corpus, settings: Settings, *, training: Corpus | None, full: bool
) -> PlannedPass[Any]:
    """What other studies may read together with this one."""
    corpus = of_two_minutes(corpus, training, TRAINED, settings, full=full).corpus
    return attention_pass(model, settings, corpus).planned()


def _steps(sentences: int, recipe: ParserRecipe, seeds: range, random: bool) -> int:
    """How often sentences are trained on in all, for the progress bar."""
    held_out = (hold_out(sentences, recipe.held_out, of_seeds) for of_seeds in (seeds, seeds[:1]))
    together, alone = (int((~mask.all(0)).sum()) for mask in held_out)
    return recipe.passes(sentences) * (together + random * len(seeds) * alone)
