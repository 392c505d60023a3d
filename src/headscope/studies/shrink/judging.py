"""What held-out texts say of a smaller model: its scores, those of its steps and of other parts, and who loses."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes import Settings
from headscope.studies.shrink import removed
from headscope.studies.shrink.answers import ModelAnswers, Outputs
from headscope.studies.shrink.choices import outputs_of_others
from headscope.studies.shrink.evidence import choices_of, outcome_of, scores_of
from headscope.studies.shrink.found_search import FoundSearch
from headscope.studies.shrink.held_out import HeldOut
from headscope.studies.shrink.sizes import Original
from headscope.studies.shrink.splits import Splits, encode
from headscope.studies.shrink.variables import ShrinkOutcome
from headscope.studies.shrink.vocabulary import held_out_counts


@dataclass(frozen=True)
class Judging:
    """How models are judged: beside the whole one, by its answers to texts.

    * `stopping`, `held_out`: these texts as the whole model reads them.
    * `tolerance`: that the main metric may lose.
    """

    model: Model
    answers: ModelAnswers
    texts: Splits
    stopping: list[Encoded]
    held_out: list[Encoded]
    tolerance: float
    settings: Settings


@dataclass(frozen=True)
class Evidence:
    """What held-out texts say of a smaller model.

    * `outcome`, `variables`, `facts`: see `evidence`.
    * `inputs`: the held-out texts as the smaller model reads them.
    * `stays`: the heads that stay.
    * `before`, `after`: the outputs of the model before it was made smaller, and after.
    """

    outcome: ShrinkOutcome
    variables: dict[str, xr.DataArray]
    facts: dict[str, Any]
    inputs: list[Encoded]
    stays: Bool[np.ndarray, "layer head"]
    before: Outputs
    after: Outputs


def evidence(
    judging: Judging, search: FoundSearch, measured: Original, ordered: Original, untrained: Model, smaller: Model
) -> Evidence:
    """Judge the models of all steps and the smaller one, before its training and after it.

    * `search`: what was found in the whole model.
    * `measured`, `ordered`: the whole model, whose parts are valued by what they add, and by the method of the search.
    """
    answers, texts, settings, held_out = judging.answers, judging.texts, judging.settings, judging.held_out
    task, size, inputs = answers.task, search.steps[-1].size, encode(smaller, texts.held_out)
    original, by_parts = search.original(ordered), search.choice(ordered)
    outputs = [answers.of(judging.model, held_out, settings)]
    outputs += [answers.of(original.cut(step.size), held_out, settings) for step in search.steps[1:]]
    chosen = outputs[-1] if by_parts is original else answers.of(by_parts.cut(size), held_out, settings)
    others = outputs_of_others(by_parts, size, answers, held_out, settings)
    outputs += [answers.of(one, inputs, settings) for one in (untrained, smaller)]
    both = HeldOut(texts.held_out, texts.units, (judging.model, smaller), (held_out, inputs), (outputs[0], outputs[-1]))
    return Evidence(
        outcome_of(task, search.steps, len(original.size.layers), outputs, texts, judging.tolerance, settings),
        choices_of(task, [outputs[0], chosen, *others], texts, settings)
        | search.variables()
        | removed.variables(measured, size, original.kept(size))
        | both.variables(task, settings),
        {
            "held_out": held_out_counts(judging.model, smaller, held_out, inputs),
            "tolerance": judging.tolerance,
            "changed": both.changed(task, settings.seed),
        },
        inputs,
        removed.heads_that_stay(measured, size, original.kept(size)),
        outputs[0],
        outputs[-1],
    )


def outcome_when_loaded(judging: Judging, found: Evidence, written: Model) -> ShrinkOutcome:
    """The outcome with the scores of the saved model, as it was loaded from its folder."""
    outputs = [found.before, judging.answers.of(written, found.inputs, judging.settings)]
    scores = scores_of(judging.answers.task, outputs, judging.texts, judging.settings)
    return replace(found.outcome, reloaded=scores.values[-1])
