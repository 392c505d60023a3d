"""Train all weights of a model whose [CLS] has a mean of 0 over texts of the task when training begins.

States share a large common vector, which hides what differs between texts (Mu and Viswanath 2018).
"""

from typing import Any

import torch
from torch import Tensor, nn

from headscope.corpora.corpus import sample
from headscope.errors import HeadscopeError
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import encode_for_task
from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel

# Training examples whose mean is taken.
EXAMPLES = 500


def centred(beginning: Beginning) -> InitialModel:
    """Train all weights; the bias of the first layer that reads [CLS] alone takes the mean of [CLS] from it.

    The mean is that of `EXAMPLES` training examples at most, before training. It is a part of the bias, so that the
    kept model is an ordinary one.

    Raises `HeadscopeError` for a model in which no linear layer with a bias reads one vector a text.
    """
    start = beginning.initial()
    nn.Module.to(start.network, beginning.environment.device)
    texts = sample(beginning.task.training(), EXAMPLES, beginning.seed)
    inputs, _ = encode_for_task(start.model, texts, beginning.recipe.max_tokens)
    read: dict[nn.Linear, list[Tensor]] = {}

    def keep(layer: Any, arguments: Any) -> None:
        if arguments[0].ndim == 2:
            read.setdefault(layer, []).append(arguments[0])

    layers = [module for module in start.network.modules() if isinstance(module, nn.Linear)]
    hooks = [layer.register_forward_pre_hook(keep) for layer in layers]
    logits(start.model, inputs, beginning.settings.quiet)
    for hook in hooks:
        hook.remove()
    first = next(iter(read), None)
    if first is None or first.bias is None or sum(map(len, read[first])) != len(inputs):
        kind = start.network.config.model_type
        raise HeadscopeError(f"way 'centred': in model type '{kind}' no layer reads [CLS] alone; use another way")
    with torch.no_grad():
        first.bias.sub_(first.weight @ torch.cat(read[first]).mean(0))
    return start
