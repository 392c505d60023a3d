"""Train low-rank updates of the weights of attention, and a new classifier (LoRA: Hu et al. 2021), through peft.

The updated weights are those that peft names for the model's type, for BERT those of queries and values. They are
scaled by 2, as alpha is twice the rank. The kept model has them in its weights.
"""

from copy import deepcopy
from dataclasses import replace

import torch
from transformers import PreTrainedModel

from headscope.capture.transformers_logging import refusing
from headscope.catalog import require
from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel

SCALE = 2


def lora(beginning: Beginning) -> InitialModel:
    """Train low-rank updates of the weights of attention, and a new classifier.

    Raises `HeadscopeError` if peft is not installed, or knows no weights to update in a model of this type.
    """
    peft, start = require("peft"), beginning.initial()
    rank = beginning.options.rank
    config = peft.LoraConfig(r=rank, lora_alpha=SCALE * rank)
    refused = refusing(f"model type '{start.network.config.model_type}': peft cannot update it", "use another way")
    with torch.random.fork_rng(), refused:
        torch.manual_seed(beginning.seed)
        peft.inject_adapter_in_model(config, start.network)
    for name, weight in start.network.named_parameters():
        weight.requires_grad = "lora_" in name or name in start.new
    new = [name for name, weight in start.network.named_parameters() if weight.requires_grad]
    return replace(start, new=tuple(sorted(new)), ordinary=merged)


def merged(network: PreTrainedModel) -> PreTrainedModel:
    """A copy of the network with the updates in its weights."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    copied = deepcopy(network)
    for name, module in list(copied.named_modules()):
        if isinstance(module, BaseTunerLayer):
            module.merge()
            parent, _, child = name.rpartition(".")
            setattr(copied.get_submodule(parent), child, module.get_base_layer())
    return copied
