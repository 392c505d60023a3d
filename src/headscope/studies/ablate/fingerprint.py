"""Fingerprint of all that the outputs of a model depend on, so that no other computation continues a journal."""

from headscope.ablation.strategies import SweptInputs
from headscope.passes.fingerprint import of_machine, of_model
from headscope.passes.settings import Settings
from headscope.storage.fingerprint import Fingerprint, hash_of


def fingerprint(task_inputs: SweptInputs, settings: Settings) -> Fingerprint:
    """Model, inputs, machine and settings, as far as the last bit of an output depends on them."""
    arrays = [array for encoded in task_inputs.inputs for array in encoded.inputs.values()]
    return {
        "model": of_model(task_inputs.model),
        "inputs": hash_of(array.tobytes() for array in (*arrays, *task_inputs.masked_pieces)),
        "seed": settings.seed,
        "batch_tokens": settings.batch_tokens,
    } | of_machine(task_inputs.model, settings)
