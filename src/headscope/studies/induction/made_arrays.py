"""Attention to earlier copies in inputs of random tokens, as variables of a result."""

from collections.abc import Sequence

from headscope.models import Model
from headscope.passes.settings import Settings
from headscope.studies.induction import scores, variables
from headscope.studies.induction.made_inputs import Maker
from headscope.studies.induction.observer import Reach
from headscope.studies.induction.reading import read_made
from headscope.studies.induction.relations import DEPTHS, RELATIONS
from headscope.studies.induction.scores import layers_of


def of_repeats(
    model: Model, made: Maker, reach: Reach, settings: Settings, shape: tuple[int, int, int]
) -> variables.Arrays:
    """Repeated sequences of random tokens, beside those without a repetition.

    * `shape`: how many, of which length, how often.
    """
    repeated, fresh = (
        read_made(model, name, inputs, len(RELATIONS), reach, settings)
        for name, inputs in (("repeated tokens", made.repeated(*shape)), ("fresh tokens", made.fresh(*shape)))
    )
    trials = scores.of_repeats(repeated, fresh, layers_of(model))
    drawn, heads = (settings.seed, settings.resamples), model.capture.heads
    arrays = variables.of_relations("", scores.score(trials, *drawn), heads) | variables.of_uniform(repeated, fresh)
    return arrays | variables.of_best(scores.best_heads(trials, *drawn), heads)


def of_planted(
    model: Model, made: Maker, reach: Reach, settings: Settings, texts: int, lengths: Sequence[int]
) -> variables.Arrays:
    """Planted pairs in texts of each length."""
    found, best, drawn = [], [], (settings.seed, settings.resamples)
    for context in lengths:
        planted, unplanted = (
            read_made(model, name, inputs(texts, context, 0), len(DEPTHS), reach, settings)
            for name, inputs in (("planted pairs", made.planted), ("texts without them", made.unplanted))
        )
        trials = scores.of_pairs(planted, unplanted)
        found.append(scores.score(trials, *drawn))
        best.append(scores.best_over_depths(trials, *drawn))
    return variables.of_pairs(found, best, lengths, model.capture.heads)
