"""A model before training: an encoder with a new classifier."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import torch
from transformers import (
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    AutoModel,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers import PreTrainedTokenizerBase as Tokenizer

from headscope.capture.self_check import Capture
from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.adapters import merged
from headscope.models.checkpoint import Checkpoint
from headscope.models.config import load_config
from headscope.models.pruned_checkpoint import built, headless_class, pruning_of
from headscope.models.tokenizer import load_tokenizer
from headscope.tasks import Task
from headscope.training.recipe import Init


@dataclass(frozen=True)
class InitialModel:
    """A network before training, with its tokenizer and the names of its new weights."""

    network: PreTrainedModel
    tokenizer: Tokenizer
    new: tuple[str, ...] = ()

    @property
    def pad(self) -> int:
        """The padding token's id."""
        return int(str(self.tokenizer.pad_token_id))

    @property
    def model(self) -> Model:
        """A model for plain forward passes, without capture of attention."""
        return Model("", self.network, self.tokenizer, Capture("", ()))


def initial(checkpoint: Checkpoint, task: Task, init: str, seed: int, *, remote_code: bool = False) -> InitialModel:
    """Build the model of a row of Table 1 before training (Kovaleva et al. 2019).

    The classifier is always new, with random weights by the model's own code. The same seed gives the same weights.

    * `checkpoint`: the model's files.
    * `task`: sets the number and the names of the outputs.
    * `init`: "random" draws the encoder's weights too; with "frozen" only the new weights are trained;
      "pretrained" and "finetuned" take the encoder of the checkpoint.

    Raises `HeadscopeError` if the init is unknown, or the model type has no classifier in transformers.
    """
    if init not in get_args(Init):
        raise HeadscopeError(f"init '{init}' is unknown; use one of {', '.join(get_args(Init))}")
    tokenizer = load_tokenizer(checkpoint, remote_code=remote_code)
    config = _config(checkpoint, task, tokenizer, remote_code)
    _padding(checkpoint.name, config, tokenizer)
    code = {"trust_remote_code": remote_code}
    with torch.random.fork_rng(), quiet(), refusing(f"model '{checkpoint.name}' cannot be loaded", "use another model"):
        torch.manual_seed(seed)
        network = _classifier(config, code)
        kept = {} if init == "random" else _encoder(checkpoint, config, code)
    weights = network.base_model.state_dict()
    kept = {name: weight for name, weight in kept.items() if name in weights and weight.shape == weights[name].shape}
    network.base_model.load_state_dict(kept, strict=False)
    old = {f"{network.base_model_prefix}.{name}" for name in kept}
    if init == "frozen":
        for name, parameter in network.named_parameters():
            parameter.requires_grad = name not in old
    return InitialModel(network, tokenizer, tuple(sorted(set(dict(network.named_parameters())) - old)))


def _config(checkpoint: Checkpoint, task: Task, tokenizer: Tokenizer, remote_code: bool) -> PreTrainedConfig:
    config = load_config(checkpoint, remote_code=remote_code)
    kind = config.model_type
    if config.is_encoder_decoder:
        raise HeadscopeError(f"model '{checkpoint.name}' is an encoder-decoder; use an encoder, such as a BERT")
    supported = type(config) in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
    if not supported and "AutoModelForSequenceClassification" not in checkpoint.config.get("auto_map", {}):
        raise HeadscopeError(
            f"model '{checkpoint.name}': type '{kind}' has no classifier in transformers; use another model"
        )
    if pruning_of(config):  # the folder's own code is for other programs
        vars(config).pop("auto_map", None)
    names = task.labels or ("score",)
    config.id2label = dict(enumerate(names))
    config.label2id = {name: number for number, name in enumerate(names)}
    config.problem_type = "regression" if task.kind == "regression" else "single_label_classification"
    return config


def _classifier(config: PreTrainedConfig, code: Mapping[str, Any]) -> PreTrainedModel:
    """A network with random weights, without the removed heads of a pruned model."""
    if (pruning := pruning_of(config)) is None:
        return AutoModelForSequenceClassification.from_config(config, dtype=torch.float32, **code)
    kind: Any = MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[type(config)]
    network = built(kind, pruning)._from_config(config, dtype=torch.float32)
    network.__class__ = kind
    return network


def _padding(name: str, config: PreTrainedConfig, tokenizer: Tokenizer) -> None:
    """Set the padding token: decoders need it to find the last token; without one, the end of text takes its place."""
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise HeadscopeError(f"model '{name}': its tokenizer has no padding token; set one (pad_token) and save it")
        tokenizer.pad_token = tokenizer.eos_token
    config.pad_token_id = tokenizer.pad_token_id


def _encoder(checkpoint: Checkpoint, config: PreTrainedConfig, code: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The encoder's weights in the checkpoint."""
    pruning = pruning_of(config)
    kind: Any = built(headless_class(config), pruning) if pruning else AutoModel
    encoder, report = kind.from_pretrained(
        checkpoint.folder,
        config=config,
        local_files_only=True,
        use_safetensors=True,
        dtype=torch.float32,
        output_loading_info=True,
        **({} if pruning else code),
    )
    if checkpoint.adapter:
        encoder = merged(encoder, checkpoint.adapter, checkpoint.name)
    lacking = set(report["missing_keys"])
    return {name: weight for name, weight in encoder.state_dict().items() if name not in lacking}
