"""A model's configuration, read by transformers."""

from transformers import AutoConfig, PreTrainedConfig

from headscope.capture.transformers_logging import quiet, refusing
from headscope.models.checkpoint import Checkpoint
from headscope.models.size_bounds import refuse_counts


def load_config(checkpoint: Checkpoint, *, remote_code: bool = False) -> PreTrainedConfig:
    """Read the configuration of a model.

    Raises `HeadscopeError` if transformers does not support its model type or one of its values, or it has more layers
    or labels than the weights.
    """
    refuse_counts(checkpoint)
    with (
        quiet(),
        refusing(f"model '{checkpoint.name}': its config.json cannot be used", "mend it or use another model"),
    ):
        return AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True, trust_remote_code=remote_code)
