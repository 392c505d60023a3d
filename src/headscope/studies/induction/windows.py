"""How far the layers of a model see, as its configuration says: windows of local layers."""

from typing import Any

import numpy as np
from jaxtyping import Float
from transformers import PreTrainedConfig

LOCAL = "sliding_attention"


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
