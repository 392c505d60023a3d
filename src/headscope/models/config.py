"""A model's configuration, held against the stored weights before memory is taken for its sizes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules import module
from transformers import AutoConfig, PreTrainedConfig

from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint
from headscope.models.gguf_model import config_of
from headscope.models.weights import StoredWeight
from headscope.storage.limits import FEW_LABELS, FEW_LAYERS, MORE_NUMBERS, MORE_WEIGHTS, TIMES

# Sizes for which transformers makes lists when it reads a configuration: layers, and the names of labels.
LAYERS = re.compile(r"(n|num|encoder|decoder)_(\w+_)?layers?|attention_types")
LABELS = "num_labels"
# A layer whose tokens see a window alone, as configurations write it.
LOCAL = "sliding_attention"
# transformers replaces `PreTrainedModel.tie_weights` while it loads a network. Of two threads the later one would put
# back what the earlier one put there, and all later networks of the process would have untied weights.
BUILDING = RLock()


def load_config(checkpoint: Checkpoint, *, remote_code: bool = False) -> PreTrainedConfig:
    """Read the configuration of a model.

    Raises `HeadscopeError` if transformers does not support its model type or one of its values, or it has more layers
    or labels than the weights.
    """
    refuse_counts(checkpoint)
    if file := checkpoint.gguf:
        return config_of(file, checkpoint.name, checkpoint.tokenizer)
    with (
        quiet(),
        refusing(f"model '{checkpoint.name}': its config.json cannot be used", "correct it or use another model"),
    ):
        return AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True, trust_remote_code=remote_code)


def windows_of(config: PreTrainedConfig, layers: int) -> Float[np.ndarray, " layer"]:
    """The largest distance that each layer sees by the configuration; infinite for a layer without a window.

    A window of n tokens has a token itself and the n - 1 before it; ModernBERT's has half of n on either side.

    >>> from transformers import MistralConfig
    >>> windows_of(MistralConfig(sliding_window=8), 2).tolist()
    [7.0, 7.0]
    """
    text: Any = config.get_text_config()
    both_sides = getattr(text, "local_attention", None)
    window = both_sides or getattr(text, "sliding_window", None)
    kinds = getattr(text, "layer_types", None) or [LOCAL if getattr(text, "use_sliding_window", True) else ""] * layers
    if not window or len(kinds) != layers:
        return np.full(layers, np.inf)
    distance = both_sides // 2 if both_sides else window - 1
    return np.array([float(distance) if kind == LOCAL else np.inf for kind in kinds])


def attention_shape(config: PreTrainedConfig, heads: Sequence[int]) -> dict[str, list[int | None]]:
    """How the heads and layers of a decoder differ: heads that share keys, windows; only what applies.

    * `heads`: how many query heads each layer has.

    Returns: by layer, `query_groups`, how many query heads share keys and values; `windows`, the largest distance that
    a local layer sees, None for one that sees all.

    >>> from transformers import MistralConfig
    >>> attention_shape(MistralConfig(num_attention_heads=4, num_key_value_heads=2, sliding_window=8), (4, 2))
    {'query_groups': [2, 2], 'windows': [7, 7]}
    """
    groups: list[int | None] = [query_group(config, heads)] * len(heads)
    windows = [int(window) if np.isfinite(window) else None for window in windows_of(config, len(heads)).tolist()]
    shape = {"query_groups": groups} if groups.count(1) < len(groups) else {}
    return shape | ({"windows": windows} if any(window is not None for window in windows) else {})


def query_group(config: PreTrainedConfig, heads: Sequence[int]) -> int:
    """How many query heads share keys and values, in a model that has lost some of them, too; 1 where none do.

    * `heads`: how many query heads each layer has.
    """
    text: Any = config.get_text_config()
    shared = getattr(text, "num_key_value_heads", None) or (1 if getattr(text, "multi_query", False) else 0)
    size = (getattr(text, "num_attention_heads", None) or max(heads)) // shared if shared else 1
    return size if size and all(count % size == 0 for count in heads) else 1


def refuse_counts(checkpoint: Checkpoint) -> None:
    """Raise `HeadscopeError` for more layers or labels than the stored weights can have."""
    name, stored = checkpoint.name, checkpoint.stored()
    longest = _longest(stored)
    for key, value in _sizes(checkpoint.config):
        if LAYERS.fullmatch(key) and value > max(len(stored), FEW_LAYERS):
            raise HeadscopeError(
                f"model '{name}': {key} in config.json is {value}, and the weights are {len(stored)} arrays; correct it"
            )
        if key == LABELS and value > max(longest, FEW_LABELS):
            raise HeadscopeError(_too_long(name, key, value, longest))


@contextmanager
def bounded(checkpoint: Checkpoint) -> Iterator[None]:
    """Context in which a network is built, one at a time; one far larger than the stored weights is refused.

    Parameters and buffers are counted while they are made, before they are filled, so that this holds for any
    architecture. transformers makes them without memory when it loads a checkpoint.
    """
    stored = checkpoint.stored()
    numbers = TIMES * sum(weight.numbers for weight in stored.values()) + MORE_NUMBERS
    weights = TIMES * len(stored) + MORE_WEIGHTS
    counts: dict[tuple[int, str], int] = {}
    total = 0

    def count(owner: nn.Module, part: str, values: Tensor | None) -> None:
        nonlocal total
        if values is None:
            return
        key = id(owner), part  # a weight that is tied or loaded takes the place of a former one
        total += values.numel() - counts.get(key, 0)
        counts[key] = values.numel()
        if total > numbers:
            raise HeadscopeError(_too_large(checkpoint, _longest(stored), part, values))
        if len(counts) > weights:
            raise HeadscopeError(
                f"model '{checkpoint.name}': config.json makes more than {weights} arrays, and the weights are "
                f"{len(stored)}; correct its sizes"
            )

    with BUILDING:
        handles = [
            module.register_module_parameter_registration_hook(count),
            module.register_module_buffer_registration_hook(count),
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def _too_large(checkpoint: Checkpoint, longest: int, part: str, values: Tensor) -> str:
    """The line for a network that is too large: with the size in config.json that made the last array, if one did."""
    sizes = [(value, key) for key, value in _sizes(checkpoint.config) if value in values.shape and value > longest]
    if sizes:
        value, key = max(sizes)
        return _too_long(checkpoint.name, key, value, longest)
    return (
        f"model '{checkpoint.name}': by config.json the array '{part}' is {list(values.shape)}, and the longest "
        f"side of the weights is {longest}; correct its sizes"
    )


def _too_long(name: str, key: str, value: int, longest: int) -> str:
    return (
        f"model '{name}': {key} in config.json is {value}, and the longest side of the weights is {longest}; correct it"
    )


def _longest(stored: Mapping[str, StoredWeight]) -> int:
    return max((side for weight in stored.values() for side in weight.shape), default=0)


def _sizes(config: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The whole numbers in a configuration and its parts, with their keys; those of a list have the key of the list."""
    left: list[tuple[str, Any]] = list(config.items())
    while left:
        key, value = left.pop()
        if isinstance(value, dict):
            left += value.items()
        elif isinstance(value, list):
            left += [(key, item) for item in value]
        elif isinstance(value, int) and not isinstance(value, bool):
            yield key, value
