"""What repetition loses without a head: the loss of the second copy, each head replaced by its mean over the inputs.

Attention to an earlier copy does not say that the model copies by it; the rise of the loss does.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headscope.ablation.sweep import sweep
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.heads import existing
from headscope.models.prediction_heads import is_causal
from headscope.outputs.words.item_inputs import ItemInputs
from headscope.passes.settings import Settings, nothing
from headscope.results.variables import Variables
from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.studies.heads.induction import STUDY
from headscope.studies.heads.induction.variables import MADE, Arrays

SEQUENCES = 10  # each is read once for every head


def forward_passes(model: Model, sequences: int) -> int:
    """How many inputs `causal_effect` reads: some sequences whole, without each head, and without each layer."""
    heads = model.capture.heads
    return min(sequences, SEQUENCES) * (1 + sum(heads) + len(heads)) if is_causal(model) else 0


def causal_effect(
    model: Model, repeated: Sequence[Encoded], start: int, length: int, settings: Settings
) -> Arrays | str:
    """The loss of the second copy, and its rise without each head; a reason for a model that predicts no next word.

    * `repeated`: inputs with copies of `length` tokens, of which the first copy begins at `start`.
    """
    if not is_causal(model):
        return "it has no head that predicts the next word from those before it"
    some = [replace(encoded, index=number) for number, encoded in enumerate(repeated[:SEQUENCES])]
    places = np.arange(start + length, start + 2 * length - 1)
    targets = [encoded.inputs["input_ids"][places + 1] for encoded in some]
    texts = [np.full(len(places), number) for number in range(len(some))]
    inputs = ItemInputs(model, (), some, [places] * len(some), targets, texts)
    alone = replace(settings, on_total=nothing, journal=None, workers=1, engine=None, keep_interrupted=False)
    swept = sweep(inputs, alone, mode="mean")
    heads, draws = model.capture.heads, poisson_draws(range(len(some)), settings.seed, settings.resamples)
    variables = Variables({}, STUDY.source, STUDY.labels, resampled=MADE)
    rises = (swept.plain - swept.heads).mean(-1)[existing(heads)]  # [head, input]
    variables.add_tally("copy_loss_rise", tally(rises.T, np.ones(len(some), bool), draws), heads, "sequences")
    variables.add("copy_loss", -swept.plain.mean())
    return variables.arrays
