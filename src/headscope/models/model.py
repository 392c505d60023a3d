"""A model whose attention can be observed and changed."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn, cast

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import nn
from transformers import AutoTokenizer, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from headscope import catalog
from headscope.capture.eager import short_input
from headscope.capture.fused_statistics import why_maps
from headscope.capture.interventions import Mode, means_written, refuse, uniform, zero
from headscope.capture.observer import Intervention, Observer
from headscope.capture.projections import Projections, projections
from headscope.capture.self_check import CAPTURES, CLOSE, Capture, check
from headscope.capture.spread import home, hook_as_whole, is_spread
from headscope.capture.transformers_logging import quiet, refusing
from headscope.capture.watch import PassWatch
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint
from headscope.models.fast_tokenizer import fast
from headscope.models.segment_ids import with_segment_ids
from headscope.models.tokenizer import RESIZE, mask_notes, refuse_beyond, rows_of, within
from headscope.storage.hashes import SourceFiles

FUNCTIONS = ("attentions", "importances", "show", "survey")  # of the package, beside its studies


@dataclass(frozen=True, repr=False)
class Model:
    """A network that passed the self-check, with its tokenizer and origin.

    * `name`: its hub id, folder or other name.
    * `capture`: the method of capture, and the number of heads of each layer.
    * `revision`: the commit of a hub model.
    * `sha256`: the hash of its weights.
    * `files`: the files that it was loaded from, if any; `checkpoint`: where they lie.
    * `notes`: lines about how it is read, for people.
    """

    name: str
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    capture: Capture
    revision: str = ""
    sha256: str = ""
    files: tuple[SourceFiles, ...] = ()
    notes: tuple[str, ...] = ()
    checkpoint: Checkpoint | None = None

    def __repr__(self) -> str:
        heads = self.capture.heads
        kind = self.network.config.model_type
        return f"Model('{self.name}', {kind}, {len(heads)} layers, {sum(heads)} heads, {self.device})"

    def __getattr__(self, name: str) -> NoReturn:
        used = f"call headscope.{name}(model, texts)" if name in (*FUNCTIONS, *catalog.names("studies")) else ""
        raise AttributeError(f"a headscope.Model has no '{name}'; {used or 'its transformers model is model.network'}")

    @property
    def device(self) -> torch.device:
        """The device of the network; of one that is spread over several, that of its inputs and outputs."""
        return home(self.network)

    def on(self, device: str | torch.device) -> "Model":
        """The model on a device: itself if it is there, else a copy."""
        wanted = torch.device(device)
        if wanted.type == self.device.type and wanted.index in (None, self.device.index):
            return self
        return replace(self, network=deepcopy(self.network).to(wanted))  # type: ignore[arg-type]

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens, special tokens included."""
        return max_tokens(self.network.config, self.tokenizer)

    @cached_property
    def projections(self) -> tuple[Projections, ...]:
        """The linear maps of each layer's attention. Raises `HeadscopeError` for other kinds of attention."""
        maps = projections(self.network, self.capture)
        if maps is None:
            kind = self.network.config.model_type
            raise HeadscopeError(
                f"model type '{kind}': the linear maps of its attention cannot be identified; use another model"
            )
        return maps

    @cached_property
    def needs_map(self) -> str:
        """Why statistics of its attention are read from maps, in blocks; "" where fused kernels read them."""
        return "it is spread over devices" if is_spread(self.network) else why_maps(self.network)

    @cached_property
    def looks_ahead(self) -> bool:
        """Whether tokens attend to later ones, or their states change with these; not in a causal model."""
        return self.capture.looks_ahead or _changes_with_later_tokens(self.network)

    def refuse_changed(self) -> None:
        """Raise `HeadscopeError` if a file of the model is no longer the one that was loaded."""
        for files in self.files:
            files.refuse_changed(f"model '{self.name}'")

    def refuse_spread(self, done: str) -> None:
        """Raise `HeadscopeError` if the model is spread over devices, so that it cannot be `done`."""
        if is_spread(self.network):
            raise HeadscopeError(
                f"model '{self.name}' is spread over devices or disk, so that it cannot be {done}; "
                "load it with --device and a single one"
            )

    def observed(self, observer: Observer) -> AbstractContextManager[PassWatch]:
        """Context in which forward passes of the network pass their attention to `observer`.

        Together with a context that changes attention, the observer sees the changed attention.
        """
        return CAPTURES[self.capture.method](self.network, observer)

    @contextmanager
    def intervened(self, intervention: Intervention) -> Iterator[None]:
        """Context in which forward passes of the network compute with attention replaced by `intervention`.

        Nested contexts apply one after the other, the outermost first.

        Raises `RuntimeError` if the attention of a layer was not replaced.
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
        """Context in which the `disabled` heads do nothing that they have learned.

        * `disabled`: see `heads.parse`.
        * `mode`: "uniform", attention is 1/L over the keys that a query sees (Kovaleva et al. 2019, 4.6); "zero",
          the head's output is 0; "mean", the head's output is its vector in `means` (`ablation.strategies.head_means`).

        An observer sees uniform or zero attention; in mode "mean" it sees the unused attention.

        Raises `HeadscopeError` for an unknown mode, and for "mean" in a model whose linear maps cannot be identified.
        """
        refuse(mode, disabled, self.capture.heads, means)
        if mode == "mean" and means is not None:
            return means_written(self.network, self.projections, disabled, means)
        return self.intervened(zero(disabled) if mode == "zero" else uniform(disabled))


def wrap(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase | str | os.PathLike[str], name: str = "in memory"
) -> Model:
    """Make a model from a network in memory; of an encoder-decoder, its encoder.

    * `network`: a model of transformers, such as `AutoModel.from_pretrained` returns.
    * `tokenizer`: its tokenizer, or the folder or name that it is loaded from.
    * `name`: as results name it.

    Raises `HeadscopeError` for an object of another kind, if its attention cannot be captured exactly, or if the
    tokenizer has ids beyond its embedding.
    """
    if not isinstance(network, PreTrainedModel):
        raise HeadscopeError(f"a {type(network).__name__} is no PreTrainedModel; give it to a study as its model")
    if isinstance(tokenizer, str | os.PathLike):
        with refusing(f"tokenizer '{tokenizer}' cannot be loaded", "name a folder that save_pretrained wrote"):
            tokenizer = cast(PreTrainedTokenizerBase, AutoTokenizer.from_pretrained(tokenizer))
    network = without_decoder(network).eval()
    tokenizer = within(fast(name, tokenizer), rows_of(network), name, remedy=RESIZE)
    capture = check(network)
    tokenizer, notes = read_as(name, network, tokenizer)
    return Model(name, network, tokenizer, capture, notes=notes)


def read_as(
    name: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> tuple[PreTrainedTokenizerBase, tuple[str, ...]]:
    """The tokenizer as a network needs it, and lines about how it is read; see `with_segment_ids`."""
    refuse_beyond(network, tokenizer, name)
    tokenizer, notes = with_segment_ids(name, network, tokenizer)
    return tokenizer, notes + mask_notes(tokenizer)


def _changes_with_later_tokens(network: PreTrainedModel) -> bool:
    """Whether earlier states of a short input change where later tokens are others."""
    inputs = short_input(network)
    ids, half = inputs["input_ids"], inputs["input_ids"].shape[1] // 2
    others = torch.cat([ids[:, :half], ids[:, : ids.shape[1] - half]], dim=1)
    with torch.inference_mode(), quiet():
        # [token, width] of the first half
        before, after = (network.base_model(**inputs | {"input_ids": read})[0][0, :half] for read in (ids, others))
    # Experts that get other tokens round in another way.
    return bool((after - before).abs().max() > CLOSE[network.dtype] * before.abs().max().clamp_min(1))


def without_decoder(network: PreTrainedModel) -> PreTrainedModel:
    """The encoder of an encoder-decoder (`HeadscopeError` if it is no model by itself); any other network itself."""
    if not getattr(network.config, "is_encoder_decoder", False):
        return network
    encoder = network.get_encoder()
    if not isinstance(encoder, PreTrainedModel):
        kind, part = network.config.model_type, type(encoder).__name__
        raise HeadscopeError(f"model type '{kind}': its encoder is a {part}, no model of its own; use another model")
    hook_as_whole(encoder, network)
    return encoder


def max_tokens(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase) -> int:
    """The longest input in tokens, by the tokenizer and the position embeddings."""
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 0
    if config.model_type in COUNTED_FROM_PADDING:
        positions -= getattr(config, "pad_token_id", 0) + 1
    limits = [limit for limit in (positions, tokenizer.model_max_length) if 0 < limit < 10**9]
    return min(limits, default=10**9)


# Positions of these start after the padding token's id, so that there are fewer of them.
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
