"""A model's configuration, read by transformers."""

from transformers import AutoConfig, PreTrainedConfig

from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint

MOST_LAYERS = 10_000


def load_config(checkpoint: Checkpoint, *, remote_code: bool = False) -> PreTrainedConfig:
    """Read the configuration of a model.

    Raises `HeadscopeError` if transformers does not support its model type or one of its values, or it has more layers
    than any model.
    """
    with (
        quiet(),
        refusing(f"model '{checkpoint.name}': its config.json cannot be used", "mend it or use another model"),
    ):
        config = AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True, trust_remote_code=remote_code)
    layers = getattr(config, "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > MOST_LAYERS:  # to build them would take all memory
        raise HeadscopeError(f"model '{checkpoint.name}': config.json has {layers:.3g} layers; correct it")
    return config
