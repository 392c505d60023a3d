"""Sliding windows that are shorter than the short input of the self-check."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transformers import PreTrainedModel

from headscope.capture.eager import LENGTHS

# The shortest in which padding sees a real token: eager attention of nothing is NaN in double precision.
SHORT = max(LENGTHS) - min(LENGTHS) + 1


@contextmanager
def short_windows(network: PreTrainedModel) -> Iterator[None]:
    """Within this context a window that the short input does not reach has `SHORT` tokens.

    transformers makes the masks of a forward pass from the configuration; layers keep their window for other kernels.

    >>> from transformers import ModernBertConfig, ModernBertModel
    >>> sizes = {"vocab_size": 8, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "pad_token_id": 0}
    >>> network = ModernBertModel(ModernBertConfig(**sizes))
    >>> with short_windows(network):
    ...     network.config.sliding_window
    6
    >>> network.config.sliding_window
    64
    """
    config: Any = network.config.get_text_config()
    window = getattr(config, "sliding_window", None)
    if not isinstance(window, int) or window < max(LENGTHS):
        yield
        return
    try:
        config.sliding_window = SHORT
        yield
    finally:
        config.sliding_window = window
