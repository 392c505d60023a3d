"""A model before training: an encoder with a new classifier or masked-language head."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import torch
import transformers
from torch import nn
from transformers import AutoModel, PreTrainedConfig, PreTrainedModel
from transformers import PreTrainedTokenizerBase as Tokenizer

from headscope.capture.self_check import Capture
from headscope.capture.transformers_logging import quiet, refusing
from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.adapters import merged
from headscope.models.checkpoint import Checkpoint
from headscope.models.config import bounded, load_config
from headscope.models.prediction_heads import has_words_head, predicts_words
from headscope.models.pruned_checkpoint import built, pruning_of
from headscope.models.segment_ids import with_segment_ids
from headscope.models.tokenizer import load_tokenizer
from headscope.training.dataset import TrainingInputs
from headscope.training.recipe import Init


def as_it_is(value: Any) -> Any:
    """The network unchanged."""
    return value


@dataclass(frozen=True)
class InitialModel:
    """A network before training, with its tokenizer and the names of its new weights.

    * `ordinary`: makes of the trained network one that transformers loads by itself; None where there is none, so that
      it is not kept.
    * `training_set`: puts another loss in the place of the network's own.
    * `seconds`: of a training before, from which the weights come.
    * `rates`: by what the learning rate of a weight is multiplied, by the `id` of the weight.
    """

    network: PreTrainedModel
    tokenizer: Tokenizer
    new: tuple[str, ...] = ()
    ordinary: Callable[[PreTrainedModel], PreTrainedModel] | None = as_it_is
    training_set: Callable[[Any], TrainingInputs] = as_it_is
    seconds: float = 0.0
    rates: Mapping[int, float] = field(default_factory=dict)

    def not_ordinary(self, new: Iterable[str]) -> "InitialModel":
        """The same with further new weights, which no class of transformers has."""
        return replace(self, new=tuple(sorted({*self.new, *new})), ordinary=None)

    @property
    def pad(self) -> int:
        """The padding token's id."""
        return int(str(self.tokenizer.pad_token_id))

    @property
    def model(self) -> Model:
        """A model for plain forward passes, without capture of attention."""
        return Model("", self.network, self.tokenizer, Capture("", (), looks_ahead=False))  # its outputs tell that


def initial(checkpoint: Checkpoint, task: Task, init: str, seed: int, *, remote_code: bool = False) -> InitialModel:
    """Build the model of a row of Table 1 before training (Kovaleva et al. 2019).

    The classifier is always new, with random weights by the model's own code. The same seed gives the same weights. For
    a task of words the head is that of the checkpoint.

    * `checkpoint`: the model's files.
    * `task`: sets the number and the names of the outputs.
    * `init`: "random" draws the encoder's weights too; with "frozen" only the new weights are trained;
      "pretrained" and "finetuned" take the encoder of the checkpoint.

    Raises `HeadscopeError` if the init is unknown, or the model type has no classifier in transformers.
    """
    if init not in get_args(Init):
        raise HeadscopeError(f"init '{init}' is unknown; use one of {', '.join(get_args(Init))}")
    if task.kind == "words":
        return _initial_words(checkpoint, init, seed, remote_code)
    if task.kind == "span":
        config = _config(checkpoint, "QuestionAnswering", "head for spans", remote_code)
        config.num_labels = 2  # the first and the last token
        return _built(checkpoint, config, "QuestionAnswering", init, seed, remote_code)
    config = _with_outputs(_config(checkpoint, "SequenceClassification", "classifier", remote_code), task)
    return _built(checkpoint, config, "SequenceClassification", init, seed, remote_code)


def _initial_words(checkpoint: Checkpoint, init: str, seed: int, remote_code: bool) -> InitialModel:
    """A model with its own head for masked or next words."""
    if not predicts_words(checkpoint):
        raise HeadscopeError(
            f"model '{checkpoint.name}' has no head that predicts words; train one with 'headscope pretrain-head'"
        )
    kind = "MaskedLM" if has_words_head(checkpoint) else "CausalLM"
    config = _config(checkpoint, kind, "head for words", remote_code)
    start = _built(checkpoint, config, kind, init, seed, remote_code, new_head=False)
    if not any(parameter.requires_grad for parameter in start.network.parameters()):
        raise HeadscopeError(
            f"model '{checkpoint.name}': its head for words is its embeddings, so that nothing is trained where the "
            "encoder is frozen; use another --init"
        )
    return start


def initial_masked_lm(
    checkpoint: Checkpoint, seed: int, *, frozen: bool = False, remote_code: bool = False
) -> InitialModel:
    """Build an encoder with a new masked-language head, whose output layer shares the weights of the embeddings.

    * `frozen`: only the new weights are trained.

    Raises `HeadscopeError` if the model has such a head already, or its type has none in transformers.
    """
    if has_words_head(checkpoint):
        raise HeadscopeError(f"model '{checkpoint.name}' has a head for masked words; use it as it is")
    config = _config(checkpoint, "MaskedLM", "masked-language head", remote_code)
    config.tie_word_embeddings = True
    return _built(checkpoint, config, "MaskedLM", "frozen" if frozen else "finetuned", seed, remote_code)


def set_for_training(network: PreTrainedModel, dropout: float, device: torch.device) -> None:
    """Set the dropout and the attention of a training; the configuration keeps its dropout."""
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout
    if device.type == "cpu":  # where the fused kernel's backward pass takes several times that of plain attention
        network.set_attn_implementation("eager")


def _built(
    checkpoint: Checkpoint,
    config: PreTrainedConfig,
    kind: str,
    init: str,
    seed: int,
    remote_code: bool,
    *,
    new_head: bool = True,
) -> InitialModel:
    """A network of a class of transformers (AutoModelFor...), from an init of `initial`.

    * `new_head`: its head is new; else that of the checkpoint, too.
    """
    tokenizer = load_tokenizer(checkpoint, remote_code=remote_code)
    _padding(checkpoint.name, config, tokenizer)
    code = {"trust_remote_code": remote_code}
    failure = refusing(f"model '{checkpoint.name}' cannot be loaded", "use another model")
    with torch.random.fork_rng(), quiet(), failure, bounded(checkpoint):
        # first, since sizes that are too large are found here before memory is taken
        kept = {} if init == "random" else _weights(checkpoint, config, code, "" if new_head else kind)
        torch.manual_seed(seed)
        network = _untrained(config, kind, code).eval()
    part, prefix = (network.base_model, f"{network.base_model_prefix}.") if new_head else (network, "")
    weights = part.state_dict()
    kept = {name: weight for name, weight in kept.items() if name in weights and weight.shape == weights[name].shape}
    part.load_state_dict(kept, strict=False)
    tokenizer, _ = with_segment_ids(checkpoint.name, network, tokenizer)
    old, parameters = {f"{prefix}{name}" for name in kept}, dict(network.named_parameters())
    if init == "frozen":
        encoder = f"{network.base_model_prefix}."
        for name, parameter in parameters.items():
            parameter.requires_grad = name not in old if new_head else not name.startswith(encoder)
    return InitialModel(network, tokenizer, tuple(sorted(set(parameters) - old)))


def _config(checkpoint: Checkpoint, kind: str, head: str, remote_code: bool) -> PreTrainedConfig:
    """The configuration of a model whose type has a class AutoModelFor`kind`; `head` names that in errors."""
    config = load_config(checkpoint, remote_code=remote_code)
    if config.is_encoder_decoder:
        raise HeadscopeError(f"model '{checkpoint.name}' is an encoder-decoder; use an encoder, such as a BERT")
    auto = _auto(kind)
    if type(config) not in auto._model_mapping and auto.__name__ not in checkpoint.config.get("auto_map", {}):
        raise HeadscopeError(
            f"model '{checkpoint.name}': type '{config.model_type}' has no {head} in transformers; use another model"
        )
    if pruning_of(config):  # the folder's own code is for other programs
        vars(config).pop("auto_map", None)
    return config


def _with_outputs(config: PreTrainedConfig, task: Task) -> PreTrainedConfig:
    """The configuration with the outputs of a task."""
    names = task.labels or ("score",)
    config.id2label = dict(enumerate(names))
    config.label2id = {name: number for number, name in enumerate(names)}
    config.problem_type = "single_label_classification" if task.labels else "regression"
    return config


def _auto(kind: str) -> Any:
    return getattr(transformers, f"AutoModelFor{kind}")


def _untrained(config: PreTrainedConfig, kind: str, code: Mapping[str, Any]) -> PreTrainedModel:
    """A network with random weights, without the removed heads of a pruned model."""
    if (pruning := pruning_of(config)) is None:
        return _auto(kind).from_config(config, dtype=torch.float32, **code)
    plain = _auto(kind)._model_mapping[type(config)]
    network = built(plain, pruning)._from_config(config, dtype=torch.float32)
    network.__class__ = plain
    return network


def _padding(name: str, config: PreTrainedConfig, tokenizer: Tokenizer) -> None:
    """Set the padding token: decoders need it to find the last token; without one, the end of text takes its place."""
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise HeadscopeError(f"model '{name}': its tokenizer has no padding token; set one (pad_token) and save it")
        tokenizer.pad_token = tokenizer.eos_token
    config.pad_token_id = tokenizer.pad_token_id


def _weights(
    checkpoint: Checkpoint, config: PreTrainedConfig, code: Mapping[str, Any], head: str
) -> dict[str, torch.Tensor]:
    """The encoder's weights in the checkpoint, or those of AutoModelFor`head`."""
    pruning = pruning_of(config)
    kind: Any = _auto(head) if head else AutoModel
    if pruning:
        kind = built(kind._model_mapping[type(config)], pruning)
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
