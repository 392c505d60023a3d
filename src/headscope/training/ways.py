"""Ways to fine-tune, by their names in `finetune --ways`: what is trained, and from which weights.

`lora` trains low-rank updates of weights of attention (Hu et al. 2021), through peft: of those that peft names for the
model's type, for BERT of queries and values. They are scaled by 2, as alpha is twice the rank; the kept model has them
in its weights. What a way trains first is kept in the run's folder.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple, get_args

import torch
from torch import nn
from transformers import PreTrainedModel

from headscope.capture.transformers_logging import refusing
from headscope.catalog import require
from headscope.encoding.masking import Masking, masked
from headscope.errors import HeadscopeError, suggest
from headscope.outputs.task_inputs import encode_for_task, task_inputs
from headscope.training.beginning import Beginning
from headscope.training.centred import centred
from headscope.training.dataset import MaskedTrainingSet
from headscope.training.initialisation import Init, InitialModel, initial, initial_masked_lm
from headscope.training.loop import MaskedExamples, task_examples, train
from headscope.training.perturbed import perturbed
from headscope.training.ways_by_layer import adapters, last_layers, mix, stacked

WITHOUT_TRAINING = "pretrained"
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


# As `pretrain-head` has them; every tenth example is held out.
MASKING = Masking(share=0.3, mask=0.8, random=0.1)
HELD_OUT = 10


def two_stages(beginning: Beginning) -> InitialModel:
    """Train all weights on a first task, then on the task itself with a new classifier (STILTs: Phang et al. 2018).

    The first stage has the same recipe and seeds.

    Raises `HeadscopeError` if no first task is named.
    """
    first = beginning.options.first_task
    if first is None:
        raise HeadscopeError("way 'two_stages' needs the task of its first stage; name one of --task by --first-task")
    corpus = first.training()
    record = beginning.record(first.name, corpus)
    if not record.completed():
        environment = beginning.environment
        code = environment.remote_code
        start = initial(environment.checkpoint, first, "finetuned", beginning.seed, remote_code=code)
        nn.Module.to(start.network, environment.device)
        most = beginning.recipe.max_tokens
        examples = task_examples(start.model, task_inputs(start.model, first, first.dev, max_tokens=most), most)
        train(start, examples, beginning.recipe, beginning.settings.quiet, record)
    return beginning.after(record)


def adapted(beginning: Beginning) -> InitialModel:
    """Train a head for masked words on the text of the task first, with the encoder, then fine-tune.

    Task-adaptive pre-training (Gururangan et al. 2020, section 4), on the train split alone, with the same recipe, but
    without a choice of the best epoch. The head for masked words is left out of what the second training begins with.

    Raises `HeadscopeError` if the model has a head for masked words already, or its type has none.
    """
    corpus = beginning.task.training()
    record = beginning.record("masked words", corpus)
    if not record.completed():
        environment = beginning.environment
        start = initial_masked_lm(environment.checkpoint, beginning.seed, remote_code=environment.remote_code)
        nn.Module.to(start.network, environment.device)
        inputs, cut = encode_for_task(start.model, corpus, beginning.recipe.max_tokens)
        held = [replace(encoded, index=number) for number, encoded in enumerate(inputs[::HELD_OUT])]
        rest = [encoded for number, encoded in enumerate(inputs) if number % HELD_OUT] or held
        fixed = [masked(encoded, start.tokenizer, beginning.seed) for encoded in held]
        training_set = MaskedTrainingSet(rest, start.tokenizer, MASKING, beginning.seed)
        examples = MaskedExamples(training_set, [one for one, _ in fixed], [one for _, one in fixed], cut.total())
        recipe = replace(beginning.recipe, keep="last")
        train(start, examples, recipe, beginning.settings.quiet, record)
    return beginning.after(record)


class Way(NamedTuple):
    """A way: what makes the model before training, and the fields of `WayOptions` that it reads."""

    begin: Callable[[Beginning], InitialModel]
    options: tuple[str, ...] = ()


# Beside the inits of `training.initial`, which are ways too.
FURTHER = {
    "adapted": Way(adapted),
    "adapters": Way(adapters, ("rank",)),
    "centred": Way(centred),
    "last_layers": Way(last_layers, ("top_layers",)),
    "lora": Way(lora, ("rank",)),
    "mix": Way(mix),
    "perturbed": Way(perturbed),
    "stacked": Way(stacked),
    "two_stages": Way(two_stages, ("first_task",)),
}


def way_names() -> list[str]:
    """The names of all ways, sorted.

    >>> {"finetuned", "frozen", "lora"} <= set(way_names())
    True
    """
    return sorted((*get_args(Init), *FURTHER))


def options_of(ways: Iterable[str]) -> set[str]:
    """The fields of `WayOptions` that any of some ways reads."""
    return {name for way in ways if way in FURTHER for name in FURTHER[way].options}


def begin(way: str, beginning: Beginning) -> InitialModel:
    """The model of a way before training.

    Raises `HeadscopeError` if there is no such way, or it cannot be used with the model.
    """
    return FURTHER[way].begin(beginning) if refuse_unknown(way) in FURTHER else beginning.initial(way)


def refuse_unknown(way: str) -> str:
    """The name of a way. Raises `HeadscopeError` with near-miss names if there is none of that name."""
    if way not in way_names():
        raise HeadscopeError(f"way '{way}' is unknown; {suggest(way, way_names())}")
    return way
