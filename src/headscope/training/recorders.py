"""What is recorded along a training: lengths of gradients, updates and weights, changes of attention, and memory.

A review of Kovaleva et al. 2019 asks whether the last layers change most only because their gradients are larger.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from transformers import PreTrainedModel, TrainerCallback, TrainerState

from headscope import catalog
from headscope.corpora import Corpus
from headscope.corpora.corpus import part
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.models import wrap
from headscope.models.layer_weights import head_norms, head_weights, modules_by_layer
from headscope.passes import Settings
from headscope.passes.paired_pass import fold_pairs
from headscope.passes.passes import Pass
from headscope.training.initialisation import InitialModel

# Of each recorded step: the gradient after clipping, the optimiser's update, and the weights before it.
KINDS = ("gradient", "update", "weight")
# Steps between two records, at least; and records of a training, about.
STEPS_APART, MOST_RECORDS = 8, 50
NORMS, RECORDING = "norms", "recording"
EXAMPLES = 100
CHANGE = "attention_change"
SIMILARITY = "similarity"


class NormRecorder(TrainerCallback):
    """Records lengths at about fifty steps of a training, in the step's entry of `state.log_history`.

    So checkpoints hold them. Beside them are the seconds that this took, which are no cost of the training.

    * `layers`: the trained weights of each layer; empty where the layers cannot be identified.
    * `heads`: the weights of the heads of each layer, and their `places` in `layers`; empty where they cannot be
      identified, or are frozen.
    """

    def __init__(self, network: PreTrainedModel):
        number = getattr(network.config, "num_hidden_layers", 0)
        self.layers, self.heads = _layer_weights(network, number), head_weights(network, number)
        places = [{id(weight): index for index, weight in enumerate(weights)} for weights in self.layers]
        pairs = list(zip(self.heads, places, strict=False))
        trained = all(id(head.weight) in places for heads, places in pairs for head in heads)
        if not (pairs and trained):
            self.heads, pairs = [], []
        self.places = [[places[id(head.weight)] for head in heads] for heads, places in pairs]
        self.before: list[list[Tensor]] = []
        self.record: dict[str, Any] = {}
        self.seconds = 0.0

    def on_pre_optimizer_step(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        """Read the gradients, after clipping, and keep the weights until the update."""
        if self.layers and is_recorded(state.global_step, state.max_steps):
            began = time.monotonic()
            self.before = [[weight.detach().clone() for weight in weights] for weights in self.layers]
            gradients = [[_gradient(weight) for weight in weights] for weights in self.layers]
            self.record = {"gradient": self._norms(gradients), "weight": self._norms(self.before)}
            self.seconds = time.monotonic() - began

    def on_optimizer_step(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        """Read the update."""
        if self.before:
            began = time.monotonic()
            updates = [
                [weight.detach() - old for weight, old in zip(weights, before, strict=True)]
                for weights, before in zip(self.layers, self.before, strict=True)
            ]
            self.record["update"] = self._norms(updates)
            self.before = []
            self.seconds += time.monotonic() - began
            state.log_history[-1] |= {NORMS: self.record, RECORDING: self.seconds}  # type: ignore[operator]

    def _norms(self, tensors: list[list[Tensor]]) -> dict[str, list]:
        """The lengths of each layer and of each of its heads, of tensors in the order of `layers`."""
        layers = [
            float(torch.stack([torch.linalg.vector_norm(weight) for weight in weights]).norm()) for weights in tensors
        ]
        by_head = [
            head_norms(heads, [weights[index] for index in places]).tolist()
            for heads, places, weights in zip(self.heads, self.places, tensors, strict=False)
        ]
        return {"layer": layers, "head": by_head}


def is_recorded(done: int, total: int) -> bool:
    """Whether the next step is recorded, of which `done` are done: every eighth, in long trainings fewer.

    They lie in the middle of equal parts of the training: the rate of the first step is 0.

    >>> [done for done in range(40) if is_recorded(done, 40)], sum(is_recorded(done, 10_000) for done in range(10_000))
    ([4, 12, 20, 28, 36], 50)
    """
    apart = max(STEPS_APART, -(-total // MOST_RECORDS)) if total >= 2 * STEPS_APART else max(1, total // 4)
    return done % apart == apart // 2


def recorded(history: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """The records of a training: `layer_norms` [kind, record, layer] and `head_norms` [kind, record, layer, head].

    * `history`: the log of the Trainer. A head that its layer does not have is NaN. Nothing without records.
    """
    records = [entry[NORMS] for entry in history if NORMS in entry]
    if not records:
        return {}
    layers = np.array([[record[kind]["layer"] for record in records] for kind in KINDS], dtype=np.float32)
    by_head = [[record[kind]["head"] for record in records] for kind in KINDS]
    most = max((len(heads) for heads in by_head[0][0]), default=0)
    heads = np.full((*layers.shape, most), np.nan, dtype=np.float32)
    for kind, of_kind in enumerate(by_head):
        for record, numbers in enumerate(of_kind):
            for layer, norms in enumerate(numbers):
                heads[kind, record, layer, : len(norms)] = norms
    return {"layer_norms": layers, "head_norms": heads}


def _layer_weights(network: PreTrainedModel, number: int) -> list[list[nn.Parameter]]:
    """The trained weights of each layer; none if the layers cannot be identified, or nothing in them is trained."""
    try:
        modules = modules_by_layer(network, number) if number else []
    except HeadscopeError:
        return []
    weights = [
        [weight for module in parts for weight in module.parameters() if weight.requires_grad] for parts in modules
    ]
    return weights if all(weights) else []


def _gradient(weight: nn.Parameter) -> Tensor:
    return torch.zeros_like(weight) if weight.grad is None else weight.grad.detach()


def path_share(norms: Float[np.ndarray, "kind record layer"], steps: int) -> Float[np.ndarray, " layer"]:
    """The added lengths of all updates of a layer's weights, as a share of the weights' length.

    * `norms`: of the recorded steps; `steps`: of the training, of which these stand for all.

    >>> path_share(np.array([[[1.0]], [[0.25]], [[2.0]]]), steps=4)
    array([0.5])
    """
    update, weight = (norms[KINDS.index(kind)].astype(np.float64) for kind in ("update", "weight"))
    return (update / weight).mean(0) * steps


class AttentionChange(TrainerCallback):
    """At the end of a training, compares attention with that of the model before it, on a few examples of dev."""

    def __init__(
        self,
        before: Callable[[], InitialModel],
        after: InitialModel,
        corpus: Corpus,
        settings: Settings,
        max_tokens: int,
    ):
        self.before, self.after, self.max_tokens = before, after, max_tokens
        self.corpus = part(corpus, np.arange(min(EXAMPLES, corpus.n_examples)))
        self.settings = Settings(seed=settings.seed, batch_tokens=settings.batch_tokens, resamples=1, long="truncate")

    def on_train_end(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        """Measure; nothing where attention cannot be captured exactly, or the training only pauses."""
        if state.global_step < state.max_steps:
            return
        network = self.after.network
        mixed = vars(network).pop("forward", None)  # accelerate puts it over the network's own
        try:
            state.log_history.append({"step": state.global_step, CHANGE: self._changes()})  # type: ignore[dict-item]
        except HeadscopeError:
            return
        finally:
            if mixed is not None:
                vars(network)["forward"] = mixed

    def _changes(self) -> list[float]:
        """1 minus the cosine of attention before and after, the mean over the heads of each layer."""
        first, second = (wrap(model.network, model.tokenizer) for model in (self.before(), self.after))
        words = Words(first.tokenizer, min(self.max_tokens, first.max_tokens), self.settings.long)
        reading = Pass(first, self.corpus, self.settings, words)
        result = fold_pairs(reading, [second], {}, {SIMILARITY: catalog.load("measures/comparisons", SIMILARITY)})
        return (1 - result.value[f"layer_{SIMILARITY}"].mean[:, 0]).tolist()


def attention_change(history: list[dict[str, Any]]) -> np.ndarray:
    """What was found, by layer; empty if nothing was."""
    changes = [entry[CHANGE] for entry in history if CHANGE in entry]
    return np.array(changes[-1] if changes else [], dtype=np.float32)


# Of a weight in float32, and of a trained one beside it: its gradient and the two moments of Adam.
BYTES, FURTHER = 4, 12


@contextmanager
def saved_bytes(network: nn.Module) -> Iterator[Callable[[], int]]:
    """A context whose function says how many bytes its passes have kept so far; those of the weights do not count."""
    weights = {weight.untyped_storage().data_ptr() for weight in network.parameters()}
    sizes: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        yield lambda: sum(sizes.values())


def trained_weights(network: nn.Module) -> int:
    """The number of trained parameters."""
    return sum(weight.numel() for weight in network.parameters() if weight.requires_grad)


def state_bytes(network: nn.Module) -> int:
    """The bytes of all weights in float32, and of gradients and moments of the trained ones."""
    return BYTES * sum(weight.numel() for weight in network.parameters()) + FURTHER * trained_weights(network)
