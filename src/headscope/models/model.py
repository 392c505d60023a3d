"""A model whose attention can be observed and changed."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from headscope.capture.interventions import Mode, means_written, refuse, uniform, zero
from headscope.capture.observer import Intervention, Observer
from headscope.capture.projections import Projections, projections
from headscope.capture.self_check import CAPTURES, Capture, check
from headscope.capture.watch import Watch
from headscope.errors import HeadscopeError


@dataclass(frozen=True)
class Model:
    """A network that passed the self-check, with its tokenizer and where it comes from.

    * `name`: what it was loaded by; `revision`: the hub's commit, if it came from there.
    * `sha256`: the hash of its weights.
    * `capture`: how its attention is captured, and its heads by layer.
    """

    name: str
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    capture: Capture
    revision: str = ""
    sha256: str = ""

    @property
    def device(self) -> torch.device:
        """Where the network computes."""
        return self.network.device

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens, special tokens included."""
        return max_tokens(self.network.config, self.tokenizer)

    @cached_property
    def projections(self) -> tuple[Projections, ...]:
        """The linear maps of each layer's attention.

        Raises `HeadscopeError` for a model in which they are not found.
        """
        found = projections(self.network, self.capture)
        if found is None:
            kind = self.network.config.model_type
            raise HeadscopeError(
                f"model type '{kind}': the linear maps of its attention are not known; use another model"
            )
        return found

    def observed(self, observer: Observer) -> AbstractContextManager[Watch]:
        """Within this context, forward passes of the network show their attention to `observer`.

        Where attention is changed, in a context around this one or inside of it, what is shown is the changed one.
        """
        return CAPTURES[self.capture.method](self.network, observer)

    @contextmanager
    def intervened(self, intervention: Intervention) -> Iterator[None]:
        """Within this context, forward passes of the network compute with what `intervention` makes of attention.

        Several such contexts within each other work one after the other, the outermost first.

        Raises `RuntimeError` if a layer's attention went past the intervention.
        """
        with CAPTURES[self.capture.method](self.network, intervention, changes=True) as watch:

            def check(module: nn.Module, args: object, output: object) -> None:
                if watch.calls != len(self.capture.heads):
                    raise RuntimeError(
                        f"{watch.calls} attention calls were changed, expected {len(self.capture.heads)}"
                    )

            handle = self.network.register_forward_hook(check)
            try:
                yield
            finally:
                handle.remove()

    def changed(
        self,
        disabled: Bool[np.ndarray, "layer head"],
        mode: Mode = "uniform",
        means: Float[np.ndarray, "layer head width"] | None = None,
    ) -> AbstractContextManager[None]:
        """Within this context the disabled heads do not do what they have learned; afterwards all is as before.

        * `disabled`: see `heads.parse`.
        * `mode`: "uniform", attention is 1/L over the keys that a query sees (Kovaleva et al. 2019, 4.6); "zero",
          the head's output is 0; "mean", it is the head's vector in `means` (`engine.head_means`).

        An observer sees uniform and zero attention, and of mode "mean" the attention that is then not used.

        Raises `HeadscopeError` for an unknown mode, and for "mean" in a model whose linear maps are not found.
        """
        refuse(mode, disabled, self.capture.heads, means)
        if mode == "mean" and means is not None:
            return means_written(self.network, self.projections, disabled, means)
        return self.intervened(zero(disabled) if mode == "zero" else uniform(disabled))


def wrap(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str = "in memory") -> Model:
    """A model made from a network that is in memory already; of an encoder-decoder, its encoder.

    Raises `HeadscopeError` if its attention cannot be captured exactly.
    """
    network = without_decoder(network).eval()
    return Model(name, network, tokenizer, check(network))


def without_decoder(network: PreTrainedModel) -> PreTrainedModel:
    """Of an encoder-decoder its encoder, any other network as it is.

    Raises `HeadscopeError` if the encoder is no model of its own.
    """
    if not getattr(network.config, "is_encoder_decoder", False):
        return network
    encoder = network.get_encoder()
    if not isinstance(encoder, PreTrainedModel):
        kind, part = network.config.model_type, type(encoder).__name__
        raise HeadscopeError(f"model type '{kind}': its encoder is a {part}, no model of its own; use another model")
    return encoder


def max_tokens(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase) -> int:
    """The longest input that both the tokenizer and the position embeddings allow."""
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 0
    if config.model_type in COUNTED_FROM_PADDING:
        positions -= getattr(config, "pad_token_id", 0) + 1
    limits = [limit for limit in (positions, tokenizer.model_max_length) if 0 < limit < 10**9]
    return min(limits, default=10**9)


# These number positions from the padding token's id on, and so have that many fewer of them.
COUNTED_FROM_PADDING = {
    "camembert",
    "data2vec-text",
    "esm",
    "ibert",
    "layoutlmv3",
    "lilt",
    "longformer",
    "luke",
    "markuplm",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
}
